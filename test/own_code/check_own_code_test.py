#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests which files check_own_code.py takes, and what it calls a problem."""
import pathlib
import tempfile
import unittest

import check_own_code


class IncludeGraphTest(unittest.TestCase):
    def reaches(self, files, start):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            for file, text in files.items():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_text(text)
            return check_own_code.IncludeGraph([folder / "include"]).reaches_torch(folder / start)

    def test_a_file_that_includes_libtorch_is_taken(self):
        self.assertTrue(self.reaches({"a.cpp": "#include <torch/torch.h>\n"}, "a.cpp"))

    def test_so_is_one_whose_header_does(self):
        self.assertTrue(self.reaches({"a.cpp": '#include "b.h"\n', "b.h": "#include <x/c.h>\n",
                                      "include/x/c.h": "#include <ATen/ATen.h>\n"}, "a.cpp"))

    def test_others_are_not_and_a_cycle_ends(self):
        self.assertFalse(self.reaches({"a.cpp": '#include "b.h"\n#include <vector>\n', "b.h": '#include "b.h"\n'}, "a.cpp"))


class ProblemsTest(unittest.TestCase):
    FINDING = {"file": "a.cpp", "line": 3, "message": "m", "rule": "r", "suppressed": False}

    def test_findings_and_files_that_were_not_analysed_are_problems(self):
        report = {"files": [{"file": "a.cpp", "status": "analyzed"}, {"file": "b.cpp", "status": "failed"}],
                  "findings": [self.FINDING]}
        self.assertEqual(list(check_own_code.problems(report, ["a.cpp", "b.cpp"])),
                         ["b.cpp: failed", "a.cpp:3: m [r]"])

    def test_what_a_comment_silences_is_none(self):
        report = {"files": [{"file": "a.cpp", "status": "analyzed"}],
                  "findings": [dict(self.FINDING, suppressed=True)]}
        self.assertEqual(list(check_own_code.problems(report, ["a.cpp"])), [])


if __name__ == "__main__":
    unittest.main()
