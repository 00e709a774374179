#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the table of a page with the options that the runtime reads.

  check_options_page.py OPTIONS_INC PAGE
"""
import difflib
import pathlib
import re
import sys

TEXT = r'"([^"]*)"'
CHOICE = re.compile(
    rf"TENSORSCOPE_(OPTION|SET)\(\s*(\w+),\s*\w+,\s*(\w+),\s*{TEXT},((?:\s*TENSORSCOPE_VALUE\([^)]*\))*)\s*\)")
VALUE = re.compile(rf"TENSORSCOPE_VALUE\(\s*{TEXT},\s*(\w+)\s*\)")
SWITCH = re.compile(rf"TENSORSCOPE_SWITCH\(\s*(\w+),\s*(true|false),\s*{TEXT}\s*\)")
NUMBER = re.compile(rf"TENSORSCOPE_NUMBER\(\s*(\w+),\s*(\d+),\s*(\d+),\s*{TEXT}\s*\)")
WORDS = re.compile(rf"TENSORSCOPE_TEXT\(\s*(\w+),\s*{TEXT},\s*{TEXT}\s*\)")


def row(key, values, default, sentence):
    return f"| `{key}` | {values} | {default} | {sentence} |"


def rows_of(options):
    """The table's rows as they follow from the list of options, in its order."""
    rows = {}
    for found in CHOICE.finditer(options):
        kind, key, default, sentence, values = found.groups()
        names = {enumerator: text for text, enumerator in VALUE.findall(values)}
        listed = ", ".join(f"`{text}`" for text in names.values()) + ("; a list" if kind == "SET" else "")
        rows[found.start()] = row(key, listed, f"`{names[default]}`", sentence)
    for found in SWITCH.finditer(options):
        key, default, sentence = found.groups()
        rows[found.start()] = row(key, "`0`, `1`", "`1`" if default == "true" else "`0`", sentence)
    for found in NUMBER.finditer(options):
        key, default, most, sentence = found.groups()
        rows[found.start()] = row(key, f"0 to {most}", f"`{default}`", sentence)
    for found in WORDS.finditer(options):
        key, what, sentence = found.groups()
        rows[found.start()] = row(key, what, "none", sentence)
    return [rows[place] for place in sorted(rows)]


def main(argv):
    options, page = (pathlib.Path(name).read_text() for name in argv)
    wanted = rows_of(options)
    if len(wanted) != len(re.findall(r"^TENSORSCOPE_\w+\(", options, re.M)):
        print(f"{argv[0]}: an option that this script cannot read", file=sys.stderr)
        return 1
    got = [line for line in page.splitlines() if line.startswith("| `")]
    print("\n".join(difflib.unified_diff(wanted, got, argv[0], argv[1], lineterm="")), file=sys.stderr)
    return 0 if wanted == got else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
