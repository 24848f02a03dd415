"""Scouts a symbol of a real tree again and again, and compares the worklists byte for byte: `just same`.

Half of the runs have `--jobs 1`, half the default; all ask the type checker anew. Exits with 1 if any two differ.
"""

import argparse
import collections
import hashlib
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("symbol")
    parser.add_argument("--tainie", default="target/release/tainie", type=pathlib.Path)
    parser.add_argument("--runs", default=20, type=int)
    arguments = parser.parse_args()
    tainie, seen = arguments.tainie.resolve(), collections.Counter()
    for run in range(arguments.runs):
        jobs = ["--jobs", "1"] if run % 2 else []
        command = [tainie, "scout", arguments.symbol, ".", "--format", "json", "--explain", "--no-cache", *jobs]
        ended = subprocess.run(command, cwd=arguments.tree, capture_output=True, check=False)
        if ended.returncode != 0:
            sys.exit(f"run {run}: exit code {ended.returncode}\n{ended.stderr.decode(errors='replace')[-2000:]}")
        seen[hashlib.sha256(ended.stdout).hexdigest(), len(ended.stdout)] += 1
    for (digest, size), count in seen.items():
        print(f"{count} runs: {size:,} bytes, sha256 {digest[:16]}")
    return 0 if len(seen) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
