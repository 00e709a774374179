#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a SARIF log and prints `file:line rule level suppressed|reported` for each result, sorted."""
import json
import sys
import urllib.parse

log = json.load(open(sys.argv[1], encoding="utf-8"))
assert log["version"] == "2.1.0", log["version"]
(run,) = log["runs"]
rules = run["tool"]["driver"]["rules"]
lines = []
for result in run["results"]:
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"], result
    assert len(result["partialFingerprints"]["tensorscope/v1"]) == 32, result
    physical = result["locations"][0]["physicalLocation"]
    name = urllib.parse.unquote(physical["artifactLocation"]["uri"]).rsplit("/", 1)[-1]
    state = "suppressed" if result.get("suppressions") else "reported"
    lines.append(f"{name}:{physical['region']['startLine']} {result['ruleId']} {result['level']} {state}")
print("\n".join(sorted(lines)))
