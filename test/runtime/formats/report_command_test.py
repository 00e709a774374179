#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tensorscope report` says and does: show, merge, convert, diff, and what it refuses.

  report_command_test.py COMMAND...    (the program tensorscope-report, or `tensorscope report`)
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import sample_reports


class ReportCommandCase(unittest.TestCase):
    command = []

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def run_command(self, *words, **more):
        return subprocess.run([*self.command, *words], capture_output=True, text=True, check=False, timeout=60, cwd=self.folder, **more)

    def output(self, *words, status=0):
        done = self.run_command(*words)
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        return done.stdout

    def complaint(self, *words):
        """The one line that says why not."""
        done = self.run_command(*words)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        self.assertTrue(done.stderr.startswith("tensorscope report"), done.stderr)
        return done.stderr


class ShowTest(ReportCommandCase):
    def test_it_tells_each_finding(self):
        text = self.output("show", self.file("a.json", sample_reports.every_kind()))
        for line in ["USE AFTER RELEASE: aten::mul (Float [33] on cpu), 132 bytes, used by aten::sum 3 times",
                     "  released by the end of the session at /src/app/main.cpp:30, closed at /src/app/main.cpp:35",
                     "OPEN SESSION: started at /src/app/main.cpp:50 on thread 2 and never stopped; it owns 800 bytes in 2 tensors",
                     "LEAK: 3852 bytes in 3 tensors returned from 3 runs of a scope and still held",
                     "  growth: +1.3 KiB per iteration over 240 iterations",
                     "  its backward() keeps 3840 bytes in 12 tensors:",
                     "    #1 step_12(int) /src/app/model.cpp:12:3",
                     "LEAK: 640 bytes in 2 tensors kept for the backward() of a tensor that lives on",
                     "LEAK: 440 bytes in 1 tensor that no handle leads to any more",
                     "LEAK: 400 bytes in 10 tensors that piled up while the program worked, in no scope",
                     "LEAK: 16 bytes in 1 tensor that escaped a scope and was left alive (on_escape=report)",
                     "ESCAPE: 1 tensor with 132 bytes released at the end of a scope and still held",
                     "main() had not returned: what its variables hold was not looked at"]:
            self.assertIn(line + "\n", text)
        self.assertIn("held by", text)
        self.assertTrue(text.splitlines()[-1].startswith("SUMMARY: tensorscope: 5768 bytes leaked in 34 tensors;"))

    def test_a_clean_report_has_its_summary(self):
        self.assertEqual(self.output("show", self.file("a.json", sample_reports.clean())),
                         "SUMMARY: tensorscope: 0 bytes leaked in 0 tensors; 0.0 % of 64 bytes live attributed\n")

    def test_the_largest_alone(self):
        text = self.output("show", "--max-leaks", "1", self.file("a.json", sample_reports.every_kind()))
        self.assertEqual(text.count("LEAK: "), 1)
        self.assertIn("6 smaller leaks are not shown (max_leaks)\n", text)

    def test_a_kind_of_a_later_version_is_told(self):
        report = sample_reports.clean()
        report["leaks"] = [sample_reports.leak("of_later_versions", 8, sample_reports.site("aten::ones", "Float [2] on cpu", 1, 8, 3))]
        self.assertIn("LEAK: 8 bytes in 1 tensor (of_later_versions)\n", self.output("show", self.file("a.json", report)))

    def test_standard_input_is_read(self):
        done = self.run_command("show", "-", input=json.dumps(sample_reports.clean()))
        self.assertIn("SUMMARY: ", done.stdout)


