#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command; fails unless it ends with the status and its output (stderr included) matches the expression.

  expect_output.py --status N --says EXPRESSION -- COMMAND [argument...]

ctest's own PASS_REGULAR_EXPRESSION is content with a program that says its line and then crashes.
"""
import argparse
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--status", type=int, default=0, help="negative: ended by that signal")
    parser.add_argument("--says", required=True, help="a regular expression; ^ is a line's begin, . may be its end")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    done = subprocess.run(given.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False)
    print(done.stdout, end="")
    problems = []
    if done.returncode != given.status:
        problems.append(f"status {done.returncode}, expected {given.status}")
    if not re.search(given.says, done.stdout, re.MULTILINE | re.DOTALL):
        problems.append(f"no output matches {given.says!r}")
    for problem in problems:
        print(f"expect_output: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
