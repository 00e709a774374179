#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports in files: names, forms, and what happens when a file can't be written.

  log_path_test.py LEAKING_PROGRAM CLEAN_PROGRAM
"""
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest


def run(program, options):
    environment = dict(os.environ, TENSORSCOPE_OPTIONS=options, RANK="5")
    return subprocess.run([program], env=environment, capture_output=True, text=True, check=False, timeout=100)


class LogPathTest(unittest.TestCase):
    leaking = clean = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_process_host_and_rank_are_filled_in(self):
        done = run(self.leaking, f"log_path={self.folder}/%h-%r-%%-%p.log")
        self.assertEqual((done.returncode, done.stderr), (23, ""))
        (report,) = self.folder.iterdir()
        self.assertRegex(report.name, rf"^{platform.node()}-5-%-[0-9]+\.log$")
        self.assertIn("SUMMARY: tensorscope: ", report.read_text())

    def test_each_form_gets_a_file_of_its_own(self):
        run(self.leaking, f"report=text,json:log_path={self.folder}/report")
        self.assertEqual(sorted(file.name for file in self.folder.iterdir()), ["report.json", "report.txt"])
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["version"], 1)
        self.assertEqual(report["leaked"]["bytes"], sum(leak["bytes"] for leak in report["leaks"]))

    def test_a_clean_program_writes_json_but_no_text(self):
        done = run(self.clean, f"report=text,json:log_path={self.folder}/report")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([file.name for file in self.folder.iterdir()], ["report.json"])
        self.assertEqual(json.loads((self.folder / "report.json").read_text())["leaks"], [])

    def test_json_tells_of_all_that_is_alive(self):
        for options in ["", ":min_bytes=200", ":min_bytes=1000"]:
            run(self.leaking, f"report=json:log_path={self.folder}/report{options}")
            report = json.loads((self.folder / "report").read_text())
            self.assertEqual(report["leaked"]["bytes"] + report["held"]["bytes"], 524, options)
            self.assertEqual(report["leaked"]["count"] + report["held"]["count"], 6, options)
            self.assertEqual(report["held"]["bytes"], sum(site["bytes"] for site in report["held"]["sites"]))

    def test_json_tells_of_single_results(self):
        run(self.clean, f"report=json:log_path={self.folder}/report")
        held = json.loads((self.folder / "report").read_text())["held"]
        self.assertIn(("aten::arange", 800), [(site["operator"], site["bytes"]) for site in held["sites"]])

    def test_a_path_with_a_colon_stands_in_quotes(self):
        run(self.leaking, f"log_path='{self.folder}/a:b.log'")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["a:b.log"])

    def test_a_report_that_no_file_takes_goes_to_stderr(self):
        done = run(self.leaking, f"log_path={self.folder}/absent/report")
        self.assertEqual(done.returncode, 23)
        self.assertIn(f"cannot write the report to '{self.folder}/absent/report' (log_path): No such file", done.stderr)
        self.assertIn("SUMMARY: tensorscope: ", done.stderr)


if __name__ == "__main__":
    LogPathTest.leaking, LogPathTest.clean = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
