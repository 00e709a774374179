#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tensorscope run` leaves as it was, and what it hands on to programs further down.

  run_command_test.py TENSORSCOPE LEAKING_PROGRAM CLEAN_PROGRAM PROGRAM_THAT_LINKS_THE_RUNTIME PLUGIN_HOST PLUGIN
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest


def clean_environment(**more):
    ours = ("LD_PRELOAD", "TENSORSCOPE_OPTIONS", "TENSORSCOPE_RUN")
    return {**{name: value for name, value in os.environ.items() if name not in ours}, **more}


class RunCommandTest(unittest.TestCase):
    tool = leaking = clean = linked = host = plugin = ""

    def run_tool(self, *words, environment=None, **more):
        return subprocess.run([self.tool, "run", *words], env=clean_environment(**(environment or {})),
                              capture_output=True, text=True, check=False, timeout=100, **more)

    def test_a_clean_program_is_as_it_was(self):
        done = self.run_tool(self.clean, input="word\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "word 1 9\n", ""))

    def test_the_folder_and_the_program_name_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_tool("--options", "leaks=0", os.path.relpath(self.leaking, folder), "system",
                                 "pwd; ps -o args= -p $PPID", cwd=folder)
            here, line = done.stdout.splitlines()
            self.assertEqual(os.path.realpath(here), os.path.realpath(folder))
            self.assertTrue(line.startswith(os.path.relpath(self.leaking, folder) + " system"), line)

    def test_options_on_the_command_line_win_over_the_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, "report.json")
            done = self.run_tool("--options", f"report=json:exitcode=7:log_path={report}", "--", self.leaking,
                                 environment={"TENSORSCOPE_OPTIONS": "report=text:exitcode=8"})
            self.assertEqual((done.returncode, done.stderr), (7, ""))
            self.assertEqual(json.loads(report.read_text())["leaked"], {"count": 5, "bytes": 420})

    def test_bad_options_are_refused(self):
        for program in (self.leaking, self.linked):
            done = self.run_tool("--options", "depth=deep", program)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"^tensorscope: TENSORSCOPE_OPTIONS: bad value 'deep' for 'depth': .*\n$")

    def test_below_a_launcher_bad_options_stop_no_program(self):
        done = self.run_tool("--options", "depth=deep", "env", self.leaking, "fail")
        self.assertEqual(done.returncode, 3)
        self.assertIn("nothing is watched", done.stderr)

    def test_where_libtorch_comes_late_statics_are_destroyed_all_the_same(self):
        done = self.run_tool(self.host, self.plugin)
        self.assertEqual((done.returncode, done.stdout), (23, "statics are destroyed\n"))
        self.assertIn("SUMMARY: tensorscope: 420 bytes leaked", done.stderr)

    def test_a_signal_ends_the_program_itself(self):
        with subprocess.Popen([self.tool, "run", self.leaking, "wait"], env=clean_environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            self.assertEqual(program.stdout.readline(), "waiting\n")
            program.send_signal(signal.SIGINT)
            _, errors = program.communicate(timeout=100)
        self.assertEqual((program.returncode, errors), (-signal.SIGINT, ""))

    def test_programs_that_it_starts_know_nothing(self):
        command = 'echo "[$LD_PRELOAD][$TENSORSCOPE_RUN]"; cat /proc/self/maps | grep -c tensorscope'
        done = self.run_tool(self.leaking, "system", command)
        self.assertEqual(done.stdout, "[][]\n0\n")

    def test_what_else_is_preloaded_stays(self):
        done = self.run_tool("--options", "leaks=0", self.leaking, "system", 'echo "[$LD_PRELOAD]"',
                             environment={"LD_PRELOAD": "libdl.so.2 libm.so.6"})
        self.assertEqual(done.stdout, "[libdl.so.2:libm.so.6]\n")

    def test_programs_with_address_sanitizer_may_start_and_keep_their_options(self):
        done = self.run_tool("--options", "leaks=0", self.leaking, "system", 'echo "[$ASAN_OPTIONS]"',
                             environment={"ASAN_OPTIONS": "verify_asan_link_order=1"})
        self.assertEqual(done.stdout, "[verify_asan_link_order=0:verify_asan_link_order=1]\n")

    def test_followed_programs_report_and_others_run_unharmed(self):
        command = f"ls / | grep -x usr; {self.leaking} fail; test $? = 3"
        alone = self.run_tool(self.leaking, "system", command)
        self.assertEqual((alone.stdout, alone.stderr.count("SUMMARY:")), ("usr\n", 1))
        followed = self.run_tool("--follow", self.leaking, "system", command)
        self.assertEqual((followed.stdout, followed.stderr.count("SUMMARY:")), ("usr\n", 2))

    def test_the_first_program_with_libtorch_below_a_launcher_reports_alone(self):
        done = self.run_tool("env", "A=1", "nice", self.leaking, "system", f"{self.leaking}; true")
        self.assertEqual(done.returncode, 23)
        self.assertEqual(done.stderr.count("SUMMARY:"), 1)
        self.assertEqual(done.stderr.count("loads no LibTorch"), 1)
        self.assertIn("tensorscope run: env loads no LibTorch at its start", done.stderr)

    def test_a_program_that_gains_rights_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            program = shutil.which("su")
            if os.geteuid() == 0:  # all programs of the system are ours
                program = shutil.copy(self.leaking, folder)
                os.chown(program, 1, 1)
                os.chmod(program, 0o4755)
            elif program is None:
                self.skipTest("no program with another user's rights")
            done = self.run_tool(program)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^tensorscope run: error: .*: runs with another user's rights \(setuid\), so .*\n$")

    def test_a_program_that_links_the_runtime_gets_the_level(self):
        alone = subprocess.run([self.linked], env=clean_environment(), capture_output=True, text=True, check=False)
        self.assertEqual((alone.returncode, alone.stderr), (0, ""))
        done = self.run_tool(self.linked)
        self.assertEqual(done.returncode, 23)
        self.assertNotIn("health", done.stderr)
        self.assertIn("LEAK: 999584 bytes in 20 tensors returned from 20 runs of a scope", done.stderr)


if __name__ == "__main__":
    names = ("tool", "leaking", "clean", "linked", "host", "plugin")
    for name, path in zip(names, sys.argv[1:], strict=True):
        setattr(RunCommandTest, name, path)
    unittest.main(argv=sys.argv[:1])
