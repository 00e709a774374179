#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that the page of a check tells the truth: its headings are the fixed ones, its code does what it says.

  check_page.py PAGE RULE TEMP_PREFIX -- HARNESS...

Each ```cpp block of the page goes into a namespace of one test file, after Inputs/page-prelude.h, and HARNESS
(check_tidy.py with its options) runs on that. A line `// warning: text` in a block says that the line above it gets
exactly that warning; `// note: text` the same for a note. Under "Reported" each block must have a warning, under
the other headings none may.
"""
import pathlib
import re
import subprocess
import sys

HEADINGS = ["Reported", "Not reported", "Why it matters", "How to fix", "How to silence", "Options",
            "Known misses and false positives", "At run time"]
EXPECTED = re.compile(r"^(\s*)// (warning|note): (.*)$")
PRELUDE = pathlib.Path(__file__).resolve().parent / "Inputs" / "page-prelude.h"


def blocks_of(page):
    """(heading, lines) of each ```cpp block."""
    heading, inside = "", None
    for line in page.read_text().splitlines():
        if inside is None and line.startswith("## "):
            heading = line[3:].strip()
        elif inside is None and line.strip() == "```cpp":
            inside = []
        elif inside is not None and line.strip() == "```":
            yield heading, inside
            inside = None
        elif inside is not None:
            inside.append(line)


def problems_of(page, rule):
    text = page.read_text()
    headings = re.findall(r"^## (.*)$", text, re.M)
    if headings != HEADINGS:
        yield f"the headings are {headings}, wanted {HEADINGS}"
    if not re.match(rf"# {rule}\n\n[A-Z][^\n]*\.\n", text):
        yield f"the page must start with '# {rule}', an empty line and the one sentence of the rule"
    for heading, lines in blocks_of(page):
        warns = any(EXPECTED.match(line) for line in lines)
        if warns != (heading == "Reported"):
            yield f"under '{heading}', a block {'has a' if warns else 'without'} warning:\n" + "\n".join(lines)


def test_file(page, rule):
    """The page's blocks as one test in check_tidy.py's language."""
    lines = [f'#include "{PRELUDE}"']
    for number, (_, block) in enumerate(blocks_of(page)):
        lines.append(f"namespace block{number} {{")
        above = 0
        for line in block:
            expected = EXPECTED.match(line)
            if not expected:
                above = 0
                lines.append(line)
                continue
            above += 1
            suffix = f" [{rule}]" if expected.group(2) == "warning" else ""
            text = expected.group(3) + suffix
            # FileCheck reads [[ and {{ as patterns; pages have none of them but the rule's brackets.
            lines.append(f"// CHECK-MESSAGES: :[[@LINE-{above}]]:{{{{[0-9]+}}}}: {expected.group(2)}: {text}{{{{$}}}}")
        lines.append(f"}} // namespace block{number}")
    return "\n".join(lines) + "\n"


def main(argv):
    if len(argv) < 5 or argv[3] != "--":
        print(__doc__, file=sys.stderr)
        return 2
    page, rule, prefix, harness = pathlib.Path(argv[0]), argv[1], argv[2], argv[4:]
    found = list(problems_of(page, rule))
    if found:
        print("\n".join(f"{page}: {problem}" for problem in found), file=sys.stderr)
        return 1
    test = pathlib.Path(f"{prefix}.page.cpp")
    test.parent.mkdir(parents=True, exist_ok=True)
    test.write_text(test_file(page, rule))
    return subprocess.run([*harness, str(test), rule, prefix]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
