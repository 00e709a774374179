# SPDX-License-Identifier: Apache-2.0
"""Shows that check_consistency.py catches each violation, and leaves what is right beside it alone."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).with_name("check_consistency.py")
LICENSE = "// SPDX-License-Identifier: Apache-2.0\n"


def check(files, license_line=LICENSE):
    """Runs the checker on a tree made of {path: text}; gives its exit status and its output."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(license_line + text)
        done = subprocess.run([sys.executable, CHECKER, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class ConsistencyTest(unittest.TestCase):
    def assert_caught(self, files, message, license_line=LICENSE):
        status, output = check(files, license_line)
        self.assertIn(message, output)
        self.assertIn("1 violations", output)
        self.assertEqual(status, 1)

    def assert_clean(self, files):
        status, output = check(files)
        self.assertIn(" 0 violations", output)
        self.assertEqual(status, 0)

    def test_an_include_with_the_arrows_is_fine(self):
        self.assert_clean({
            "analyzer/utils/Ast.h": "",
            "analyzer/model/Types.h": '#include "utils/Ast.h"\n',
            "analyzer/dataflow/Facts.h": '#include "model/Types.h"\n',
            "analyzer/checks/LoopCheck.h": '#include "dataflow/Facts.h"\n#include "utils/Ast.h"\n',
            "analyzer/checks/LoopCheck.cpp": '#include "LoopCheck.h"\n',
            "analyzer/Module.cpp": '#include "checks/LoopCheck.h"\n',
            "runtime/src/platform/clock.h": "",
            "runtime/src/core/ledger.h": '#include "platform/clock.h"\n',
            "runtime/src/hooks/observer.cpp": '#include <ATen/ATen.h>\n#include "core/ledger.h"\n',
            "runtime/src/report/text.cpp": '#include "core/ledger.h"\n',
            "runtime/src/api/scope.cpp": '#include "hooks/observer.h"\n#include "report/text.h"\n',
        })

    def test_an_include_against_an_analyzer_arrow_is_caught(self):
        layers = ["utils", "model", "dataflow", "checks"]
        for lower, upper in [(low, up) for index, low in enumerate(layers) for up in layers[index + 1:]]:
            with self.subTest(f"{lower} includes {upper}"):
                self.assert_caught(
                    {f"analyzer/{upper}/Upper.h": "", f"analyzer/{lower}/Lower.cpp": f'#include "{upper}/Upper.h"\n'},
                    f"analyzer/{lower}/Lower.cpp:2: analyzer/{lower} must not include analyzer/{upper}")

    def test_an_include_against_a_runtime_arrow_is_caught(self):
        for lower, upper in [("platform", "core"), ("core", "hooks"), ("core", "report"), ("core", "api"),
                             ("hooks", "api"), ("report", "api"), ("hooks", "report")]:
            with self.subTest(f"{lower} includes {upper}"):
                layer = "runtime" if upper == "api" else f"runtime/src/{upper}"
                self.assert_caught(
                    {f"runtime/src/{upper}/upper.h": "", f"runtime/src/{lower}/lower.cpp": f'#include "{upper}/upper.h"\n'},
                    f"runtime/src/{lower}/lower.cpp:2: runtime/src/{lower} must not include {layer}")

    def test_a_public_header_that_includes_a_private_one_is_caught(self):
        self.assert_caught(
            {"runtime/src/core/ledger.h": "", "runtime/include/tensorscope/scope.h": '#include "core/ledger.h"\n'},
            "runtime/include must not include runtime/src/core")

    def test_an_include_through_dots_is_led_to_its_file(self):
        self.assert_caught(
            {"analyzer/checks/Text.h": "", "analyzer/model/Types.h": '#include "../checks/Text.h"\n'},
            "analyzer/model must not include analyzer/checks")

    def test_the_halves_must_not_include_each_other(self):
        self.assert_caught(
            {"runtime/include/tensorscope/scope.h": "", "analyzer/tool/Main.cpp": "#include <tensorscope/scope.h>\n"},
            "analyzer must not include runtime/include")
        self.assert_caught(
            {"analyzer/model/Types.h": "", "runtime/src/api/scope.cpp": '#include "model/Types.h"\n'},
            "runtime must not include analyzer/model")

    def test_a_check_that_includes_another_is_caught(self):
        pages = {"docs/checks/hidden-loop.md": "", "docs/checks/leak.md": ""}
        for name in ["HiddenLoop.h", "HiddenLoop.cpp"]:
            with self.subTest(name):
                self.assert_caught(
                    {**pages, f"analyzer/checks/{name}": "", "analyzer/checks/Leak.cpp": f'#include "checks/{name}"\n'},
                    f"analyzer/checks/Leak.cpp:2: a check must not include another check (checks/{name})")
        self.assert_clean({
            **pages, "analyzer/checks/Shared.h": "", "analyzer/checks/Leak.h": "",
            "analyzer/checks/Leak.cpp": '#include "Leak.h"\n#include "Shared.h"\n',
        })

    def test_dataflow_that_calls_diag_is_caught_but_not_its_mention(self):
        self.assert_caught({"analyzer/dataflow/Flow.cpp": "\nvoid f() { diag(Loc); }\n"},
                           "analyzer/dataflow/Flow.cpp:3: dataflow reports findings as data")
        self.assert_clean({"analyzer/dataflow/Flow.cpp": '// never diag(Loc)\nauto Text = "diag(x)"; int diagonal(int);\n'})
        self.assert_clean({"analyzer/checks/Text.cpp": "void f() { diag(Loc); }\n"})

    def test_a_model_that_includes_a_control_flow_header_is_caught(self):
        self.assert_caught({"analyzer/model/Types.cpp": '#include "clang/Analysis/CFG.h"\n'}, "model knows no control flow")
        self.assert_clean({"analyzer/dataflow/Flow.cpp": '#include "clang/Analysis/CFG.h"\n'})

    def test_a_core_file_that_includes_clang_tidy_is_caught(self):
        self.assert_caught({"analyzer/checks/LoopCheck.h": '#include "clang-tidy/ClangTidyCheck.h"\n'}, "no clang-tidy type")
        self.assert_clean({"analyzer/Plugin.cpp": '#include "clang-tidy/ClangTidyCheck.h"\n'})

    def test_a_torch_header_in_core_is_caught_also_through_another_header(self):
        self.assert_caught({"runtime/src/core/ledger.h": "#include <c10/core/Storage.h>\n"}, "no LibTorch header")
        status, output = check({
            "runtime/include/tensorscope/scope.h": "#include <torch/torch.h>\n",
            "runtime/include/tensorscope/error.h": "#include <tensorscope/scope.h>\n",
            "runtime/src/core/ledger.h": "#include <tensorscope/error.h>\n",
        })
        self.assertIn("runtime/src/core/ledger.h:2: no LibTorch header in this layer, but torch/torch.h is included "
                      "through tensorscope/error.h", output)
        self.assertEqual(status, 1)

    def test_headers_that_include_each_other_end_the_search(self):
        self.assert_clean({"runtime/src/core/a.h": '#include "core/b.h"\n', "runtime/src/core/b.h": '#include "core/a.h"\n'})

    def test_a_file_without_a_licence_line_is_caught(self):
        for path in ["runtime/src/core/ledger.cpp", "analyzer/CMakeLists.txt", "bootstrap", "test/tool.py", "cmake/Find.cmake"]:
            with self.subTest(path):
                self.assert_caught({path: "int x;\n"}, f"{path}:1: no line", license_line="")
        self.assertEqual(check({"docs/page.md": "words\n", "a.cpp": LICENSE}, license_line="")[0], 0)

    def test_a_path_of_one_machine_is_caught(self):
        for place in ["home/ann/x", "root/x", "work/main", "Users/ann"]:
            with self.subTest(place):
                self.assert_caught({"docs/page.md": f"see /{place}\n"}, f"docs/page.md:2: a path of one machine: /{place[:4]}")
        self.assert_clean({"docs/page.md": "see docs/work/main, ~/work/x, $PWD/home/y and /usr/lib/llvm-22\n"})

    def test_the_host_of_a_registry_is_caught(self):
        self.assert_caught({"docs/page.md": "from " + "pypi" + ".org/simple\n"}, "the host of a registry")
        self.assert_clean({"docs/page.md": "from PyPI\n"})

    def test_a_long_file_is_a_warning_and_no_violation(self):
        status, output = check({"runtime/src/core/ledger.cpp": "\n" * 400})
        self.assertIn("401 lines, 400 are wanted at most (warning)", output)
        self.assertEqual(status, 0)
        self.assertIn("250 are wanted at most", check({"analyzer/checks/LoopCheck.cpp": "\n" * 250})[1])
        self.assertNotIn("warning", check({"runtime/src/core/ledger.cpp": "\n" * 399})[1])

    def test_a_build_folder_is_not_looked_at(self):
        self.assert_clean({"build/x/a.cpp": "see /" + "home/ann\n", "b.cpp": ""})

    def test_an_empty_tree_is_an_error(self):
        self.assertEqual(check({})[0], 2)


if __name__ == "__main__":
    unittest.main()
