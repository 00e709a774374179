# SPDX-License-Identifier: Apache-2.0
"""The demo's verdict, with stand-ins for the checker and the trainers: it can fail, and says on what."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

DEMO = pathlib.Path(__file__).with_name("run_demo.py")
FLAT = "echo 'step 1   live 9 KiB'; echo 'memory: flat (+0.0 KiB)'"
GROWS = "echo 'memory: grows (+9.0 KiB)'"
NO_LEAK = '{"leaks": []}'
LEAK = """{"leaks": [{"kind": "retained", "bytes": 64, "site": {"count": 2, "stack": [
  {"user": false, "file": "", "line": 0}, {"user": true, "file": "EXAMPLES/planted/a.cpp", "line": 5}]}}]}"""
FINDS = """case "$*" in
  *planted/a.cpp*) echo "{examples}/planted/a.cpp:3:5: \x1b[1mwarning: {words} [tensorscope-{rule}]"
                   echo "{examples}/planted/a.cpp:1:1: note: made here"; exit 1 ;;
esac"""


class DemoTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name, "build")
        self.examples = pathlib.Path(folder.name, "examples")
        (self.build / "bin").mkdir(parents=True)
        for twin in ("planted", "clean"):
            (self.examples / twin).mkdir(parents=True)
            (self.examples / twin / "a.cpp").write_text("")
        (self.examples / "expected-findings.tsv").write_text("file\tline\trule\nplanted/a.cpp\t3\tuse-after-release\n")
        (self.examples / "expected-leaks.tsv").write_text("file\tline\tkind\tcount\tbytes\nplanted/a.cpp\t5\tretained\t2\t64\n")
        self.program("tensorscope", self.finds())
        self.trainers()

    def trainers(self, clean=FLAT, planted=GROWS, clean_report=NO_LEAK, planted_report=LEAK, status=23,
                 page="echo '<!doctype html>' > $path.html"):
        """The trainers print; at level full they write their reports where log_path says."""
        report = """case "$TENSORSCOPE_OPTIONS" in *level=full*)
          path=${{TENSORSCOPE_OPTIONS#*\\'}}; path=${{path%\\'*}}; {0} ;;
        esac
        {1}"""
        self.program("example-clean-trainer", report.format(f"echo '{clean_report}' > $path.json; exit 0", clean))
        leak = planted_report.replace("EXAMPLES", str(self.examples))
        self.program("example-planted-trainer",
                     report.format(f"echo '{leak}' > $path.json; echo 'LEAK: 64 bytes' > $path.txt; {page}; exit {status}", planted))

    def finds(self, rule="use-after-release"):
        return FINDS.format(examples=self.examples, words="'x' is used", rule=rule)

    def program(self, name, text):
        file = self.build / "bin" / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def run_demo(self):
        done = subprocess.run([sys.executable, DEMO, self.build, self.examples], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_differs(self, *texts):
        status, output = self.run_demo()
        self.assertEqual(status, 1, output)
        for text in texts:
            self.assertIn(text, output)

    def test_all_as_planted_ends_with_zero_and_shows_findings_and_bytes(self):
        status, output = self.run_demo()
        self.assertEqual(status, 0, output)
        for text in ["planted/a.cpp:3:5", "note: made here", "live 9 KiB", "(nothing leaked, nothing to report)",
                     "LEAK: 64 bytes", "1 planted mistakes of 1 rules found"]:
            self.assertIn(text, output)

    def test_a_leak_that_is_not_reported_or_with_other_bytes_is_named(self):
        self.trainers(planted_report=NO_LEAK)
        self.assert_differs("not reported: ('planted/a.cpp', 5, 'retained', 2, 64)")
        self.trainers(planted_report=LEAK.replace("64", "65"))
        self.assert_differs("reported, but not planted: ('planted/a.cpp', 5, 'retained', 2, 65)")

    def test_a_leak_of_the_clean_twin_is_named(self):
        self.trainers(clean_report=LEAK)
        self.assert_differs("the report of example-clean-trainer: reported, but not planted")

    def test_a_report_that_leaves_the_status_alone_is_named(self):
        self.trainers(status=0)
        self.assert_differs("the report of example-planted-trainer: ended with status 0, not 23")

    def test_a_program_that_writes_no_report_is_named(self):
        self.program("example-planted-trainer", GROWS)
        self.assert_differs("the report of example-planted-trainer: ended with status 0 and wrote no report")

    def test_a_leak_is_shown_as_a_page_that_stays(self):
        status, output = self.run_demo()
        self.assertEqual(status, 0, output)
        page = self.build / "demo/planted-trainer.html"
        self.assertIn(f"a page for a browser: {page}", output)
        self.assertEqual(page.read_text(), "<!doctype html>\n")

    def test_a_leak_without_a_page_is_named(self):
        self.run_demo()
        self.trainers(page="true") # and the page of the last time is no excuse
        self.assert_differs("example-planted-trainer wrote no page")

    def test_the_editor_is_pointed_at_the_language_server_where_there_is_one(self):
        self.assertNotIn("editor", self.run_demo()[1])
        self.program("tensorscope-clangd", "true")
        self.assertIn(f"let your editor start {self.build}/bin/tensorscope-clangd as its clangd", self.run_demo()[1])

    def test_a_planted_mistake_that_is_not_found_is_named(self):
        self.program("tensorscope", "true")
        self.assert_differs("planted/a.cpp:3: use-after-release was planted and is not found", "status 0, not 1")

    def test_another_rule_at_the_line_is_both_a_miss_and_a_false_report(self):
        self.program("tensorscope", self.finds("unscoped-loop"))
        self.assert_differs("use-after-release was planted and is not found", "unscoped-loop is reported and was not planted")

    def test_a_finding_on_the_clean_twin_is_named(self):
        text = f'case "$*" in *clean/a.cpp*) echo "{self.examples}/clean/a.cpp:9:1: warning: no [tensorscope-unscoped-loop]"; exit 1 ;; esac\n'
        self.program("tensorscope", text + self.finds())
        self.assert_differs("clean/a.cpp:9: unscoped-loop is reported and was not planted", "of clean/ ended with status 1, not 0")

    def test_a_checker_that_could_not_read_a_file_differs_although_all_is_found(self):
        self.program("tensorscope", self.finds().replace("exit 1", "exit 2"))
        self.assert_differs("tensorscope check of planted/ ended with status 2, not 1")

    def test_a_trainer_that_crashes_or_whose_memory_grows_is_named(self):
        self.trainers(clean=FLAT + "; exit 3")
        self.assert_differs("example-clean-trainer ended with status 3")
        self.trainers(clean=GROWS)
        self.assert_differs("example-clean-trainer did not print 'memory: flat'")


if __name__ == "__main__":
    unittest.main()
