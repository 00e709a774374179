#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is typed at `tensorscope repl`, and what comes back.

  repl_test.py TENSORSCOPE LIBRARY CACHE_FOLDER TEST...
"""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 200  # a machine that is busy takes its time
ADAM = """\
torch::manual_seed(1);
torch::nn::Linear model(4, 1);
retain(model);
torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.05));
auto x = retain(torch::randn({16, 4}));
auto y = retain(x.sum(1, true));
double step() {
  optimizer.zero_grad();
  auto loss = torch::mse_loss(model(x), y);
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}
double first = step();
for (int i = 0; i < 30; ++i) step();
start_session();
for (int i = 0; i < 30; ++i) step();
stop_session();
start_session();
double last = step();
last < first / 2
printf("%a\\n", last);
"""


class Repl(unittest.TestCase):
    tool = library = cache = ""

    def command(self, *words):
        return [self.tool, "repl", f"--cache={self.cache}", *words]

    def environment(self, **more):
        return {**{name: value for name, value in os.environ.items() if name != "TENSORSCOPE_OPTIONS"}, **more}

    def type(self, text, *words, **environment):
        return subprocess.run(self.command(*words), input=text, capture_output=True, text=True, check=False,
                              timeout=SECONDS, env=self.environment(**environment))

    def expect_clean(self, done, output):
        self.assertEqual((done.stdout, done.stderr, done.returncode), (output, "", 0))


class CacheTest(Repl):
    def test_headers_are_compiled_once_and_again_when_one_has_changed(self):
        once = "tensorscope repl: compiling LibTorch's headers, once\n"
        shutil.rmtree(self.cache, ignore_errors=True)
        self.assertEqual(self.type("1 + 1").stderr, once)
        self.assertEqual(os.stat(self.cache).st_mode & 0o077, 0)
        self.expect_clean(self.type("1 + 1"), "(int) 2\n")
        inputs = next(pathlib.Path(self.cache).glob("*.inputs"))
        lines = inputs.read_text().splitlines()
        self.assertTrue(any("tensorscope/repl.h" in line for line in lines))
        self.assertTrue(any("ATen/core/TensorBody.h" in line for line in lines))
        inputs.write_text("\n".join(re.sub(r"^\d+ (.*repl\.h)$", r"1 \1", line) for line in lines))
        self.assertEqual(self.type("1 + 1").stderr, once)
        self.assertFalse(list(pathlib.Path(self.cache).glob("*.part")))

    def test_a_folder_that_others_may_write_to_is_not_used(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            done = self.type("1 + 1", f"--cache={folder}")
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual((done.stdout, done.returncode), ("(int) 2\n", 0))
        self.assertRegex(done.stderr, r"^tensorscope repl: headers are compiled at each start: .*others may write .*\n$")


class InputTest(Repl):
    def test_values_of_expressions_without_a_semicolon(self):
        done = self.type("""1 + 1
2.5f
true
torch::ones({2, 2})
torch::zeros({100, 100})
std::string("word")
std::vector<int>{1, 2}
std::make_pair(1, std::optional<int>())
torch::ones({2, 2}).sizes()
torch::ones({2, 2});
torch::nn::Linear(2, 3)
""")
        self.expect_clean(done, """(int) 2
(float) 2.50000f
(bool) true
 1  1
 1  1
[ CPUFloatType{2,2} ]
[ CPUFloatType{100,100} ] of 10000 elements: slice it, or print a sum of it
(std::string) "word"
(std::vector<int>) {1, 2}
"""
                          "(std::pair<typename std::__strip_reference_wrapper<int>::__type, "
                          "typename std::__strip_reference_wrapper<std::optional<int>>::__type>) {1, nothing}\n"
                          "(c10::IntArrayRef) {2, 2}\n"
                          "(torch::nn::Linear) torch::nn::Linear(in_features=2, out_features=3, bias=true)\n")

    def test_an_input_goes_on_while_a_bracket_is_open_or_the_line_says_so(self):
        done = self.type("int twice(int n) { // (\n  return 2 *\n    n;\n}\ntwice(\n  21\n)\nint a = 1 + \\\n2;\na\n")
        self.expect_clean(done, "(int) 42\n(int) 3\n")

    def test_language_features_that_need_a_runtime(self):
        done = self.type("""thread_local int mine = 3;
