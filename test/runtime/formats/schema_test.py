#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what programs write, and what is merged, against docs/runtime/report.schema.json; and the schema against its page.

  schema_test.py REPORT_PROGRAM FOLDER_OF_REPORT_PROGRAMS
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

import sample_reports

DOCS = pathlib.Path(__file__).parents[3] / "docs/runtime"
SCHEMA = json.loads((DOCS / "report.schema.json").read_text())
# Program, its arguments, further options, and what its report must hold.
PROGRAMS = [
    ("retained", [], "", {"retained"}), ("graph", [], "", {"result", "graph"}), ("lost", [], "", {"lost"}),
    ("unreachable", [], "", {"lost", "cycle", "exported"}),
    ("escape", [], "", {"escape", "use"}), ("left_alive", [], ":on_escape=report", set()),
    ("escaped_graph", [], ":on_escape=report", {"left_alive"}), ("session", [], "", {"session"}),
    ("session", ["exit"], "", {"session"}), ("release", [], "", {"use"}), ("clean", [], "", set()),
    ("threads", [], "", {"retained"}), ("retained", [], ":sample=0", {"retained"}), ("retained_stripped", [], "", {"retained"})]


def strict(schema):
    """The same without the liberty to add keys, so that each key of a report is described."""
    schema = copy.deepcopy(schema)

    def close(part):
        if isinstance(part, dict):
            if "properties" in part:
                part["additionalProperties"] = False
            for value in part.values():
                close(value)
        elif isinstance(part, list):
            for value in part:
                close(value)
    close(schema)
    return schema


def errors_of(report, schema=None):
    validator = jsonschema.Draft202012Validator(strict(SCHEMA) if schema is None else schema)
    return [f"{list(error.absolute_path)}: {error.message[:200]}" for error in validator.iter_errors(report)]


def found_in(report):
    return ({leak["kind"] for leak in report["leaks"]} | {"exported" for leak in report["leaks"] if "exported" in leak}
            | ({"use"} if report["uses_after_release"] else set()) | ({"session"} if report["open_sessions"] else set()))


class SchemaTest(unittest.TestCase):
    program = ""
    programs = pathlib.Path()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_schema_is_one(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_reports_of_programs_follow_it(self):
        for name, arguments, options, wanted in PROGRAMS:
            with self.subTest(f"{name} {arguments} {options}"):
                program = self.programs / f"report_{name}"
                if not program.exists():
                    continue  # left out under a sanitizer
                file = self.folder / "report.json"
                subprocess.run([program, *arguments], env=dict(os.environ, TENSORSCOPE_OPTIONS=f"report=json:log_path={file}{options}"),
                               capture_output=True, check=False, timeout=100)
                report = json.loads(file.read_text())
                file.unlink()
                self.assertEqual(errors_of(report), [])
                self.assertLessEqual(wanted, found_in(report))
                self.check_figures(report)

    def check_figures(self, report):
        (device,) = report["devices"]
        (line,) = report["timeline"]["devices"]
        self.assertEqual((device["device"], line["device"]), ("cpu", "cpu"))
        self.assertEqual(device["live_bytes"], report["attributed"]["of"])
        self.assertGreaterEqual(device["peak_bytes"], device["live_bytes"])
        self.assertEqual(len(line["times"]), len(line["live"]))
        self.assertEqual(len(line["times"]), len(line["peak"]))
        self.assertEqual(line["times"], sorted(line["times"]))
        self.assertEqual(line["live"][-1], device["live_bytes"])
        self.assertLessEqual(max(line["peak"]), device["peak_bytes"])

    def test_all_that_parts_may_add_is_described(self):
        for report in [sample_reports.every_kind(), sample_reports.clean(), sample_reports.hostile()]:
            self.assertEqual(errors_of(report), [])

    def test_merged_reports_follow_it(self):
        paths = []
        for rank in range(3):
            paths.append(self.folder / f"{rank}.json")
            paths[-1].write_text(json.dumps(dict(sample_reports.every_kind(), process=sample_reports.process(rank))))
        done = subprocess.run([self.program, "merge", *paths], capture_output=True, text=True, check=True, timeout=60)
        self.assertEqual(errors_of(json.loads(done.stdout)), [])

    def test_later_keys_are_allowed_and_wrong_values_are_not(self):
        report = sample_reports.every_kind()
        report["later"] = report["leaks"][0]["later"] = report["leaks"][0]["holders"][0]["later"] = 1
        self.assertEqual(errors_of(report, SCHEMA), [])
        for spoil in [lambda one: one.update(version=2), lambda one: one["leaks"][0].pop("site"),
                      lambda one: one["leaks"][0].update(bytes=-1), lambda one: one["held"].pop("sites"),
                      lambda one: one["uses_after_release"][0].update(cause="magic")]:
            report = sample_reports.every_kind()
            spoil(report)
            self.assertEqual(len(errors_of(report, SCHEMA)), 1)

    def test_each_key_is_described_here_and_on_the_page(self):
        page = (DOCS / "report-format.md").read_text()

        def look(part, path):
            for name, value in part.get("properties", {}).items():
                self.assertTrue("description" in value or "$ref" in value, f"{path}/{name} is not described")
                self.assertIn(f"`{name}`", page, f"{path}/{name} is not on the page")
                look(value, f"{path}/{name}")
                look(value.get("items", {}), f"{path}/{name}")
        look(SCHEMA, "")
        for name, part in SCHEMA["$defs"].items():
            look(part, name)


if __name__ == "__main__":
    SchemaTest.program, SchemaTest.programs = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