class MergeTest(ReportCommandCase):
    def merged(self, *reports):
        paths = [self.file(f"{number}.json", report) for number, report in enumerate(reports)]
        return json.loads(self.output("merge", *paths))

    def ranks(self):
        first = dict(sample_reports.every_kind(), process=sample_reports.process(0, 100))
        second = copy.deepcopy(dict(first, process=sample_reports.process(1, 101)))
        second["leaks"] = second["leaks"][:2]
        second["leaks"][1].update(bytes=84)
        second["leaks"][1]["site"].update(count=1, bytes=84)
        for one in second["leaks"][1]["site"]["stack"]:
            one["column"] = 77
        return sample_reports.sums(first), sample_reports.sums(second)

    def test_one_place_is_one_leak(self):
        first, second = self.ranks()
        merged = self.merged(first, second)
        self.assertEqual(len(merged["leaks"]), 7)
        leaks = {leak["kind"]: leak for leak in merged["leaks"]}
        self.assertEqual((leaks["retained"]["bytes"], leaks["retained"]["site"]["count"]), (504, 6))
        self.assertEqual(leaks["retained"]["ranks"], {"count": 2, "of": 2, "bytes_min": 84, "bytes_max": 420})
        self.assertEqual(leaks["lost"]["ranks"], {"count": 1, "of": 2, "bytes_min": 440, "bytes_max": 440})
        self.assertEqual(leaks["result"]["graph"]["sites"][0]["bytes"], 2 * 3072)
        self.assertEqual(leaks["result"]["growth"], {"tensors_per_iteration": 2.0, "bytes_per_iteration": 2568.0, "iterations": 240})
        self.assertEqual(leaks["result"]["holders"][0]["count"], 6)
        self.assertEqual(merged["leaks"], sorted(merged["leaks"], key=lambda leak: -leak["bytes"]))

    def test_sums_add_up(self):
        first, second = self.ranks()
        merged = self.merged(first, second)
        for key in ["leaked", "attributed"]:
            for part in first[key]:
                self.assertEqual(merged[key][part], first[key][part] + second[key][part])
        self.assertEqual(merged["held"]["bytes"], sum(site["bytes"] for site in merged["held"]["sites"]))
        self.assertEqual([one["rank"] for one in merged["processes"]], [0, 1])
        self.assertEqual([line["process"] for line in merged["timeline"]["devices"]], ["rank 0", "rank 1"])
        self.assertEqual(merged["devices"][0]["live_bytes"], first["devices"][0]["live_bytes"] + second["devices"][0]["live_bytes"])
        self.assertEqual(merged["suppressed"], [{"rule": "leak:cache_", "count": 4, "bytes": 198}])
        self.assertEqual(merged["health"], first["health"])
        self.assertEqual(merged["uses_after_release"][0]["times"], 6)

    def test_merged_reports_merge_as_their_processes(self):
        first, second = self.ranks()
        at_once = self.merged(first, second, first)
        step = self.merged(first, second)
        self.assertEqual(self.merged(step, first), at_once)

    def test_other_lines_are_other_places(self):
        first = sample_reports.every_kind()
        other = json.loads(json.dumps(first).replace('"line": 11', '"line": 12'))
        self.assertEqual([leak["kind"] for leak in self.merged(first, other)["leaks"]].count("retained"), 2)

    def test_the_text_says_how_many_have_it(self):
        first, second = self.ranks()
        path = self.folder / "merged.json"
        paths = [self.file("a.json", first), self.file("b.json", second)]
        self.assertEqual(self.output("merge", "-o", path, *paths), "")
        self.assertIn("  on 2 of 2 processes, with 84 to 420 bytes each\n", self.output("show", path))

    def test_the_output_may_be_an_input(self):
        path = self.file("a.json", sample_reports.every_kind())
        self.output("merge", "-o", path, path, path)
        self.assertEqual(len(json.loads(path.read_text())["processes"]), 2)

    def test_a_report_that_is_missing_leaves_nothing_behind(self):
        self.complaint("merge", "-o", "out.json", self.file("a.json", sample_reports.clean()), "absent.json")
        self.assertFalse((self.folder / "out.json").exists())


