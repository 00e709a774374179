#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The forms made from a report file: folded stacks, speedscope, SARIF, and the snapshot for PyTorch's memory viewer.

  formats_test.py REPORT_PROGRAM SCHEMA_FOLDER [TORCH_FOLDER]
"""
import json
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema

import sample_reports

ANALYZER_RULES = {"unretained-escape", "use-after-release", "unscoped-loop", "discarded-scope-result"}


class FormatsCase(unittest.TestCase):
    program = ""
    schemas = pathlib.Path()
    torch = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def convert(self, report, form, *options):
        """The bytes of the form, from a file to a file."""
        source, target = self.folder / "report.json", self.folder / f"out.{form}"
        source.write_text(json.dumps(report))
        done = subprocess.run([self.program, "convert", "--to", form, "-o", target, *options, source],
                              capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return target.read_bytes()

    def schema(self, name):
        return json.loads((self.schemas / name).read_text())


class JsonTest(FormatsCase):
    def test_a_report_comes_out_as_it_went_in(self):
        for report in [sample_reports.every_kind(), sample_reports.hostile()]:
            self.assertEqual(json.loads(self.convert(report, "json")), report)

    def test_what_a_later_version_adds_is_kept(self):
        report = dict(sample_reports.clean(), later={"a": [1, 2.5, None]})
        self.assertEqual(json.loads(self.convert(report, "json")), report)


class FoldedTest(FormatsCase):
    def lines(self, report):
        return [line.rsplit(" ", 1) for line in self.convert(report, "folded").decode().split("\n")[:-1]]

    def test_the_bytes_add_up_to_what_leaked_and_what_is_held(self):
        report = sample_reports.every_kind()
        lines = self.lines(report)
        self.assertEqual(sum(int(size) for stack, size in lines if stack.startswith("leaked;")), report["leaked"]["bytes"])
        held = report["held"]["bytes"] + report["open_sessions"][0]["bytes"]
        self.assertEqual(sum(int(size) for stack, size in lines if stack.startswith("held;")), held)

    def test_a_stack_goes_from_main_to_the_tensor(self):
        lines = dict(self.lines(sample_reports.every_kind()))
        self.assertEqual(lines["leaked;main main.cpp:9;step_12(int) model.cpp:12;step_11(int) model.cpp:11;"
                               "aten::mul Float [3, 7] on cpu"], "420")

    def test_names_neither_split_frames_nor_lines(self):
        for stack, size in self.lines(sample_reports.hostile()):
            self.assertRegex(size, r"^[0-9]+$")
            self.assertLessEqual(len(stack.split(";")), 6)

    def test_a_clean_report_has_no_stack(self):
        self.assertEqual(self.lines(sample_reports.clean()), [])


class SpeedscopeTest(FormatsCase):
    def test_it_follows_the_schema_of_the_format(self):
        for report in [sample_reports.every_kind(), sample_reports.clean(), sample_reports.hostile()]:
            profile = json.loads(self.convert(report, "speedscope"))
            jsonschema.validate(profile, self.schema("speedscope.schema.json"), jsonschema.Draft202012Validator)
            for one in profile["profiles"]:
                self.assertEqual(len(one["samples"]), len(one["weights"]))
                self.assertEqual(one["endValue"], sum(one["weights"]))
                for sample in one["samples"]:
                    self.assertTrue(all(0 <= frame < len(profile["shared"]["frames"]) for frame in sample))

    def test_the_weights_are_the_bytes(self):
        report = sample_reports.every_kind()
        leaked, living = json.loads(self.convert(report, "speedscope"))["profiles"]
        self.assertEqual(sum(leaked["weights"]), report["leaked"]["bytes"])
        self.assertEqual(sum(living["weights"]), report["leaked"]["bytes"] + report["held"]["bytes"] + 800)

    def test_frames_have_their_places(self):
        frames = json.loads(self.convert(sample_reports.every_kind(), "speedscope"))["shared"]["frames"]
        self.assertIn({"name": "step_12(int) model.cpp:12", "file": "/src/app/model.cpp", "line": 12}, frames)
        self.assertEqual(len(frames), len({json.dumps(frame) for frame in frames}))


class SarifTest(FormatsCase):
    def log(self, report, *options):
        return json.loads(self.convert(report, "sarif", *options))

    def test_it_has_what_the_standard_requires(self):
        for report in [sample_reports.every_kind(), sample_reports.clean(), sample_reports.hostile()]:
            log = self.log(report)
            jsonschema.validate(log, self.schema("sarif-required.schema.json"), jsonschema.Draft202012Validator)
            (run,) = log["runs"]
            rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
            self.assertEqual(len(rules), len(set(rules)))
            for result in run["results"]:
                self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])

    def test_each_finding_has_the_rule_of_its_mistake(self):
        report = sample_reports.every_kind()
        report["leaks"].append(sample_reports.leak("cycle", 48, sample_reports.site("aten::tanh", "Float [3, 4] on cpu", 1, 48, 19)))
        results = self.log(report)["runs"][0]["results"]
        rules = {result["properties"]["kind"]: result["ruleId"].removeprefix("tensorscope-") for result in results}
        self.assertEqual(rules, {
            "escape": "unretained-escape", "left_alive": "unretained-escape", "use_after_release": "use-after-release",
            "piled": "unscoped-loop", "graph": "graph-retention", "result": "graph-retention", "lost": "raw-handle-leak", "cycle": "reference-cycle",
            "retained": "retained-leak", "open_session": "unbalanced-session"})
        self.assertEqual(len(results), 11)
        for known in ANALYZER_RULES:
            if known in rules.values():
                page = pathlib.Path(__file__).parents[3] / "docs/checks" / f"{known}.md"
                self.assertTrue(page.exists(), page)

    def test_paths_are_relative_to_the_root(self):
        root = self.folder / "a b"
        root.mkdir()
        report = sample_reports.every_kind()
        inside = sample_reports.frame("f()", f"{root}/x y.cpp", 3, column=5)
        report["leaks"] = [dict(report["leaks"][1], site=dict(report["leaks"][1]["site"], stack=[inside]))]
        run = self.log(report, "--source-root", root)["runs"][0]
        self.assertEqual(run["originalUriBaseIds"]["%SRCROOT%"]["uri"], f"file://{str(root).replace(' ', '%20')}/")
        leak = run["results"][-1]
        physical = leak["locations"][0]["physicalLocation"]
        self.assertEqual(physical["artifactLocation"], {"uri": "x%20y.cpp", "uriBaseId": "%SRCROOT%"})
        self.assertEqual(physical["region"], {"startLine": 3, "startColumn": 5})
        outside = leak["relatedLocations"][0]["physicalLocation"]["artifactLocation"]
        self.assertEqual(outside, {"uri": "file:///src/app/main.cpp"})

    def test_a_fingerprint_stays_when_lines_move(self):
        first = sample_reports.every_kind()
        moved = json.loads(json.dumps(first).replace('"line": 11', '"line": 311'))
        prints = [[one["partialFingerprints"] for one in self.log(report)["runs"][0]["results"]] for report in [first, moved]]
        self.assertEqual(prints[0], prints[1])
        self.assertNotEqual(prints[0][-1], prints[0][-2])


class MemoryVizTest(FormatsCase):
    def viewer(self, *words):
        """PyTorch's own reader of snapshots, as a program: it does not import torch."""
        if self.torch is None:
            self.skipTest("no torch/cuda/_memory_viz.py")
        done = subprocess.run([sys.executable, self.torch / "cuda/_memory_viz.py", *words], capture_output=True, text=True,
                              check=False, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def snapshot(self, report):
        data = self.convert(report, "memory_viz")
        (self.folder / "snapshot.pickle").write_bytes(data)
        return pickle.loads(data)

    def test_the_blocks_are_the_living_tensors(self):
        report = sample_reports.every_kind()
        snapshot = self.snapshot(report)
        (segment,) = snapshot["segments"]
        living = report["leaked"]["bytes"] + report["held"]["bytes"] + 800
        self.assertEqual(segment["segment_type"], "cpu")
        self.assertEqual(segment["total_size"], living)
        address = segment["address"]
        for block in segment["blocks"]:
            self.assertEqual(block["address"], address)
            address += block["size"]
        self.assertEqual(address, segment["address"] + living)
        self.assertEqual(len([one for one in segment["blocks"] if one["frames"][0]["name"].startswith("aten::mul")]), 5)

    def test_each_device_is_one_of_the_viewer(self):
        report = sample_reports.every_kind()
        report["leaks"].append(sample_reports.leak("lost", 64, sample_reports.site("aten::ones", "Float [16] on cuda:1", 1, 64, 70)))
        snapshot = self.snapshot(report)
        self.assertEqual([(one["device"], one["segment_type"]) for one in snapshot["segments"]], [(0, "cpu"), (1, "cuda:1")])
        self.assertEqual(len(snapshot["device_traces"]), 2)

    def test_pytorchs_own_reader_counts_the_same_bytes(self):
        report = sample_reports.every_kind()
        self.snapshot(report)
        living = report["leaked"]["bytes"] + report["held"]["bytes"] + 800
        stats = self.viewer("stats", "snapshot.pickle")
        self.assertIn(f"total_allocated: {living / 1024:.1f}KiB", stats)
        self.assertIn("total_free: 0.0B", stats)
        trace = self.viewer("trace", "snapshot.pickle")
        self.assertIn("Device 0", trace)
        self.assertIn("cudaMalloc(", trace)
        self.assertEqual(len(re.findall(r" = (?:\w+)\[", trace)), len(pickle.loads((self.folder / "snapshot.pickle").read_bytes())["segments"][0]["blocks"]))

    def test_pytorchs_own_reader_draws_it(self):
        for report in [sample_reports.every_kind(), sample_reports.hostile(), sample_reports.clean()]:
            self.snapshot(report)
            for plot in ["trace_plot", "segment_plot"]:
                self.viewer(plot, "snapshot.pickle", "-o", f"{plot}.html")
                self.assertIn("MemoryViz.js", (self.folder / f"{plot}.html").read_text())

    def test_many_tensors_of_one_place_are_one_block(self):
        report = sample_reports.clean()
        report["leaks"] = [sample_reports.leak("piled", 4000000, sample_reports.site("aten::ones", "Float [1] on cpu", 1000000, 4000000, 3))]
        (segment,) = self.snapshot(report)["segments"]
        self.assertEqual([block["size"] for block in segment["blocks"]], [4000000])

    def test_large_sizes_are_not_cut(self):
        report = sample_reports.clean()
        report["leaks"] = [sample_reports.leak("lost", 2**40 + 2**31, sample_reports.site("aten::ones", "Byte [9] on cpu", 1, 2**40 + 2**31, 3))]
        self.assertEqual(self.snapshot(report)["segments"][0]["total_size"], 2**40 + 2**31)


if __name__ == "__main__":
    FormatsCase.program, FormatsCase.schemas = sys.argv[1], pathlib.Path(sys.argv[2])
    FormatsCase.torch = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else None
    unittest.main(argv=sys.argv[:1])
