#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of planted mistakes, expected-findings.tsv, made from the markers `// PLANTED rule` in the sources.

  expected_findings.py          writes the list
  expected_findings.py --check  fails where list and markers differ, or a rule of scopes is planted fewer than two times
"""
import collections
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
LIST = FOLDER / "expected-findings.tsv"
RULES = {page.stem for page in (FOLDER.parent.parent / "docs" / "checks").glob("*.md")}
RULES_IN_TWO_SHAPES = ("discarded-scope-result", "unretained-escape", "unscoped-loop", "use-after-release")
MARKER = re.compile(r"// PLANTED ([a-z-]+)\s*$")


def planted():
    """(file, line, rule) for each marker, in order of files and lines."""
    rows = []
    for source in sorted(path for path in FOLDER.glob("*/*") if path.suffix in (".cpp", ".h")):
        for number, line in enumerate(source.read_text().splitlines(), 1):
            marker = MARKER.search(line)
            if marker:
                rows.append((source.relative_to(FOLDER).as_posix(), number, marker.group(1)))
    return rows


def as_text(rows):
    return "file\tline\trule\n" + "".join(f"{name}\t{line}\t{rule}\n" for name, line, rule in rows)


def problems(rows):
    counts = collections.Counter(rule for _, _, rule in rows)
    for rule in RULES_IN_TWO_SHAPES:
        if counts[rule] < 2:
            yield f"{rule} is planted {counts[rule]} times; at least two different shapes are wanted"
    for name, line, rule in rows:
        if rule not in RULES:
            yield f"{name}:{line}: '{rule}' is no rule"
        if not name.startswith("planted/"):
            yield f"{name}:{line}: a marker outside planted/"
    if LIST.read_text() != as_text(rows):
        yield f"{LIST.name} differs from the markers: run {pathlib.Path(__file__).name}"


def main(argv):
    rows = planted()
    if argv == ["--check"]:
        found = list(problems(rows))
        print("\n".join(found) or f"{len(rows)} planted mistakes, all in the list")
        return 1 if found else 0
    if argv:
        print(__doc__, file=sys.stderr)
        return 2
    LIST.write_text(as_text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
