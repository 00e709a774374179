#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the option names of a help text (`help`) or of the page's table (`page`), sorted, or the page's `yaml`."""
import re
import sys

text = sys.stdin.read()
if sys.argv[1] == "yaml":
    print(re.search(r"```yaml\n(.*?)```", text, re.DOTALL).group(1), end="")
    sys.exit()
pattern = {"help": r"^  (--?[a-z-]+)[ =<]", "page": r"^\| `(--?[a-z-]+)` \|"}[sys.argv[1]]
names = set(re.findall(pattern, text, re.MULTILINE)) - {"--help", "--help-list"}
print("\n".join(sorted(names)))
