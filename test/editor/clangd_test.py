# SPDX-License-Identifier: Apache-2.0
"""tensorscope-clangd over the protocol, on the stub LibTorch, beside the stock clangd of the same LLVM.

  clangd_test.py SERVER STOCK_CLANGD [unittest's arguments]
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from language_server import LanguageServer, as_uri, ours

STUB = pathlib.Path(__file__).resolve().parents[2] / "lit-tests/Inputs/torch-stub"
HEAD = "#include <tensorscope/tensorscope.h>\n#include <torch/torch.h>\n"
# One mistake of each rule, and one that a default check of clangd's finds.
TEXT = HEAD + """
double ratio(int a, int b) { return a / b; }

torch::Tensor kept;

void fit(const std::vector<torch::Tensor>& batches) {
  for (const auto& batch : batches) {
    tensorscope::with_torch([&] { return batch + 1; }); // PLANTED discarded-scope-result
  }
  float sum = 0;
  for (const auto& batch : batches) { // PLANTED unscoped-loop
    sum += (batch * 2).sum().item<float>();
  }
  tensorscope::with_torch([&] {
    const auto mean = batches[0].mean();
    if (mean.item<float>() > 0) {
      kept = mean; // PLANTED unretained-escape
    }
  });
  auto x = torch::randn({101, 7});
  tensorscope::release(x);
  (void)x.sum(); // PLANTED use-after-release
}
"""
ALL = ["discarded-scope-result", "unretained-escape", "unscoped-loop", "use-after-release"]


def server_command(server, *options):
    return [server, "--background-index=false", "-j=2", *options]


def planted(text, rules=ALL):
    markers = [(line, re.search(r"// PLANTED ([a-z-]+)$", words)) for line, words in enumerate(text.split("\n"), 1)]
    return [(line, marker[1]) for line, marker in markers if marker and marker[1] in rules]


def others(diagnostics):
    """What is not ours, as it would be shown."""
    return sorted((found["range"]["start"]["line"] + 1, str(found.get("code")), found["severity"], found["message"])
                  for found in diagnostics if not str(found.get("code")).startswith("tensorscope-"))


class ClangdTest(unittest.TestCase):
    """One server, and a stock one beside it where they are compared; a folder for each test."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        flags = ["-xc++", "-std=c++20", "-isystem", str(STUB)]
        (cls.root / "compile_flags.txt").write_text("\n".join(flags))
        cls.server = cls.enterClassContext(LanguageServer(server_command(SERVER), cls.root))
        cls.stock = cls.enterClassContext(LanguageServer(server_command(STOCK), cls.root))

    def file(self, name, text):
        path = self.root / self.id().rpartition(".")[2] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def published(self, path, server=None):
        server = server or self.server
        server.open(path)
        diagnostics = server.diagnostics(path)
        server.close(path)
        return diagnostics

    def assert_configured(self, rules, clang_tidy=None, clangd=None):
        """Of ours exactly these rules are published, and of the rest what the stock clangd says."""
        published = self.configured(self.server, clang_tidy, clangd)
        self.assertEqual(ours(published), planted(TEXT, rules))
        self.assertEqual(others(published), others(self.configured(self.stock, clang_tidy, clangd)))
        return published

    def configured(self, server, clang_tidy=None, clangd=None):
        """What a server publishes for the text beside these files."""
        path = self.file(f"{len(list(self.root.glob('*/*')))}/code.cpp", TEXT)
        for name, text in [(".clang-tidy", clang_tidy), (".clangd", clangd)]:
            if text is not None:
                (path.parent / name).write_text(text)
        return self.published(path, server)

    # -- Configuration

    def test_all_rules_are_on_without_configuration_beside_clangds_own_defaults(self):
        published = self.assert_configured(ALL)
        self.assertIn("bugprone-integer-division", [code for _, code, _, _ in others(published)])

    def test_a_list_of_checks_that_was_written_for_stock_clang_tidy_leaves_ours_on(self):
        published = self.assert_configured(ALL, "Checks: '-*,bugprone-integer-division'")
        self.assertEqual([code for _, code, _, _ in others(published)], ["bugprone-integer-division"])
        self.assert_configured(ALL, "Checks: 'modernize-use-nullptr'")

    def test_a_clang_tidy_file_switches_ours_off(self):
        self.assert_configured([], "Checks: '-*'")
        self.assert_configured([], "Checks: '-*,bugprone-*,-tensorscope-*'")
        self.assert_configured(ALL[:2] + ALL[3:], "Checks: '-*,bugprone-*,-tensorscope-unscoped-loop'")

    def test_a_clang_tidy_file_that_selects_one_of_ours_gets_that_one(self):
        self.assert_configured(["use-after-release"], "Checks: '-*,bugprone-*,tensorscope-use-after-release'")

    def test_a_clangd_file_switches_ours_off(self):
        self.assert_configured([], clangd="Diagnostics: {ClangTidy: {Add: bugprone-*, Remove: tensorscope-*}}")
        self.assert_configured(ALL[1:], clangd="Diagnostics: {Suppress: tensorscope-discarded-scope-result}")
        self.assert_configured([], clangd="Diagnostics: {Suppress: '*'}")

    def test_switching_ours_off_alone_leaves_clangds_defaults_on(self):
        defaults = others(self.configured(self.stock))
        for rules, files in [([], {"clang_tidy": "Checks: '-tensorscope-*'"}),
                             ([], {"clangd": "Diagnostics: {ClangTidy: {Remove: tensorscope-*}}"}),
                             (ALL[:3], {"clangd": "Diagnostics: {ClangTidy: {Remove: tensorscope-use-after-release}}"}),
                             (ALL, {"clangd": "Diagnostics: {ClangTidy: {Add: tensorscope-use-after-release}}"})]:
            with self.subTest(files):
                published = self.configured(self.server, **files)
                self.assertEqual(ours(published), planted(TEXT, rules))
                self.assertEqual(others(published), defaults)

    def test_ours_run_under_each_policy_for_slow_checks(self):
        for policy in ["Strict", "Loose", "None"]:
            with self.subTest(policy):
                self.assert_configured(ALL, clangd=f"Diagnostics: {{ClangTidy: {{FastCheckFilter: {policy}}}}}")

    def test_options_of_checks_and_severities_are_read_from_a_clang_tidy_file(self):
        self.assert_configured(ALL[:2] + ALL[3:], "CheckOptions: {tensorscope-unscoped-loop.Scopes: 'off'}")
        published = self.assert_configured(ALL, "WarningsAsErrors: 'tensorscope-use-after-release'")
        errors = [found["code"] for found in published if found["severity"] == 1]
        self.assertEqual(errors, ["tensorscope-use-after-release"])

    def test_a_model_file_that_cannot_be_read_is_told_at_the_first_line_beside_the_rest(self):
        option = "tensorscope-use-after-release.Models: '/nowhere/model.yml'"
        published = self.configured(self.server, f"CheckOptions: {{{option}}}")
        first = [found["message"] for found in published if found["range"]["start"]["line"] == 0]
        self.assertEqual(first, ["/nowhere/model.yml: No such file or directory"])
        self.assertEqual([found for found in ours(published) if found[0] > 1], planted(TEXT))

    # -- What is shown

    def test_a_diagnostic_has_its_story_and_leads_to_its_page(self):
        published = self.published(self.file("code.cpp", TEXT))
        found = next(each for each in published if each["code"] == "tensorscope-use-after-release")
        self.assertEqual((found["source"], found["severity"]), ("clang-tidy", 2))
        self.assertIn("after it was released", found["message"])
        self.assertIn("Released here", "\n".join(step["message"] for step in found["relatedInformation"]))
        page = pathlib.Path(found["codeDescription"]["href"].removeprefix("file://"))
        self.assertEqual(page.name, "use-after-release.md")
        self.assertIn("# ", page.read_text())
        stranger = next(each for each in published if each["code"] == "bugprone-integer-division")
        self.assertIn("clang.llvm.org", stranger["codeDescription"]["href"])

    def test_a_comment_silences(self):
        text = TEXT.replace("// PLANTED use-after-release", "// NOLINT(tensorscope-use-after-release)")
        self.assertEqual(ours(self.published(self.file("code.cpp", text))), planted(TEXT, ALL[:3]))

    # -- Text that is not whole

    def test_half_typed_text_is_survived_and_whole_text_gets_its_diagnostics_back(self):
        path = self.file("code.cpp", TEXT)
        self.server.open(path)
        start, end = TEXT.index("const auto mean"), TEXT.index("auto x =")
        for count, cut in enumerate(range(start, end, 5)):
            rest = TEXT[end:] if count % 2 else ""
            with self.subTest(f"cut off after {TEXT[cut - 8:cut]!r}"):
                self.server.change(path, TEXT[:cut] + rest)
                self.server.diagnostics(path)
            if count % 8 == 0:
                self.server.change(path, TEXT)
                self.assertEqual(ours(self.server.diagnostics(path)), planted(TEXT))
        self.server.change(path, TEXT)
        self.assertEqual(ours(self.server.diagnostics(path)), planted(TEXT))

    def test_a_function_with_an_error_is_left_out_and_those_around_it_are_checked(self):
        text = TEXT.replace("void fit", "void late() {\n  torch::Tensor y = nothing_of(kept)\n}\n\nvoid fit")
        self.assertEqual(ours(self.published(self.file("code.cpp", text))), planted(text))

    def test_a_missing_header_is_survived_and_diagnostics_are_there_with_it(self):
        path = self.file("code.cpp", '#include "late.h"\n' + TEXT)
        self.assertIn("pp_file_not_found", [found.get("code") for found in self.published(path)])
        self.file("late.h", "")
        self.assertEqual(ours(self.published(path)), planted(path.read_text()))
        without = self.file("without.cpp", TEXT.removeprefix(HEAD))
        self.assertEqual(ours(self.published(without)), [])

    def test_what_a_function_of_a_header_does_is_known(self):
        self.file("part.h", HEAD + "inline void give_up(const torch::Tensor& x) { tensorscope::release(x); }\n")
        text = """#include "part.h"
void f(torch::Tensor x) {
  give_up(x);
  (void)x.sum(); // PLANTED use-after-release
}
"""
        self.assertEqual(ours(self.published(self.file("code.cpp", text))), planted(text))

    def test_of_a_headers_functions_no_more_is_told_than_by_stock_clangd(self):
        wrong = "inline void wrong() { nothing(); }\ntemplate <class T> void wrongs(T t) { nothing(); t.sum(); }\n"
        leak = "inline void leak(torch::Tensor x) { tensorscope::release(x); (void)x.sum(); }\n"
        self.file("part.h", "#pragma once\n" + HEAD + wrong * 20 + leak)
        path = self.file("code.cpp", '#include "part.h"\nvoid f(torch::Tensor x) { leak(x); }\n')
        self.file(".clang-tidy", "WarningsAsErrors: '*'")
        published = self.published(path)
        self.assertEqual(ours(published), [])
        self.assertEqual(others(published), others(self.published(path, self.stock)))

    def test_a_header_with_unsaved_half_typed_text_is_survived(self):
        header = self.file("part.h", "#pragma once\n" + HEAD + "inline void keep(torch::Tensor& x) { x = x + 1; }\n")
        path = self.file("code.cpp", '#include "part.h"\n' + TEXT)
        with LanguageServer(server_command(SERVER, "--use-dirty-headers"), self.root) as server:
            server.open(header, header.read_text()[:-12])
            server.diagnostics(header)
            server.open(path)
            server.diagnostics(path)
            server.change(header, header.read_text())
            server.diagnostics(header)
            server.close(path)
            server.open(path)
            self.assertEqual(ours(server.diagnostics(path)), planted(path.read_text()))
            self.assertEqual(server.shut_down(), 0)