class DiffTest(ReportCommandCase):
    def diff(self, before, after, *options, status):
        return self.output("diff", *options, self.file("a.json", before), self.file("b.json", after), status=status)

    def test_the_same_is_no_difference(self):
        report = sample_reports.every_kind()
        self.assertEqual(self.diff(report, report, status=0), "SUMMARY: tensorscope: diff: 0 new, 0 grew, 0 shrank, 0 gone, 10 the same; +0 bytes (0 -> 0)\n")

    def test_columns_and_addresses_do_not_matter(self):
        moved = json.loads(json.dumps(sample_reports.every_kind()).replace('"column": 3', '"column": 9').replace('"pid": 4711', '"pid": 1'))
        self.assertIn("10 the same", self.diff(sample_reports.every_kind(), moved, status=0))

    def test_what_grew_fails(self):
        after = sample_reports.every_kind()
        after["leaks"][1]["bytes"] += 84
        after["leaks"][1]["site"].update(count=6, bytes=504)
        text = self.diff(sample_reports.every_kind(), after, status=1)
        self.assertTrue(text.startswith("GREW: +84 bytes (420 -> 504), +1 tensors (5 -> 6)\n  LEAK: 504 bytes in 6 tensors that were retained"), text)
        self.assertIn("    #0 step_11(int) /src/app/model.cpp:11:3\n", text)
        self.assertIn("diff: 0 new, 1 grew, 0 shrank, 0 gone, 9 the same; +84 bytes (420 -> 504)", text)

    def test_what_is_new_fails_and_what_is_gone_does_not(self):
        some = sample_reports.every_kind()
        some["leaks"] = some["leaks"][:3]
        self.assertIn("NEW: +440 bytes (0 -> 440), +1 tensors (0 -> 1)\n", self.diff(some, sample_reports.every_kind(), status=1))
        text = self.diff(sample_reports.every_kind(), some, status=0)
        self.assertIn("GONE: -440 bytes (440 -> 0), -1 tensors (1 -> 0)\n", text)
        self.assertIn("0 new, 0 grew, 0 shrank, 4 gone", text)

    def test_more_uses_fail(self):
        after = sample_reports.every_kind()
        after["uses_after_release"][0]["times"] = 9
        self.assertTrue(self.diff(sample_reports.every_kind(), after, status=1).startswith("GREW: +6 uses (3 -> 9)\n"))

    def test_what_is_held_counts_where_it_is_asked_for(self):
        after = sample_reports.every_kind()
        after["held"]["sites"][0]["bytes"] = 8000
        self.diff(sample_reports.every_kind(), after, status=0)
        self.assertIn("GREW: +7200 bytes (800 -> 8000)", self.diff(sample_reports.every_kind(), after, "--held", status=1))

    def test_json_says_the_same(self):
        after = sample_reports.every_kind()
        del after["leaks"][3]
        difference = json.loads(self.diff(sample_reports.every_kind(), after, "--json", status=0))
        self.assertEqual((difference["worse"], difference["same"]), (False, 9))
        (change,) = difference["changes"]
        self.assertEqual((change["change"], change["before"], change["after"]), ("gone", {"count": 1, "bytes": 440}, {"count": 0, "bytes": 0}))
        self.assertEqual(change["entry"]["kind"], "lost")


