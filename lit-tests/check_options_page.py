#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the table of a page with the options that the runtime reads.

  check_options_page.py OPTIONS_INC PAGE
"""
import difflib
import pathlib
import re
import sys

OPTION = re.compile(r'TENSORSCOPE_OPTION\(\s*(\w+),\s*\w+,\s*(\w+),\s*"([^"]*)",((?:\s*TENSORSCOPE_VALUE\([^)]*\))*)\s*\)')
VALUE = re.compile(r'TENSORSCOPE_VALUE\(\s*"([^"]*)",\s*(\w+)\s*\)')


def rows_of(options):
    """The table's rows as they follow from the list of options."""
    for key, default, sentence, values in OPTION.findall(options):
        names = {enumerator: text for text, enumerator in VALUE.findall(values)}
        listed = ", ".join(f"`{text}`" for text in names.values())
        yield f"| `{key}` | {listed} | `{names[default]}` | {sentence} |"


def main(argv):
    options, page = (pathlib.Path(name).read_text() for name in argv)
    wanted = list(rows_of(options))
    if len(wanted) != len(re.findall(r"^\s*TENSORSCOPE_OPTION\(", options, re.M)):
        print(f"{argv[0]}: an option that this script cannot read", file=sys.stderr)
        return 1
    got = [line for line in page.splitlines() if line.startswith("| `")]
    print("\n".join(difflib.unified_diff(wanted, got, argv[0], argv[1], lineterm="")), file=sys.stderr)
    return 0 if wanted == got else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
