# SPDX-License-Identifier: Apache-2.0
"""bootstrap's arguments, its question, and its one line for each thing that can be wrong. Quick; no network."""
import os
import signal
import subprocess
import time
import unittest

from sandbox import SOURCE, Sandbox, has_terminals

ALL_BUT_NINJA = 'shift 2; for p; do [ "$p" = ninja-build ] || echo "installed $p"; done'
FEDORA = 'NAME="Fedora Linux"\nVERSION_ID=41\nID=fedora\nPRETTY_NAME="Fedora Linux 41"\n'
NO_NETWORK = 'echo "Err:1 Temporary failure resolving the host"; exit 100'


class BootstrapTest(unittest.TestCase):
    def assert_refused(self, done, *texts):
        """Exit code 2 and exactly one line on the error stream, with each of the texts."""
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for text in ("bootstrap: ", *texts):
            self.assertIn(text, done.stderr)

    def refuse(self, arguments, *texts, **environment):
        with Sandbox() as box:
            self.assert_refused(box.run(*arguments, **environment), *texts)
            self.assertEqual(box.calls.read_text(), "", "nothing may be run for a bad command line")


class ArgumentsTest(BootstrapTest):
    def test_help_names_every_option_and_the_exit_codes(self):
        with Sandbox() as box:
            done = box.run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ["demo", "test", "build", "-y", "--torch DIR", "--llvm VERSION", "--jobs N", "Exit code"]:
            self.assertIn(word, done.stdout)

    def test_a_bad_command_line_is_one_line(self):
        for arguments, text in [
            ([], "no subcommand"), (["install"], "unknown subcommand 'install'"),
            (["test", "demo"], "two subcommands, 'test' and 'demo'"), (["test", "--fast"], "unknown option '--fast'"),
            (["test", "--jobs"], "--jobs needs a value"), (["--jobs", "0", "test"], "--jobs '0' is no count"),
            (["--jobs", "two", "test"], "--jobs 'two'"), (["test", "--jobs=-3"], "--jobs '-3'"),
            (["test", "--llvm", "new"], "--llvm 'new' is no major version"), (["test", "--llvm=22.1"], "--llvm '22.1'"),
            (["test", "--torch="], "--torch needs a folder"), (["test", ""], "unknown subcommand ''"),
        ]:
            with self.subTest(arguments):
                self.refuse(arguments, text)

    def test_an_llvm_too_old_is_one_line(self):
        self.refuse(["test", "--llvm", "18"], "LLVM 18 (--llvm) is too old: 19")

    def test_options_stand_before_or_after_the_subcommand(self):
        for arguments in [["build", "-y", "--jobs", "3"], ["-y", "--jobs=3", "build"], ["--jobs", "3", "build", "--yes"]]:
            with self.subTest(arguments), Sandbox() as box:
                self.assertEqual(box.run(*arguments).returncode, 0)
                self.assertIn("cmake --build build/release --parallel 3", box.calls_of("cmake"))

    def test_the_llvm_asked_for_is_the_one_installed_and_built(self):
        for version, versions, absent in [("22", "22;19", "clang-tidy-21"), ("19", "19", "clang-tidy-22")]:
            with self.subTest(version), Sandbox() as box:
                self.assertEqual(box.run("build", "--llvm", version).returncode, 0)
                self.assertIn(f"-DTENSORSCOPE_LLVM_VERSIONS={versions}", box.calls_of("cmake")[0])
                asked = box.calls_of("dpkg-query")[0].split()
                self.assertIn(f"llvm-{version}-tools", asked)
                self.assertNotIn(absent, asked)
                self.assertEqual(len(asked), len(set(asked)), "each package once")

    def test_it_runs_from_any_folder(self):
        with Sandbox() as box:
            done = subprocess.run([str(box.root / "bootstrap"), "build"], env=box.environment, cwd="/",
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((box.root / "build/bootstrap.log").exists())


class QuestionTest(BootstrapTest):
    def test_nothing_missing_asks_nothing_and_never_becomes_root(self):
        with Sandbox(id="echo 1000", sudo="exit 1") as box:
            done = box.run("build")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("nothing is missing", done.stdout)
            for tool in ["sudo", "apt-get", "id"]:
                self.assertEqual(box.calls_of(tool), [])

    def test_without_a_terminal_and_without_yes_it_lists_and_stops(self):
        with Sandbox(dpkg_query=ALL_BUT_NINJA) as box:
            done = box.run("build")
            self.assert_refused(done, "no terminal", "-y")
            self.assertIn("1 packages: ninja-build", done.stdout)
            self.assertEqual(box.calls_of("apt-get"), [])

    def test_a_closed_input_is_no_terminal(self):
        with Sandbox(dpkg_query=ALL_BUT_NINJA) as box:
            done = subprocess.run(["bash", "-c", 'exec "$0" build <&-', str(box.root / "bootstrap")],
                                  env=box.environment, capture_output=True, text=True, check=False)
            self.assert_refused(done, "no terminal")

    def test_a_tool_gets_an_input_that_is_open_although_ours_is_closed(self):
        with Sandbox(ctest=': <&0 || exit 9') as box:
            done = subprocess.run(["bash", "-c", 'exec "$0" test <&-', str(box.root / "bootstrap")],
                                  env=box.environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_yes_or_ci_installs_exactly_what_is_missing(self):
        for arguments, environment in [(["build", "-y"], {}), (["build"], {"CI": "true"})]:
            with self.subTest(arguments), Sandbox(dpkg_query=ALL_BUT_NINJA) as box:
                done = box.run(*arguments, **environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                installed = box.calls_of("apt-get")[-1]
                self.assertTrue(installed.endswith(" install ninja-build"), installed)
                self.assertIn("--no-install-recommends", installed)

    def test_ci_set_to_false_is_no_yes(self):
        with Sandbox(dpkg_query=ALL_BUT_NINJA) as box:
            self.assert_refused(box.run("build", CI="false"), "no terminal")

    @unittest.skipUnless(has_terminals(), "this system gives out no terminals")
    def test_on_a_terminal_no_changes_nothing_and_enter_installs(self):
        with Sandbox(dpkg_query=ALL_BUT_NINJA) as box:
            done = box.run_on_terminal("n\n", "build")
            self.assertEqual(done.returncode, 2)
            self.assertIn("nothing was changed", done.stderr)
            self.assertEqual(box.run_on_terminal("\x04", "build").returncode, 2, "the end of input is a no")
            self.assertEqual(box.calls_of("apt-get"), [])
            self.assertEqual(box.run_on_terminal("\n", "build").returncode, 0)
            self.assertIn("install ninja-build", box.calls_of("apt-get")[-1])


class PackagesTest(BootstrapTest):
    def refuse_installation(self, *texts, sandbox=None, **stand_ins):
        with Sandbox(**{"dpkg_query": ALL_BUT_NINJA, **(sandbox or {}), **stand_ins}) as box:
            self.assert_refused(box.run("build", "-y"), *texts)
            self.assertEqual(box.calls_of("cmake"), [])

    def test_no_network_is_one_line(self):
        self.refuse_installation("cannot fetch the package lists (no network)", apt_get=NO_NETWORK, apt_cache="true")

    def test_lists_that_are_old_but_hold_all_still_serve(self):
        failing_update = f'case "$*" in *update) {NO_NETWORK} ;; esac'
        with Sandbox(dpkg_query=ALL_BUT_NINJA, apt_get=failing_update) as box:
            self.assertEqual(box.run("build", "-y").returncode, 0)

    def test_an_archive_without_the_package_is_one_line_that_names_it(self):
        self.refuse_installation("no package archive of this system has ninja-build", "bookworm-security",
                                 apt_cache='printf "ninja-build:\\n  Candidate: (none)\\n"')

    def test_a_network_lost_during_the_installation_is_one_line(self):
        self.refuse_installation("cannot install the packages (no network)", "build/bootstrap.log",
                                 apt_get=f'case "$*" in *install*) {NO_NETWORK} ;; esac')

    def test_a_disk_full_during_the_installation_is_one_line(self):
        self.refuse_installation("cannot install the packages (the disk is full)",
                                 apt_get='case "$*" in *install*) echo "write: No space left on device"; exit 100 ;; esac')

    def test_too_little_space_is_found_before_anything_is_installed(self):
        df = 'case "$*" in *avail*) printf "Avail\\n77\\n" ;; *) printf "Mounted on\\n/\\n" ;; esac'
        with Sandbox(dpkg_query=ALL_BUT_NINJA, df=df) as box:
            self.assert_refused(box.run("build", "-y"), "too little space on /: 77 MiB free", "MiB needed")
            self.assertEqual(box.calls_of("apt-get"), [])

    def test_another_distribution_is_one_line_but_serves_when_nothing_is_missing(self):
        self.refuse_installation("Fedora Linux 41", "packages.txt", sandbox={"os_release": FEDORA})
        with Sandbox(os_release=FEDORA) as box:
            self.assertEqual(box.run("build").returncode, 0)

    def test_a_system_without_dpkg_misses_everything(self):
        self.refuse_installation("Fedora Linux 41", sandbox={"os_release": FEDORA}, dpkg_query="exit 127")

    def test_neither_root_nor_sudo_is_one_line(self):
        self.refuse_installation("needs root, and there is no sudo", id="echo 1000")

    def test_a_sudo_that_would_ask_with_no_terminal_is_one_line(self):
        self.refuse_installation("sudo would ask for a password", id="echo 1000", sudo="exit 1")

    def test_sudo_installs_where_it_may(self):
        with Sandbox(dpkg_query=ALL_BUT_NINJA, id="echo 1000", sudo='[ "$1" != -n ] || exit 0; "$@"') as box:
            self.assertEqual(box.run("build", "-y").returncode, 0)
            self.assertIn("install ninja-build", box.calls_of("sudo")[-1])

    def test_an_interrupted_dpkg_is_finished_first(self):
        with Sandbox(dpkg_query=ALL_BUT_NINJA, dpkg='[ "$1" != --audit ] || echo "half-configured: x"') as box:
            self.assertEqual(box.run("build", "-y").returncode, 0)
            self.assertIn("dpkg --configure -a", box.calls_of("dpkg"))

    def test_an_interrupt_is_one_line_and_ends_with_two(self):
        with Sandbox(dpkg_query=ALL_BUT_NINJA, apt_get="sleep 30") as box:
            started = box.start("build", "-y")
            for _ in range(200):
                if box.calls_of("apt-get"):
                    break
                time.sleep(0.05)
            os.killpg(started.pid, signal.SIGINT)
            _, errors = started.communicate(timeout=20)
            self.assertEqual(started.returncode, 2)
            self.assertEqual(errors.splitlines()[-1], "bootstrap: stopped; run ./bootstrap build again to go on from here")


class TorchFolderTest(BootstrapTest):
    def test_a_folder_that_holds_no_libtorch_is_one_line(self):
        with Sandbox(torch=False) as box:
            self.assert_refused(box.run("build", "--torch", "/nowhere"), "no LibTorch in '/nowhere' (--torch)")
            self.assert_refused(box.run("build", TENSORSCOPE_TORCH_DIR=str(box.root)), "(TENSORSCOPE_TORCH_DIR)")
            self.assertEqual(box.calls_of("cmake"), [])

    def test_the_option_wins_over_the_environment_and_becomes_absolute(self):
        with Sandbox() as box:
            other = box.make_torch("project/other")
            self.assertEqual(box.run("build", "--torch", "other").returncode, 0)
            self.assertIn(f"-DTENSORSCOPE_TORCH_DIR={other.resolve()} ", box.calls_of("cmake")[0])


class BuildTest(BootstrapTest):
    def test_what_cmake_refuses_is_one_line(self):
        line = "LibTorch 1.0.0 in /x is too old or does not fit: it lacks this"
        with Sandbox(cmake=f'mkdir -p build/release; echo "{line}" >build/release/configure-problem.txt; exit 1') as box:
            self.assert_refused(box.run("build"), line)

    def test_another_error_of_cmake_is_one_line_with_its_words(self):
        with Sandbox(cmake='printf "CMake Error at x:1 (y):\\n  Words\\n\\n  of it.\\nCall Stack:\\n" >&2; exit 1') as box:
            self.assert_refused(box.run("build"), "CMake Error at x:1 (y): Words of it.", "build/bootstrap.log")

    def test_a_build_that_fails_ends_with_one(self):
        with Sandbox(cmake='[ "$1" != --build ] || { echo "a.cpp:1: error"; exit 1; }') as box:
            done = box.run("test")
            self.assertEqual(done.returncode, 1)
            self.assertIn("a.cpp:1: error", done.stdout)
            self.assertIn("bootstrap: the build failed", done.stderr)
            self.assertEqual(box.calls_of("ctest"), [])

    def test_the_last_line_of_the_tests_is_the_one_of_ctest(self):
        with Sandbox() as box:
            done = box.run("test")
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stdout.splitlines()[-1], "100% tests passed, 0 tests failed out of 1")
            self.assertIn("-LE slow --output-on-failure", box.calls_of("ctest")[0])

    def test_failing_tests_end_with_one_and_the_last_line_of_ctest(self):
        with Sandbox(ctest='echo "0% tests passed, 1 tests failed out of 1"; exit 8') as box:
            done = box.run("test")
            self.assertEqual((done.returncode, done.stderr), (1, ""))
            self.assertEqual(done.stdout.splitlines()[-1], "0% tests passed, 1 tests failed out of 1")

    def test_what_the_build_found_is_shown(self):
        with Sandbox(cmake='echo "-- tensorscope: no CUDA toolkit found; built for the CPU only"') as box:
            self.assertIn("no CUDA toolkit found", box.run("build").stdout)

    def test_the_jobs_follow_the_cores(self):
        with Sandbox() as box:
            box.run("build")
            self.assertIn("--parallel 1", box.calls_of("cmake")[1])
            self.assertIn("-DTENSORSCOPE_TORCH_JOBS=1", box.calls_of("cmake")[0])

    def test_at_most_two_libtorch_files_are_compiled_at_once(self):
        with Sandbox() as box:
            box.run("build", "--jobs", "8")
            self.assertIn("--parallel 8", box.calls_of("cmake")[1])
            self.assertIn("-DTENSORSCOPE_TORCH_JOBS=2", box.calls_of("cmake")[0])

    def test_a_folder_that_cannot_be_written_is_one_line(self):
        with Sandbox() as box:
            (box.root / "build").write_text("in the way")
            self.assert_refused(box.run("build"), "cannot write to")

    def test_ci_runs_the_tests_without_questions(self):
        text = (SOURCE / ".ci/run").read_text()
        self.assertIn("exec ./bootstrap test -y", text)
        self.assertTrue(os.access(SOURCE / ".ci/run", os.X_OK))


if __name__ == "__main__":
    unittest.main()
