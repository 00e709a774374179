# SPDX-License-Identifier: Apache-2.0
"""tensorscope-clangd on the example project, on LibTorch's own headers and the build's compile commands.

  examples_test.py SERVER BUILD_FOLDER [unittest's arguments]

Four of its files are opened, which have all four rules of scopes: parsing LibTorch's headers takes most of the time.
"""
import pathlib
import sys
import unittest

from language_server import LanguageServer, ours

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "test/examples"
RULES = {"discarded-scope-result", "unretained-escape", "unscoped-loop", "use-after-release"}


def planted(name):
    rows = (row.split("\t") for row in (EXAMPLES / "expected-findings.tsv").read_text().splitlines()[1:])
    return [(int(line), rule) for file, line, rule in rows if file == name]


class ExamplesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [SERVER, "--background-index=false", "-j=2", f"--compile-commands-dir={BUILD}"]
        cls.server = cls.enterClassContext(LanguageServer(command, ROOT, patience=600))

    def published(self, name):
        path = EXAMPLES / name
        self.server.open(path)
        self.addCleanup(self.server.close, path)
        return ours(self.server.diagnostics(path))

    def test_the_planted_lines_are_told_while_typing(self):
        seen = set()
        for name in ["planted/trainer.cpp", "planted/embedding_cache.cpp"]:
            self.assertEqual(self.published(name), planted(name))
            seen.update(rule for _, rule in planted(name))
        self.assertLessEqual(RULES, seen)
        path = EXAMPLES / "planted/embedding_cache.cpp"
        text = path.read_text()
        line, rule = planted("planted/embedding_cache.cpp")[-1]
        lines = text.split("\n")
        self.server.change(path, "\n".join(lines[:line - 1] + ["return count;"] + lines[line:]))
        self.assertEqual(ours(self.server.diagnostics(path)), planted("planted/embedding_cache.cpp")[:-1])
        self.server.change(path, text)
        self.assertEqual(ours(self.server.diagnostics(path)), planted("planted/embedding_cache.cpp"))

    def test_the_clean_twin_has_nothing_of_ours(self):
        for name in ["clean/trainer.cpp", "clean/embedding_cache.cpp"]:
            self.assertEqual(self.published(name), [])


if __name__ == "__main__":
    SERVER, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
