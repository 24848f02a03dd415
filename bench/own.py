"""How much of a scout's processor time and memory is tainie's own, and not the type checker's: `just own`.

Reads /proc while the command runs, so it is for Linux. Arguments behind the symbol are passed on to `scout`.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import time

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def measure(command, tree):
    """CPU seconds of the process itself, those of its whole tree, and its own peak memory in MB."""
    process = subprocess.Popen(command, cwd=tree, stdout=subprocess.DEVNULL)
    folder, own, peak = pathlib.Path("/proc", str(process.pid)), 0.0, 0.0
    while process.poll() is None:
        try:
            # The name of the program, in parentheses, may hold spaces.
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            pages = int((folder / "statm").read_text().split()[1])
        except (OSError, IndexError):
            continue
        own = (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
        peak = max(peak, pages * PAGE_BYTES / 1e6)
        time.sleep(0.005)
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode}: {command}")
    whole = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own, whole.ru_utime + whole.ru_stime, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("symbol")
    parser.add_argument("--tainie", default="target/release/tainie", type=pathlib.Path)
    arguments, passed_on = parser.parse_known_args()
    command = [arguments.tainie.resolve(), "scout", arguments.symbol, ".", "--format", "json", "--no-cache", *passed_on]
    own, whole, peak = measure(command, arguments.tree)
    print(f"own {own:.2f} CPU s of {whole:.2f} ({own / whole:.0%}), own peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