class RefusalTest(ReportCommandCase):
    def test_files_that_are_none(self):
        self.assertIn("absent.json: No such file or directory", self.complaint("show", "absent.json"))
        self.assertIn("Is a directory", self.complaint("show", self.folder))

    def test_a_report_that_breaks_off(self):
        text = json.dumps(sample_reports.every_kind())
        for length in [1, 100, len(text) // 2, len(text) - 1]:
            path = self.file("a.json", text[:length])
            self.assertIn(f"{path}: byte {length}: the report breaks off here", self.complaint("show", path))
        self.assertIn("byte 0: the file is empty", self.complaint("show", self.file("a.json", "")))

    def test_what_is_no_json(self):
        self.assertIn("a.json: byte 1: no JSON: ", self.complaint("show", self.file("a.json", "SUMMARY: tensorscope: 1 byte leaked")))
        self.assertIn("a.json: byte 12: no JSON: ", self.complaint("diff", self.file("a.json", '{"version":}'), self.file("b.json", "{}")))
        self.assertIn("no JSON: ", self.complaint("show", self.file("a.json", '{"version": 1}\nsecond')))
        (self.folder / "b").write_bytes(b'{"version": 1, "leaks": ["\xff\xfe"]}')
        self.assertIn("byte 27: no JSON: ", self.complaint("show", self.folder / "b"))

    def test_json_that_is_no_report(self):
        for text in ["{}", "[]", "3", '"version"', '{"version": 1}', '{"leaks": []}']:
            self.assertIn(": no report of tensorscope: an object with 'version' and 'leaks' was expected",
                          self.complaint("show", self.file("a.json", text)))

    def test_another_version(self):
        self.assertIn("byte 12: version 2 of the report's schema is not known here, only version 1",
                      self.complaint("show", self.file("a.json", '{"version":2, "leaks": []}')))

    def test_a_foreign_value_is_named_with_its_byte(self):
        report = sample_reports.every_kind()
        report["leaks"][1]["site"]["count"] = "many"
        text = json.dumps(report)
        byte = text.index('"many"') + len('"many"')
        self.assertIn(f"byte {byte}: 'count' of a site is no whole number from 0 on", self.complaint("show", self.file("a.json", text)))
        self.assertIn("'leaks' is no list", self.complaint("show", self.file("a.json", '{"version": 1, "leaks": {}}')))
        self.assertIn("a site is no object", self.complaint("show", self.file("a.json", '{"version":1,"leaks":[{"kind":"lost","bytes":3}]}')))

    def test_nesting_without_end(self):
        deep = "[" * 100000 + "]" * 100000
        self.assertIn("more than 256 objects and lists in each other",
                      self.complaint("merge", self.file("a.json", '{"version":1,"leaks":[],"later":' + deep + "}")))

    def test_odd_values_elsewhere_break_nothing(self):
        report = sample_reports.every_kind()
        report.update(process=[], devices={}, timeline="none", health=[3, None], suppressed=[1], held=[], leaked="all", attributed=None)
        report["leaks"][0].update(scopes=3, graph=[], holders=[{"chain": [1]}, 4], growth={"bytes_per_iteration": 1e300}, runs=-5)
        report["leaks"][1]["site"].update(stack=[None, 7, {"user": "yes"}], tensor=9)
        path = self.file("a.json", report)
        for form in ["text", "json", "html", "folded", "speedscope", "sarif", "memory_viz"]:
            self.output("convert", "--to", form, "-o", "out", path)
        self.output("show", path)
        self.output("merge", path, path)
        self.output("diff", "--held", path, path)

    def test_words_that_do_not_fit(self):
        path = self.file("a.json", sample_reports.clean())
        self.assertIn("no command given", self.complaint())
        self.assertIn("no command 'shwo'", self.complaint("shwo", path))
        self.assertIn("show: error: no report given; try 'tensorscope report show --help'", self.complaint("show"))
        self.assertIn("'b.json' is too much: 1 report is taken", self.complaint("show", path, "b.json"))
        self.assertIn("a second report is missing", self.complaint("diff", path))
        self.assertIn("'--colour' is not known", self.complaint("show", "--colour", path))
        self.assertIn("'-x' is not known", self.complaint("show", "-x", path))
        self.assertIn("'--to' lacks its value", self.complaint("convert", path, "--to"))
        self.assertIn("no format 'xml': use one of text, json, html,", self.complaint("convert", "--to", "xml", path))
        self.assertIn("no --to FORMAT given", self.complaint("convert", path))
        self.assertIn("bad value 'many' for '--max-leaks'", self.complaint("show", "--max-leaks", "many", path))
        self.assertIn("no such folder", self.complaint("convert", "--to", "sarif", "--source-root", "absent", path))

    def test_output_that_does_not_arrive(self):
        path = self.file("a.json", sample_reports.clean())
        self.assertIn("cannot write absent/out.json: No such file", self.complaint("merge", "-o", "absent/out.json", path))
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([*self.command, "show", path], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot write to standard output: No space left on device", done.stderr)

    def test_help_is_there_for_each(self):
        for words in [[], ["show"], ["merge"], ["convert"], ["diff"]]:
            self.assertTrue(self.output(*words, "--help").startswith("usage: tensorscope report " + " ".join(words)), words)
        self.assertIn("exit status: 1 when something grew", self.output("diff", "-h"))
        for form in ["text", "json", "html", "folded", "speedscope", "sarif", "memory_viz"]:
            self.assertIn(f"\n  {form} ", self.output("convert", "--help"))


if __name__ == "__main__":
    ReportCommandCase.command = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
