"""Times tainie beside its peers on real and generated trees, and prints tables in Markdown: `just bench`.

Whole processes are measured from outside: seconds on the wall, processor seconds of the whole process tree, and the
peak of the resident memory of the whole tree, sampled every 10 ms (Linux; elsewhere of the largest process). Commands
of one table take turns, so that a machine that gets slower does so for all; the median is printed.

Needs python3 with pip and the package index; everything goes to the folder that --work names.
"""

import argparse
import os
import pathlib
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

PYREFLY, ROPE = "1.5.0", "1.14.0"
TREES = {"django": "Django==5.2.8", "sympy": "sympy==1.14.0"}

ROPE_FIND = """
import sys
from rope.base.project import Project
from rope.contrib.findit import find_occurrences
project = Project(sys.argv[1], ropefolder=None)
resource = project.get_file(sys.argv[2])
offset = resource.read().index(sys.argv[3]) + len(sys.argv[3]) - 1
print(len(find_occurrences(project, resource, offset)))
project.close()
"""


def descendants(root):
    """The process and all below it."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    parent = int(stat.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry))
    found, todo = [], [root]
    while todo:
        process = todo.pop()
        found.append(process)
        todo.extend(children.get(process, []))
    return found


def resident(process):
    try:
        with open(f"/proc/{process}/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


class Peak(threading.Thread):
    """Samples the memory of a process tree until it is told to stop."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.stopped, self.bytes = process, threading.Event(), 0

    def run(self):
        while not self.stopped.wait(0.01):
            self.bytes = max(self.bytes, sum(map(resident, descendants(self.process))))


