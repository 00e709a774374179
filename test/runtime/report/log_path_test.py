#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports in files: names, forms, and what happens when a file can't be written.

  log_path_test.py LEAKING_PROGRAM CLEAN_PROGRAM
"""
import fcntl
import json
import os
import pathlib
import pickle
import platform
import subprocess
import sys
import tempfile
import time
import unittest


EXTENSIONS = {"text": ".txt", "json": ".json", "html": ".html", "folded": ".folded", "speedscope": ".speedscope.json",
              "sarif": ".sarif", "memory_viz": ".pickle"}


def run(program, options, folder=None, **variables):
    environment = dict(os.environ, TENSORSCOPE_OPTIONS=options, RANK="5", **variables)
    return subprocess.run([program], env=environment, capture_output=True, text=True, check=False, timeout=100, cwd=folder)


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

    def test_all_forms_are_written_at_once(self):
        done = run(self.leaking, f"report={','.join(EXTENSIONS)}:log_path={self.folder}/report")
        self.assertEqual((done.returncode, done.stderr), (23, ""))
        self.assertEqual({file.name for file in self.folder.iterdir()}, {"report" + end for end in EXTENSIONS.values()})
        self.assertIn("SUMMARY: tensorscope: 524 bytes leaked", (self.folder / "report.txt").read_text())
        self.assertIn("SUMMARY: tensorscope: 524 bytes leaked", (self.folder / "report.html").read_text())
        lines = [line.rsplit(" ", 1) for line in (self.folder / "report.folded").read_text().splitlines()]
        self.assertEqual(sum(int(size) for stack, size in lines if stack.startswith("leaked;")), 524)
        self.assertEqual(sum(json.loads((self.folder / "report.speedscope.json").read_text())["profiles"][0]["weights"]), 524)
        results = json.loads((self.folder / "report.sarif").read_text())["runs"][0]["results"]
        self.assertEqual([one["ruleId"] for one in results], ["tensorscope-retained-leak"] * 2)
        snapshot = pickle.loads((self.folder / "report.pickle").read_bytes())
        self.assertGreaterEqual(snapshot["segments"][0]["total_size"], 524)

    def test_one_form_takes_the_name_as_it_is(self):
        run(self.leaking, f"report=html:log_path={self.folder}/page")
        self.assertTrue((self.folder / "page").read_text().startswith("<!DOCTYPE html>"))

    def test_what_is_nothing_for_a_terminal_goes_to_a_file_that_is_named(self):
        done = run(self.leaking, "report=text,html,memory_viz", folder=self.folder)
        files = sorted(self.folder.iterdir())
        self.assertEqual([file.suffix for file in files], [".html", ".pickle"])
        for file, form in zip(files, ["html", "memory_viz"]):
            self.assertIn(f"tensorscope: the report is in '{file.resolve()}' (report={form})\n", done.stderr)
        self.assertIn("SUMMARY: tensorscope: ", done.stderr)
        self.assertNotIn("<html", done.stderr)

    def test_ranks_do_not_share_a_file(self):
        done = run(self.leaking, f"log_path={self.folder}/report", WORLD_SIZE="8")
        self.assertEqual((done.returncode, done.stderr), (23, ""))
        run(self.leaking, f"log_path={self.folder}/own-%r", WORLD_SIZE="8")
        run(self.leaking, f"log_path={self.folder}/alone", WORLD_SIZE="1")
        self.assertEqual({file.name for file in self.folder.iterdir()}, {"report.5", "own-5", "alone"})

    def test_what_another_process_writes_meanwhile_is_kept(self):
        theirs = self.folder / "report.json"
        theirs.write_text("theirs")
        os.utime(theirs, (time.time() + 100, time.time() + 100))  # as if it came after the start of the program
        done = run(self.leaking, f"report=json,text:log_path={self.folder}/report")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (23, 1), done.stderr)
        self.assertEqual(theirs.read_text(), "theirs")
        (ours,) = set(self.folder.glob("*.json")) - {theirs}
        pid = json.loads(ours.read_text())["process"]["pid"]
        self.assertEqual(ours.name, f"report.{pid}.json")
        self.assertIn(f"the report is in '{ours}': another process has just written the file that log_path names", done.stderr)

    def test_a_file_that_is_being_written_is_left_alone(self):
        with open(self.folder / "report", "w", encoding="utf-8") as theirs:
            fcntl.flock(theirs, fcntl.LOCK_EX)
            run(self.leaking, f"log_path={self.folder}/report")
        self.assertEqual((self.folder / "report").read_text(), "")
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_a_later_run_replaces_the_report_of_an_earlier_one(self):
        for _ in range(2):
            self.assertEqual(run(self.leaking, f"log_path={self.folder}/report").stderr, "")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["report"])

    def test_each_form_that_no_file_takes_is_one_line(self):
        done = run(self.leaking, f"report=html,json:log_path={self.folder}/absent/report")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (23, 2))
        self.assertIn(f"cannot write the report to '{self.folder}/absent/report.html' (log_path): No such file", done.stderr)

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
