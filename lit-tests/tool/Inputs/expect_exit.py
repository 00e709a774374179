#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command, shows what it printed, and fails unless it ends with the code: expect_exit.py CODE COMMAND...
With --one-line after the code, it must also print exactly one line, to standard error."""
import subprocess
import sys

wanted, command = int(sys.argv[1]), sys.argv[2:]
one_line = command[0] == "--one-line"
if one_line:
    command.pop(0)
result = subprocess.run(command, capture_output=True, text=True)
print(result.stdout, end="")
print(result.stderr, end="")
if result.returncode != wanted:
    sys.exit(f"exit code {result.returncode}, not {wanted}")
if one_line and (result.stdout or result.stderr.count("\n") != 1):
    sys.exit("more or less than one line")
