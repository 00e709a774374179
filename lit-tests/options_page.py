#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the table of a page from the options that the runtime reads.

  options_page.py OPTIONS_INC PAGE            says how the page differs from what would be written, and fails if it does
  options_page.py --write OPTIONS_INC PAGE    writes it
"""
import argparse
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


def page_with(rows, page):
    """The page's text with these rows in the place of its own."""
    lines = page.splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith("| `")]
    if not places or places != list(range(places[0], places[-1] + 1)):
        raise ValueError("the page has no table of options, or more than one")
    return "\n".join(lines[:places[0]] + rows + lines[places[-1] + 1:]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("options", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    given = parser.parse_args()
    options, page = given.options.read_text(), given.page.read_text()
    rows = rows_of(options)
    if len(rows) != len(re.findall(r"^TENSORSCOPE_\w+\(", options, re.M)):
        print(f"{given.options}: an option that this script cannot read", file=sys.stderr)
        return 1
    try:
        wanted = page_with(rows, page)
    except ValueError as error:
        print(f"{given.page}: {error}", file=sys.stderr)
        return 1
    if given.write:
        given.page.write_text(wanted)
        return 0
    sys.stderr.writelines(difflib.unified_diff(page.splitlines(True), wanted.splitlines(True), str(given.page), "generated"))
    return 0 if wanted == page else 1


if __name__ == "__main__":
    sys.exit(main())