mine
auto square = [](int n) { return n * n; };
square(4)
try { torch::ones(2) + torch::ones(3); } catch (const c10::Error&) { puts("caught"); }
static std::vector<std::string> words(2, "w");
words
template <class T> T half(T n) { return n / 2; }
half(3.0)
struct Pair { torch::Tensor a; int b; };
Pair pair{torch::ones(1), 2};
pair.b
stop_session();
""")
        self.assertEqual(done.stdout, '(int) 3\n(int) 16\ncaught\n(std::vector<std::string>) {"w", "w"}\n'
                                      '(double) 1.5000000\n(int) 2\n')

    def test_a_mistake_is_told_with_its_input_and_the_next_input_runs(self):
        done = self.type("int a = ;\n)\nnothing\n1 + 1\n")
        self.assertEqual((done.stdout, done.returncode), ("(int) 2\n", 1))
        for place in ("input_line_1:1:9: error: expected expression", "input_line_2:1:1: error:",
                      "input_line_3:1:1: error: use of undeclared identifier 'nothing'"):
            self.assertIn(place, done.stderr)
        self.assertNotIn("In file included from", done.stderr)

    def test_an_exception_is_printed_and_what_it_left_unmade_is_unknown(self):
        done = self.type("auto both = torch::ones(2) + torch::ones(3);\nboth\nthrow 3;\n"
                         "auto both = torch::ones(1);\nboth.item<float>()\nstop_session();\n")
        self.assertEqual((done.stdout, done.returncode), ("(float) 1.0f\n", 1))
        self.assertRegex(done.stderr, r"^error: c10::Error: The size of tensor a \(2\) must match .*\n"
                                      r"input_line_2:1:1: error: use of undeclared identifier 'both'\n.*\n.*\n"
                                      r"error: int\n")

    def test_a_function_without_definition_is_named(self):
        done = self.type("int lost(int);\nlost(1)\n1 + 1\n")
        self.assertEqual((done.stdout, done.returncode), ("(int) 2\n", 1))
        self.assertEqual(done.stderr, "error: no definition of lost(int) in any library that is loaded; name its "
                                      "library with -l or %lib\n")


class SessionTest(Repl):
    def test_the_session_owns_what_inputs_make_and_can_be_started_anew(self):
        done = self.type("""auto a = torch::ones(100);
