#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Suppression files on a program that leaks 420 bytes in step() and 104 in main().

  suppressions_test.py LEAKING_PROGRAM CLEAN_PROGRAM [TENSORSCOPE PROGRAM_FOR_RUN]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest


class SuppressionsTest(unittest.TestCase):
    leaking = clean = tool = alone = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_with(self, rules=None, options="", command=None):
        """The program with these rules; None: with no file."""
        if rules is not None:
            (self.folder / "known.supp").write_text(rules)
            options += ":suppressions=known.supp"
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        environment["TENSORSCOPE_OPTIONS"] = options
        return subprocess.run(command or [self.leaking], env=environment, cwd=self.folder, capture_output=True, text=True,
                              check=False, timeout=100)

    def assert_leaks(self, done, count, size):
        self.assertEqual(done.returncode, 23, done.stderr)
        self.assertIn(f"SUMMARY: tensorscope: {size} bytes leaked in {count} tensor", done.stderr)

    def test_a_rule_that_fits_nothing_hides_nothing_and_is_named(self):
        done = self.run_with("leak:another_step\n# a comment\nop:aten::zeros\n")
        self.assert_leaks(done, 5, 420)
        self.assertIn("Suppressed: 1 leak, 104 bytes\n", done.stderr)
        self.assertTrue(done.stderr.endswith("tensorscope: suppressions: unused: leak:another_step (known.supp:1)\n"))

    def test_the_unused_rules_of_a_clean_program_are_named_once(self):
        done = self.run_with("leak:one\nop:two\n", command=[self.clean])
        self.assertEqual((done.returncode, done.stderr),
                         (0, "tensorscope: suppressions: unused: leak:one (known.supp:1), op:two (known.supp:2)\n"))

    def test_functions_files_and_libraries_of_the_stack_are_matched(self):
        for rule, left in (("leak:^step$", 104), ("leak:^step*", 104), ("leak:step", 104), ("leak:^main$", 0),
                           ("leak:/retained.cpp$", 0), ("leak:report_retained", 0), ("leak:libtorch_cpu.so", 0),
                           ("leak:^at::_ops::mul_Scalar::call*", 104), ("leak:^tep", 524), ("leak:ste$", 524),
                           ("leak:retained.cp$", 524), ("leak:s?ep", 524)):
            done = self.run_with(rule)
            if left:
                self.assert_leaks(done, {104: 1, 524: 6}[left], left)
            else:
                self.assertEqual((done.returncode, done.stderr), (0, "Suppressed: 6 leaks, 524 bytes\n"), rule)

    def test_operators_scopes_and_devices_are_matched(self):
        for rule, left in (("op:aten::mul", 104), ("op:^aten::*$", 0), ("op:^mul", 524), ("scope:retained.cpp:11", 104),
                           ("scope:^step", 524), ("scope:void step(int)", 104), ("device:cpu", 0), ("device:cuda", 524)):
            done = self.run_with(rule)
            self.assertEqual(done.returncode, 23 if left else 0, rule + done.stderr)
            self.assertEqual(f"SUMMARY: tensorscope: {left} bytes" in done.stderr, left != 0, rule + done.stderr)

    def test_several_files_hide_together(self):
        (self.folder / "more.supp").write_text("leak:^main$")
        done = self.run_with("leak:step", "suppressions=more.supp,known.supp,")
        done = self.run_with(None, "suppressions=known.supp,more.supp")
        self.assertEqual((done.returncode, done.stderr), (0, "Suppressed: 6 leaks, 524 bytes\n"))

    def test_a_line_that_is_no_rule_is_named_and_the_others_count(self):
        done = self.run_with("leak:step\nrace:step\n\nleak:\n")
        self.assert_leaks(done, 1, 104)
        self.assertEqual(done.stderr.splitlines()[:2], [
            "tensorscope: suppressions: known.supp:2: 'race:step' is no rule: use leak:, op:, scope: or device: and a pattern",
            "tensorscope: suppressions: known.supp:4: 'leak:' would hide everything: give it a pattern"])

    def test_a_file_that_cannot_be_read_is_named_and_all_leaks_are_reported(self):
        for name, problem in (("none.supp", "No such file or directory"), (".", "Is a directory")):
            done = self.run_with(None, f"suppressions={name}")
            self.assert_leaks(done, 6, 524)
            self.assertEqual(done.stderr.splitlines()[0], f"tensorscope: suppressions: cannot read '{name}': {problem}")

    def test_what_gen_suppressions_prints_hides_the_leaks(self):
        done = self.run_with(None, "gen_suppressions=1")
        self.assert_leaks(done, 6, 524)
        rules = re.findall(r"to hide it, with suppressions=FILE:\n(.*)\n", done.stderr)
        self.assertEqual(rules[0], "leak:^step$")
        self.assertEqual(len(rules), 2)
        done = self.run_with("\n".join(rules))
        self.assertEqual((done.returncode, done.stderr), (0, "Suppressed: 6 leaks, 524 bytes\n"))

    def test_what_gen_suppressions_prints_without_stacks_hides_them_too(self):
        done = self.run_with(None, "gen_suppressions=1:depth=0:report=json")
        rules = [leak["suppression"] for leak in json.loads(done.stderr)["leaks"]]
        self.assertTrue(all(re.fullmatch(r"scope:\^.*retained\.cpp:\d+\$", rule) for rule in rules), rules)
        done = self.run_with("\n".join(rules), "depth=0")
        self.assertEqual((done.returncode, done.stderr), (0, "Suppressed: 6 leaks, 524 bytes\n"))

    def test_used_rules_are_listed_with_counts_and_bytes(self):
        done = self.run_with("op:aten::zeros\nleak:step\nleak:none", "print_suppressions=1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Suppressions used:\n     count          bytes rule\n"
                      "         5            420 leak:step (known.supp:2)\n"
                      "         1            104 op:aten::zeros (known.supp:1)\n", done.stderr)

    def test_json_has_what_was_hidden(self):
        done = self.run_with("leak:step", "report=json")
        report = json.loads(done.stderr)
        self.assertEqual(report["suppressed"], [{"rule": "leak:step", "origin": "known.supp:1", "count": 5, "bytes": 420}])
        self.assertEqual(report["leaked"], {"count": 1, "bytes": 104})

    def test_an_unchanged_program_is_not_started_with_a_bad_file(self):
        if not self.tool:
            self.skipTest("the command is not built")
        done = self.run_with("leek:step", command=[self.tool, "run", self.alone])
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^tensorscope: suppressions: known.supp:1: 'leek:step' is no rule: .*\n$")
        done = self.run_with("leak:*leaking*", command=[self.tool, "run", self.alone])
        self.assertEqual((done.returncode, done.stderr), (0, "Suppressed: 5 leaks, 420 bytes\n"))


if __name__ == "__main__":
    names = ("leaking", "clean", "tool", "alone")
    for name, path in zip(names, sys.argv[1:]):
        setattr(SuppressionsTest, name, path)
    unittest.main(argv=sys.argv[:1])
