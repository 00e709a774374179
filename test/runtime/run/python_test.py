#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tensorscope run` on programs in Python, unchanged. Wants an interpreter with the torch that tensorscope was built with.

  python_test.py TENSORSCOPE PYTHON PROGRAM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest


class PythonTest(unittest.TestCase):
    tool = python = program = ""

    def run_tool(self, way, options=""):
        environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "TENSORSCOPE_OPTIONS")}
        done = subprocess.run([self.tool, "run", "--options", "max_leaks=0:" + options, "--", self.python, self.program, way],
                              env=environment, capture_output=True, text=True, check=False, timeout=250)
        print(done.stdout + done.stderr)
        return done

    def assert_names_the_losses(self, errors):
        self.assertRegex(errors, r"LEAK: \d+ bytes in \d\d tensors that piled up while the program worked, in no scope\n"
                                 r"  made by aten::mean Float \[\] on cpu\n")
        self.assertRegex(errors, r"  held in Python: \d\d in list 'history' in module __main__\n")
        self.assertNotIn("tracker health", errors)

    def test_a_list_of_losses_is_named_by_its_variable(self):
        done = self.run_tool("leak")
        self.assertEqual((done.returncode, done.stdout), (23, "done\n"))
        self.assert_names_the_losses(done.stderr)
        self.assertEqual(done.stderr.count("LEAK:"), 1)

    def test_a_list_of_numbers_is_no_leak(self):
        done = self.run_tool("clean")
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"))
        self.assertNotIn("LEAK", done.stderr)

    def test_a_call_of_exit_and_an_exception_keep_their_status_and_the_report(self):
        for way, status in (("exit", 3), ("raise", 1)):
            done = self.run_tool(way)
            self.assertEqual(done.returncode, status)
            self.assert_names_the_losses(done.stderr)
        self.assertIn("ValueError: of the program", done.stderr)

    def test_json_names_the_variable(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "report.json")
            self.run_tool("leak", f"report=json:log_path={path}")
            leaks = json.loads(path.read_text())["leaks"]
        self.assertRegex(leaks[0]["python_holders"][0], r"^\d\d in list 'history' in module __main__$")


if __name__ == "__main__":
    PythonTest.tool, PythonTest.python, PythonTest.program = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