class ProgramTest(unittest.TestCase):
    """The program's options and exit codes are those of the stock clangd."""

    def run_both(self, *arguments):
        results = []
        for program in (SERVER, STOCK):
            done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            results.append((done.returncode, done.stdout, re.sub(r"^.*?(?=Unknown)|\[.*?\]", "", done.stderr)))
        return results

    def assert_same(self, status, *arguments):
        program, stock = self.run_both(*arguments)
        self.assertEqual(program[:2], stock[:2])
        self.assertEqual(program[0], status)
        return program, stock

    def test_version_and_help(self):
        self.assertIn("clangd version", self.assert_same(0, "--version")[0][1])
        program, stock = (re.findall(r"^ +-+[\w-]+", result[1], re.M) for result in self.run_both("--help-hidden"))
        self.assertEqual(program, stock)

    def test_a_bad_option_is_refused(self):
        self.assert_same(1, "--nothing-of-the-kind")
        self.assert_same(1, "-j=0")

    def test_check_mode(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "code.cpp")
            pathlib.Path(folder, "compile_flags.txt").write_text(f"-std=c++20\n-isystem\n{STUB}")
            path.write_text(TEXT)
            self.assert_same(0, f"--check={path}")
            path.write_text("int f() { return nothing; }\n")
            self.assert_same(3, f"--check={path}")
            self.assert_same(1, f"--check={folder}/nowhere.cpp")

    def test_ending_without_being_asked_to_shut_down(self):
        with tempfile.TemporaryDirectory() as folder:
            for program in (SERVER, STOCK):
                with LanguageServer(server_command(program), folder) as server:
                    self.assertEqual(server.exit(), 1)

    def test_no_check_runs_when_clang_tidy_is_off_on_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "code.cpp")
            pathlib.Path(folder, "compile_flags.txt").write_text(f"-std=c++20\n-isystem\n{STUB}")
            path.write_text(TEXT)
            with LanguageServer(server_command(SERVER, "--clang-tidy=false"), folder) as server:
                server.open(path)
                self.assertEqual(server.diagnostics(path), [])

    def test_an_index_on_another_machine_is_told_to_be_unused_and_the_rest_works(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "code.cpp")
            path.write_text("int f() { return nothing; }\n")
            options = ["--remote-index-address=localhost:1", f"--project-root={folder}"]
            with LanguageServer(server_command(SERVER, *options), folder) as server:
                server.open(path)
                self.assertEqual([found["code"] for found in server.diagnostics(path)], ["undeclared_var_use"])
                server.request("workspace/symbol", query="f")
                self.assertEqual(server.shut_down(), 0)
                server.log.seek(0)
                self.assertIn("the remote index at localhost:1 is not used", server.log.read())


if __name__ == "__main__":
    SERVER, STOCK = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
