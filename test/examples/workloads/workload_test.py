#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a workload at level `full`; fails unless it ends with the status, says the expression, and is told of nothing.

  workload_test.py --status N --says EXPRESSION -- PROGRAM [argument...]

Ends with 77 where the program does: it has not the device that it needs.
"""
import argparse
import os
import re
import subprocess
import sys

SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--status", type=int, default=0)
    parser.add_argument("--says", required=True, help="a regular expression; ^ is a line's begin")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    done = subprocess.run(given.command, capture_output=True, text=True, check=False,
                          env={**os.environ, "TENSORSCOPE_OPTIONS": "level=full"})
    print(done.stdout, done.stderr, sep="", end="")
    if done.returncode == SKIPPED:
        return SKIPPED
    problems = []
    if done.returncode != given.status:
        problems.append(f"status {done.returncode}, expected {given.status}")
    if not re.search(given.says, done.stdout, re.MULTILINE):
        problems.append(f"no output matches {given.says!r}")
    if done.stderr:
        problems.append("something was reported")
    for problem in problems:
        print(f"workload_test: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
