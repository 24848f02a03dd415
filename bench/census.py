"""Holds tainie's census of a real tree against `grep -ow` and pyrefly's own references: `just census`.

For random symbols (functions, methods, classes, module variables; the same for the same seed): every word-match that
grep finds in the Python files is in the census exactly once, the classes add up, and every place that
`pyrefly query find-references` lists at the definition is one of ours: a site, an import, a definition, or listed as
something to look at.
Prints what differs, and exits with 1 if anything does.
"""

import argparse
import ast
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import urllib.parse


def declarations(tree):
    """(name, file, 1-based line, 1-based column of the name) of what the files declare."""
    found = []
    for path in sorted(tree.rglob("*.py")):
        if any(part.startswith(".") for part in path.relative_to(tree).parts):
            continue
        try:
            text = path.read_text(encoding="utf-8")
            module = ast.parse(text)
        except (SyntaxError, UnicodeDecodeError):
            continue
        lines = text.split("\n")
        for node in ast.walk(module):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                keyword = "class " if isinstance(node, ast.ClassDef) else "def "
                column = lines[node.lineno - 1].find(keyword + node.name)
                if column >= 0:
                    column += len(keyword)
                    found.append((node.name, path.relative_to(tree).as_posix(), node.lineno, column + 1))
        for node in module.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0]
                found.append((name.id, path.relative_to(tree).as_posix(), name.lineno, name.col_offset + 1))
    return found


def words(tree, name):
    """(file, byte offset) of every word-match, by grep."""
    command = ["grep", "-rowbH", "--include=*.py", "--include=*.pyi", "--exclude-dir=.?*", name, "."]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    printed = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False).stdout
    found = collections.Counter()
    for line in printed.splitlines():
        file, offset, _ = line.rsplit(":", 2)
        found[file.removeprefix("./"), int(offset)] += 1
    return found


def references(tree, pyrefly, file, line, column):
    """(file, 0-based line, 0-based UTF-16 column) of what pyrefly lists."""
    command = [pyrefly, "query", "find-references", file, str(line), str(column)]
    ended = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    try:
        answer = json.loads(ended.stdout or "[]")
    except ValueError:
        return set()
    found = set()
    for entry in answer if isinstance(answer, list) else answer.get("references", []):
        place = entry.get("location", entry)
        path = urllib.parse.unquote(place.get("uri", place.get("path", ""))).removeprefix("file://")
        start = place["range"]["start"]
        path = pathlib.Path(path)
        if path.is_absolute():
            if not path.is_relative_to(tree):
                continue
            path = path.relative_to(tree)
        found.add((path.as_posix(), start["line"], start["character"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("--tainie", default="target/release/tainie", type=pathlib.Path)
    parser.add_argument("--pyrefly", default=os.environ.get("TAINIE_PYREFLY", "pyrefly"))
    parser.add_argument("--symbols", default=200, type=int)
    parser.add_argument("--seed", default=1, type=int)
    arguments = parser.parse_args()
    tree, tainie = arguments.tree.resolve(), arguments.tainie.resolve()
    chosen = random.Random(arguments.seed).sample(found := declarations(tree), min(arguments.symbols, len(found)))
    wrong, mentions, listed, failed = 0, 0, 0, 0
    for at, (name, file, line, column) in enumerate(chosen, 1):
        if sys.stderr.isatty():
            print(f"\r{at}/{len(chosen)} {name:40.40}", end="", file=sys.stderr)
        place = f"{file}:{line}:{column}"
        command = [tainie, "scout", place, ".", "--format", "json", "--explain", "--quiet"]
        ended = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            failed += 1
            print(f"{place} {name}: exit {ended.returncode}: {ended.stderr.strip()[:300]}")
            continue
        worklist = json.loads(ended.stdout)
        census = collections.Counter((m["file"], m["span"]["start"]) for m in worklist["mentions"])
        size = len(name.encode())
        own = {k: n for k, n in census.items() if tree.joinpath(k[0]).read_bytes()[k[1] : k[1] + size] == name.encode()}
        grepped = words(tree, name)
        skipped = {entry["file"] for entry in worklist["unresolvable"] if "line" not in entry}
        for key in grepped.keys() | own.keys():
            mentions += 1
            if grepped[key] != own.get(key, 0) and not (key[0] in skipped and key not in own):
                wrong += 1
                print(f"{place} {name}: {key} grep {grepped[key]}, census {own.get(key, 0)}")
        kinds = {(m["file"], m["line"], m["column"]): m["class"] for m in worklist["mentions"]}
        # A constructor call isn't spelled `__init__`: it is listed for people, outside the accounting.
        for entry in worklist["unresolvable"]:
            if "line" in entry:
                kinds.setdefault((entry["file"], entry["line"], entry["column"]), "listed")
        for key in references(tree, arguments.pyrefly, file, line, column):
            listed += 1
            if kinds.get(key) not in ("site", "import", "definition", "listed"):
                wrong += 1
                print(f"{place} {name}: pyrefly lists {key}, here {kinds.get(key)}")
    print(
        f"{len(chosen)} symbols, {mentions:,} word-matches, {listed:,} references of pyrefly: "
        f"{wrong} differ, {failed} could not be scouted"
    )
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