def measure(command, folder, environment, limit):
    """(wall seconds, processor seconds, peak bytes, what it printed); None when it took too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    child = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    peak = Peak(child.pid) if os.path.isdir("/proc/self") else None
    if peak:
        peak.start()
    try:
        stdout, stderr = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return None
    wall = time.monotonic() - start
    if peak:
        peak.stopped.set()
        peak.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = peak.bytes if peak else after.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    if child.returncode not in (0, 1):
        sys.exit(f"{command}: exit code {child.returncode}\n{stderr.decode(errors='replace')[-2000:]}")
    return wall, cpu, memory, stdout


def table(title, rows, runs, limit):
    """`rows`: (what, command, folder, environment, what to say of the output)."""
    print(f"\n### {title}\n", flush=True)
    results = {row[0]: [] for row in rows}
    for _ in range(runs):
        for what, command, folder, environment, _ in rows:
            if None not in results[what]:
                results[what].append(measure(command, folder, environment, limit))
    base = statistics.median(run[1] for run in results[rows[0][0]])
    print("| what | found | wall s | CPU s | CPU, as a ratio | peak MB |\n|---|---|---|---|---|---|")
    for what, _, _, _, say in rows:
        if None in results[what]:
            print(f"| {what} | over {limit} s | | | | |")
            continue
        wall, cpu, memory = (statistics.median(run[at] for run in results[what]) for at in range(3))
        found = say(results[what][-1][3])
        print(f"| {what} | {found} | {wall:.2f} | {cpu:.2f} | {cpu / base:.2f} | {memory / 1e6:.0f} |", flush=True)


def lines(stdout):
    count = stdout.count(b"\n")
    return f"{count:,} lines"


def last_line(stdout):
    return stdout.decode(errors="replace").strip().splitlines()[-1] if stdout.strip() else ""


def accounting(stdout):
    import json

    counts = json.loads(stdout)["accounting"]
    return f"{counts['mentions']:,} mentions, {counts['site']:,} sites, {counts['unresolved']} unresolved"


def references(stdout):
    count = stdout.count(b'"uri"') or stdout.count(b'"path"')
    return f"{count:,} references"


def environment_with(work):
    """A virtual environment with pyrefly and rope."""
    folder = work / "venv"
    if not (folder / "bin" / "rope-is-there").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", f"pyrefly=={PYREFLY}", f"rope=={ROPE}"], check=True)
        (folder / "bin" / "rope-is-there").touch()
    return folder / "bin"


def unpacked(work, name):
    """The source distribution of a package as a tree."""
    tree = work / name
    if not tree.is_dir():
        archives = work / f"{name}-archive"
        command = ["-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", archives, TREES[name]]
        subprocess.run([sys.executable, *command], check=True)
        with tarfile.open(next(archives.glob("*.tar.gz"))) as archive:
            archive.extractall(work / f"{name}-unpacking", filter="data")
        next((work / f"{name}-unpacking").iterdir()).rename(tree)
    return tree


def generated(work, files, calls):
    """A package of `files` modules with `calls` calls of one function in all, and as many decoys."""
    tree = work / f"generated-{files}-{calls}"
    if tree.is_dir():
        return tree
    package = tree / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "core.py").write_text("def render(x: int, y: int = 0) -> int:\n    return x + y\n")
    callers = max(1, min(files - 2, calls // 5))
    for index in range(files - 2):
        own = calls // callers + (1 if index < calls % callers else 0) if index < callers else 0
        body = "from pkg.core import render\n\n\n" if own else ""
        method = "render" if own else "rendered"
        body += f"class Thing{index}:\n    def {method}(self, x: int) -> int:\n        return x\n\n\n"
        body += f"def work{index}(thing: Thing{index}) -> int:\n    total = 0\n"
        for call in range(own):
            body += f"    total += render({call})\n"
        body += "    return total\n" + "\n\n".join(
            f"\n\ndef filler{index}_{n}(value: int) -> int:\n    return value + {n}" for n in range(10)
        )
        (package / f"module{index}.py").write_text(body + "\n")
    return tree


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tainie", default="target/release/tainie", type=pathlib.Path)
    # Not below this repository: what its .gitignore names, the type checker leaves out.
    folder = pathlib.Path(tempfile.gettempdir()) / "tainie-bench"
    parser.add_argument("--work", default=folder, type=pathlib.Path)
    parser.add_argument("--runs", default=3, type=int)
    parser.add_argument("--limit", default=600, type=int, help="seconds that a command may take")
    parser.add_argument("only", nargs="*", help="small, django, sympy, growth")
    arguments = parser.parse_args()
    tainie, work, runs = arguments.tainie.resolve(), arguments.work.resolve(), arguments.runs
    limit = arguments.limit
    only = set(arguments.only) or {"small", "django", "sympy", "growth"}
    work.mkdir(parents=True, exist_ok=True)
    programs = environment_with(work)
    pyrefly = programs / "pyrefly"
    environment = {**os.environ, "TAINIE_PYREFLY": str(pyrefly), "NO_COLOR": "1"}
    find = work / "rope_find.py"
    find.write_text(ROPE_FIND)
    processors = os.cpu_count()
    print(f"{platform.system()} {platform.machine()}, {processors} processors, pyrefly {PYREFLY}, median of {runs} runs")

    def scout(tree, symbol, *more):
        command = [tainie, "scout", symbol, ".", "--format", "json", "--no-cache", *more]
        label = "tainie scout" + "".join(f" {flag}" for flag in more)
        return (f"`{label}`", command, tree, environment, accounting)

    def peers(tree, file, line, column, anchor, name):
        report = work / "report"
        quiet = "-p default --output-format omit-errors --summary=none"
        full = f"rm -rf {report}; {pyrefly} check {quiet} --report-glean {report}; du -sm {report} | cut -f1"
        glean = ["sh", "-c", full]
        rope = [programs / "python", find, tree, file, anchor]
        grep = ["grep", "-rnw", name, ".", "--include=*.py"]
        query = [pyrefly, "query", "find-references", file, str(line), str(column)]
        return [
            ("`pyrefly query find-references`", query, tree, environment, references),
            ("`pyrefly check --report-glean`, all files", glean, tree, environment, lambda o: f"{last_line(o)} MB of facts"),
            ("rope `find_occurrences`", rope, tree, environment, lambda o: f"{last_line(o)} occurrences"),
            ("`grep -rnw`", grep, tree, environment, lines),
        ]

    if "small" in only:
        tree = generated(work, 100, 50)
        rows = [scout(tree, "pkg.core.render"), *peers(tree, "pkg/core.py", 1, 5, "def render", "render")]
        table("100 files, 50 calls", rows, runs, limit)
    if "django" in only:
        tree = unpacked(work, "django")
        file = "django/utils/encoding.py"
        text = (tree / file).read_text().splitlines()
        line = next(at for at, line in enumerate(text, 1) if line.startswith("def force_str("))
        rows = [scout(tree, "force_str"), scout(tree, "force_str", "--verify"), *peers(tree, file, line, 5, "def force_str", "force_str")]
        table("Django 5.2.8, `force_str`", rows, runs, limit)
        names = ["force_str", "QuerySet.exclude", "django.db.models.query.QuerySet.get"]
        table("Django, by mentions", [(f"`{n}`", *scout(tree, n, "--family", "exact")[1:]) for n in names], runs, limit)
    if "sympy" in only:
        tree = unpacked(work, "sympy")
        file = "sympy/core/sympify.py"
        text = (tree / file).read_text().splitlines()
        line = next(at for at, line in enumerate(text, 1) if line.startswith("def kernS("))
        rows = [scout(tree, "kernS"), *peers(tree, file, line, 5, "def kernS", "kernS")]
        table("sympy 1.14, `kernS`", rows, runs, limit)
    if "growth" in only:
        sizes = [(250, 100), (1000, 100), (4000, 100)]
        rows = [(f"{f:,} files, {c} calls", *scout(generated(work, f, c), "pkg.core.render")[1:]) for f, c in sizes]
        table("Growth with files", rows, runs, limit)
        sizes = [(2000, 50), (2000, 500), (2000, 5000)]
        rows = [(f"{f:,} files, {c:,} calls", *scout(generated(work, f, c), "pkg.core.render")[1:]) for f, c in sizes]
        table("Growth with calls", rows, runs, limit)


if __name__ == "__main__":
    main()