check_leaks().bytes
start_session();
alive(a)
check_leaks().bytes
auto b = retain(torch::ones(10));
stop_session();
b.sum().item<float>()
stats().total().released
""")
        self.assertEqual(done.stdout, "(unsigned long) 400\n(bool) false\n(unsigned long) 0\n"
                                      "(float) 10.0f\n(unsigned long) 1\n")

    def test_a_use_after_release_is_told_and_the_next_input_runs(self):
        done = self.type("auto a = torch::ones(100);\nstop_session();\na + 1\n1 + 1\n")
        self.assertEqual((done.stdout, done.returncode), ("(int) 2\n", 1))
        self.assertIn("error: tensorscope: use after release: aten::ones (Float [100] on cpu) used by aten::add was "
                      "released by the end of the session opened at the prompt:1, closed at input_line_2:1;",
                      done.stderr)
        self.assertRegex(done.stderr, r"created here:\n\s+#0 the prompt input_line_1:1:\d+")

    def test_reports_are_printed_as_text(self):
        done = self.type("auto a = torch::ones(100);\nstats()\ncheck_leaks()\nstop_session();\n")
        self.assertRegex(done.stdout, r"cpu, thread 0: created 1, released 0, .*; live 1, bytes 400, peak 400")
        self.assertIn("400 bytes: aten::ones Float [100] on cpu", done.stdout)


class TrainingTest(Repl):
    def test_adam_keeps_its_state_over_sessions_and_learns_what_it_learns_without(self):
        done = self.type(ADAM)
        plain = self.type(ADAM, "--options=level=off")
        self.assertIn("(bool) true\n", done.stdout)
        self.assertEqual(done.stdout, plain.stdout)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class ReportTest(Repl):
    def test_what_a_variable_still_holds_is_named_by_its_input(self):
        done = self.type("auto make(int n) {\n  return torch::ones({n});\n}\nauto held = make(100);\n")
        self.assertEqual((done.stdout, done.returncode), ("", 23))
        self.assertRegex(done.stderr, r"^OPEN SESSION: started at the prompt:1 .*owns 400 bytes in 1 tensor\n"
                                      r".*of aten::ones Float \[100\] on cpu\n"
                                      r"\s+#0 make\(int\) input_line_1:2:10\n\s+#1 the prompt input_line_2:1:13\n")
        self.assertRegex(done.stderr, r"\nSUMMARY: tensorscope: .*1 session left open")

    def test_a_session_that_owns_nothing_is_nothing_to_report(self):
        self.expect_clean(self.type("torch::ones(3).sum().item<float>()\n{ auto gone = torch::ones(3); }\n"),
                          "(float) 3.0f\n")

    def test_a_retained_tensor_in_a_variable_is_the_variables(self):
        self.expect_clean(self.type("auto kept = retain(torch::ones(3));\n"), "")

    def test_an_exit_from_the_prompt_keeps_its_status(self):
        self.assertEqual(self.type("exit(3);\n").returncode, 3)

    def test_destructors_of_variables_run(self):
        self.expect_clean(self.type('struct End { ~End() { puts("end"); } } at_the_end;\n'), "end\n")


class CommandTest(Repl):
    def test_files_folders_libraries_and_flags(self):
        library = pathlib.Path(self.library)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "loaded.cpp")
            file.write_text("int loaded() { return WORTH; }\n")
            done = self.type('#include "answer.h"\nanswer()\nloaded()\n', f"--load={file}", f"-I{HERE}",
                             f"-L{library.parent}", "-lrepl_answer", "--", "-DWORTH=7")
            self.assertEqual(done.stdout, "(int) 42\n(int) 7\n")
            done = self.type(f"%lib {library}\n%load {HERE / 'answer.h'}\nanswer()\n%undo\n%bogus\n%quit\n1\n",
                             "--", "-DWORTH=7")
            self.assertEqual(done.stdout, "(int) 42\n")
            self.assertIn("tensorscope repl: error: no command %bogus; %help lists them\n", done.stderr)

    def refused(self, *words, tool=None, **environment):
        done = subprocess.run([tool or self.tool, "repl", *words], input="", capture_output=True, text=True, check=False,
                              timeout=SECONDS, env=self.environment(**environment))
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_missing_parts_are_one_line(self):
        self.assertRegex(self.refused("--torch=/nowhere"), r"^tensorscope repl: error: no LibTorch in '/nowhere': ")
        self.assertRegex(self.refused(TENSORSCOPE_TORCH_DIR="/nowhere"), r"no LibTorch in '/nowhere': ")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "bin").mkdir()
            alone = shutil.copy(self.tool, pathlib.Path(folder, "bin"))
            self.assertRegex(self.refused(tool=alone), r"^tensorscope repl: error: no .*tensorscope-repl; build the ")
        self.assertIn("is no compiler flag; write --load=file.cpp", self.refused("file.cpp"))
        self.assertIn("exclude each other", self.refused("--no-cache", "--cache=/tmp"))
        self.assertIn("no/such/lib.so: No such file", self.refused("-lno/such/lib.so"))


class TerminalTest(Repl):
    def setUp(self):
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.environ.update(TERM="xterm")
            os.execv(self.tool, self.command())
        self.seen = ""
        self.addCleanup(self.end)

    def end(self):
        os.close(self.terminal)
        try:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def until(self, expression):
        """What came up to the end of the match, without escapes."""
        limit = time.monotonic() + SECONDS
        while True:
            found = re.search(expression, self.seen)
            if found:
                before, self.seen = self.seen[:found.end()], self.seen[found.end():]
                return before
            ready = select.select([self.terminal], [], [], max(0, limit - time.monotonic()))[0]
            self.assertTrue(ready, f"no {expression!r} in {self.seen!r}")
            try:
                text = os.read(self.terminal, 4096).decode(errors="replace")
            except OSError:
                self.fail(f"ended without {expression!r}: {self.seen!r}")
            self.seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r", "", text)

    def send(self, text):
        os.write(self.terminal, text.encode())

    def prompt(self, expression):
        """The same of a prompt. The editor takes over the terminal after it has shown it; keys before that are lines'."""
        before = self.until(expression)
        limit = time.monotonic() + SECONDS
        while termios.tcgetattr(self.terminal)[3] & termios.ICANON:
            self.assertLess(time.monotonic(), limit, "the terminal stays as it was")
            time.sleep(0.01)
        return before

    def status(self):
        try:
            while os.read(self.terminal, 4096):
                pass
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])

    def test_prompt_editing_history_and_interrupts(self):
        self.assertIn("a session is open", self.prompt(r"tensorscope \[1\]> "))
        self.send("1 + 41\n")
        self.until(r"\(int\) 42\n")
        self.prompt(r"tensorscope \[2\]> ")
        self.send("\x10\n")  # the line before
        self.until(r"\(int\) 42\n")
        self.prompt(r"tensorscope \[3\]> ")
        self.send("int f() {\n")
        self.prompt(r"\.\.\.> ")
        self.send("\x03")  # gives it up
        self.prompt(r"tensorscope \[3\]> ")
        self.send("puts(\"begun\"); for (;;) torch::ones(3).sum();\n")
        self.until(r"\nbegun\n")
        self.send("\x03")
        self.until(r"error: interrupted\n")
        self.prompt(r"tensorscope \[4\]> ")
        self.send("auto held = torch::ones(5);\n")
        self.prompt(r"tensorscope \[5\]> ")
        self.send("\x04")
        self.until(r"OPEN SESSION: .*owns 20 bytes in 1 tensor")
        self.until(r"SUMMARY: ")
        self.assertEqual(self.status(), 23)

    def test_a_second_interrupt_ends_what_calls_no_operator(self):
        self.until(r"tensorscope \[1\]> ")
        self.send("puts(\"begun\"); for (volatile int i = 0;;) i = 1;\n")
        self.until(r"\nbegun\n")
        self.send("\x03")
        time.sleep(0.5)
        self.send("\x03")
        self.until("ended by ctrl-C")
        self.assertEqual(self.status(), 130)

    def test_quit_without_anything_held(self):
        self.until(r"tensorscope \[1\]> ")
        self.send("%help\n")
        self.until(r"%quit, ctrl-D")
        self.until(r"tensorscope \[1\]> ")
        self.send("%quit\n")
        self.assertEqual(self.status(), 0)


if __name__ == "__main__":
    Repl.tool, Repl.library, Repl.cache = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
