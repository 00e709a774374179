#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a report, in a headless Chromium: its figures are the report's, and searching and looking closer work.

  page_test.py REPORT_PROGRAM CHROMIUM [--pictures FOLDER]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import sample_reports
from browser import Browser


class PageTest(unittest.TestCase):
    program = chromium = ""
    pictures = None

    @classmethod
    def setUpClass(cls):
        cls.folder_object = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.folder_object.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder_object.cleanup()

    def page(self, name, report):
        source, target = self.folder / f"{name}.json", self.folder / f"{name}.html"
        source.write_text(json.dumps(report))
        subprocess.run([self.program, "convert", "--to", "html", "-o", target, source], check=True, timeout=120)
        return target

    def visit(self, name, report, fragment="", dark=False):
        """A browser that shows the page; when the test ends it must have had nothing to complain of, and fetched nothing."""
        browser = Browser(self.chromium, dark=dark)
        self.addCleanup(browser.__exit__)
        browser.open(self.page(name, report), fragment=fragment)
        self.addCleanup(self.check_quiet, browser)
        if self.pictures:
            browser.picture(self.pictures / f"{name}{'-dark' if dark else ''}.png")
        return browser

    def check_quiet(self, browser):
        browser.evaluate("1")  # what it had to say has arrived
        self.assertEqual((browser.complaints, browser.requests), ([], []))

    def cards(self, browser):
        return {name: int(value) for name, value in zip(browser.data(".card", "name"), browser.data(".card", "exact"))}

    def test_the_figures_are_those_of_the_report(self):
        report = sample_reports.every_kind()
        browser = self.visit("every_kind", report)
        self.assertEqual(self.cards(browser), {
            "leaked": report["leaked"]["bytes"], "escaped and still held": 1, "uses after release": 2, "sessions left open": 1,
            "held, no leak": report["held"]["bytes"], "live on cpu": report["devices"][0]["live_bytes"],
            "peak on cpu": report["devices"][0]["peak_bytes"], "attributed": report["attributed"]["bytes"]})
        self.assertIn("5,768 bytes in 34 tensors", browser.texts(".card .more"))
        self.assertEqual(browser.data("#flame", "bytes"), [str(report["leaked"]["bytes"])])
        self.assertTrue(browser.text("#summary").startswith("SUMMARY: tensorscope: 5768 bytes leaked in 34 tensors;"))
        self.assertEqual(browser.data(".timeline", "peak"), [str(max(report["timeline"]["devices"][0]["peak"]))])
        rows = dict(zip(browser.texts("#groups tbody .kind"), map(int, browser.data("#groups tbody tr", "bytes"))))
        leaks = {leak["kind"].replace("_", " "): leak["bytes"] for leak in report["leaks"]}
        self.assertEqual(rows, {**leaks, "escape": 132, "use after release": 132, "open session": 800})
        remarks = browser.texts("#remarks li")
        self.assertIn("LibTorch's CPU allocator was replaced", remarks)
        self.assertIn("suppressed by 'leak:cache_': 99 bytes in 2 tensors", remarks)

    def test_a_group_is_looked_into(self):
        browser = self.visit("every_kind", sample_reports.every_kind())
        browser.click("#groups tbody tr[data-group='0']")
        detail = browser.text("#detail")
        for part in ["LEAK: 3852 bytes in 3 tensors returned from 3 runs", "return loss.item() or loss.detach()", "step_10(int)",
                     "the scope at /src/app/main.cpp:20", "growth: +1.3 KiB per iteration", "static 'losses'",
                     "its backward() keeps 3.75 KiB in 12 tensors", "aten::tanh Float [8, 4] on cpu"]:
            self.assertIn(part, detail)
        self.assertNotIn("at::_ops::mul", detail)
        browser.click("#detail button:not(#close)")
        self.assertIn("at::_ops::mul", browser.text("#detail"))
        self.assertEqual(browser.evaluate("location.hash"), "#group=0")
        browser.key("Escape")
        self.assertTrue(browser.evaluate("document.getElementById('detail').hidden"))

    def test_a_use_shows_its_three_places(self):
        browser = self.visit("every_kind", sample_reports.every_kind())
        number = browser.evaluate("report.groups.find((group) => group.kind === 'use_after_release').number")
        browser.click(f"#groups tbody tr[data-group='{number}']")
        self.assertEqual(browser.texts("#detail h4"), ["used here", "released here", "created here"])

    def test_the_address_leads_to_a_group(self):
        browser = self.visit("every_kind", sample_reports.every_kind(), fragment="#q=retained&group=1")
        self.assertIn("LEAK: 420 bytes", browser.text("#detail h3"))
        self.assertEqual(browser.data("#found", "groups"), ["1"])

    def test_ten_thousand_groups_are_searched_and_sorted(self):
        report = sample_reports.many()
        browser = self.visit("many", report)
        self.assertEqual(self.cards(browser)["leaked"], report["leaked"]["bytes"])
        self.assertEqual(browser.data("#found", "groups"), ["10000"])
        self.assertEqual(browser.evaluate("document.querySelectorAll('#groups tbody tr').length"), 200)
        browser.click("#search")
        browser.type("[4711, 3] piled")
        wanted = [leak for leak in report["leaks"] if "[4711, 3]" in leak["site"]["tensor"] and leak["kind"] == "piled"]
        self.assertEqual(browser.data("#found", "groups"), [str(len(wanted))])
        browser.evaluate("document.getElementById('search').select()")
        browser.type("step_12(int) retained")
        wanted = [leak for leak in report["leaks"] if leak["kind"] == "retained"
                  and any(frame["function"] == "step_12(int)" for frame in leak["site"]["stack"])]
        self.assertEqual(browser.data("#groups tbody tr", "bytes"), [str(leak["bytes"]) for leak in wanted[:200]])
        browser.click("th[data-key='bytes'] button")
        self.assertEqual(browser.data("#groups tbody tr", "bytes"), [str(leak["bytes"]) for leak in wanted[::-1][:200]])
        browser.click("th[data-key='count'] button")
        counts = [int(count) for count in browser.data("#groups tbody tr", "count")]
        self.assertEqual(counts, sorted(counts, reverse=True))
        took = browser.evaluate("(() => { const begin = performance.now(); table.query = 'step_1'; update(); return performance.now() - begin; })()")
        self.assertLess(took, 2000)

    def test_more_rows_come_when_asked_for(self):
        browser = self.visit("many", sample_reports.many(500))
        browser.click("#more")
        browser.click("#more")
        self.assertEqual(browser.evaluate("document.querySelectorAll('#groups tbody tr').length"), 500)
        self.assertTrue(browser.evaluate("document.getElementById('more').hidden"))

    def test_the_flame_graph_is_looked_into(self):
        report = sample_reports.every_kind()
        browser = self.visit("every_kind", report)
        frames = dict(zip(browser.texts("#flame .frame"), map(int, browser.data("#flame .frame", "bytes"))))
        self.assertEqual(frames["leaked"], 5768)
        self.assertEqual(frames["main main.cpp:9"], 5768)
        self.assertEqual(frames["step_40(int) model.cpp:40"], 3072)
        self.assertNotIn("_start", frames)
        number = browser.texts("#flame .frame").index("step_40(int) model.cpp:40") + 1
        browser.click(f"#flame .frame:nth-child({number})")
        self.assertEqual(browser.texts("#flame .frame"),
                         ["leaked", "main main.cpp:9", "step_40(int) model.cpp:40", "aten::randn Float [8, 16] on cpu"])
        browser.click("#flame-reset")
        self.assertEqual(len(browser.texts("#flame .frame")), len(frames))
        browser.click("#flame-all")
        self.assertEqual(browser.data("#flame", "bytes"), [str(report["leaked"]["bytes"] + report["held"]["bytes"] + 800)])
        browser.click("#flame-library")
        self.assertIn("_start", browser.texts("#flame .frame"))

    def test_kinds_are_shown_and_hidden(self):
        browser = self.visit("every_kind", sample_reports.every_kind())
        self.assertNotIn("held", browser.texts("#groups tbody .kind"))
        browser.click("#kinds [data-kind='held']")
        browser.click("#kinds [data-kind='lost']")
        kinds = browser.texts("#groups tbody .kind")
        self.assertEqual((kinds.count("held"), kinds.count("lost")), (2, 0))

    def test_names_are_text_whatever_they_hold(self):
        report = sample_reports.hostile()
        browser = self.visit("hostile", report)
        self.assertEqual(browser.evaluate("document.scripts.length"), 2)
        self.assertEqual(self.cards(browser)["leaked"], report["leaked"]["bytes"])
        browser.click("#groups tbody tr[data-group='0']")
        self.assertIn("</script><script>alert('x')</script>", browser.text("#detail ol"))
        self.assertEqual(browser.evaluate("document.querySelectorAll('#detail script, #detail b').length"), 0)

    def test_a_clean_report_and_a_merged_one_are_pages_too(self):
        browser = self.visit("clean", sample_reports.clean(), dark=True)
        self.assertEqual((self.cards(browser)["leaked"], browser.text("#found")), (0, "0 groups, 0 bytes"))
        paths = []
        for rank in range(3):
            paths.append(self.folder / f"rank{rank}.json")
            paths[-1].write_text(json.dumps(dict(sample_reports.every_kind(), process=sample_reports.process(rank))))
        merged = subprocess.run([self.program, "merge", *paths], capture_output=True, text=True, check=True, timeout=60).stdout
        browser = self.visit("merged", json.loads(merged), fragment="#group=0")
        self.assertEqual(browser.text("#process"), "3 processes")
        self.assertEqual(browser.texts(".legend span"), ["rank 0", "rank 1", "rank 2"])
        self.assertIn("on 3 of 3 processes, with 3852 bytes each", browser.text("#detail"))


if __name__ == "__main__":
    PageTest.program, PageTest.chromium = sys.argv[1:3]
    if "--pictures" in sys.argv:
        PageTest.pictures = pathlib.Path(sys.argv[sys.argv.index("--pictures") + 1])
        PageTest.pictures.mkdir(exist_ok=True)
    unittest.main(argv=sys.argv[:1])
