"""`bloomgate build` where it fails or is stopped: what is left on the disk, and what the error says."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import time
import unittest

from program import BLOOMGATE, EX_CANTCREAT, EX_DATAERR, EX_NOINPUT, ProgramTest, limited, main, users


class OutputTest(ProgramTest):
    """An output that cannot be written is refused before a list is read: here the list is a pipe without a writer."""

    def build_from_pipe(self, *options, **settings):
        """A build that reads the list waits for ever, and is killed after a minute."""
        os.mkfifo(self.folder / "endless")
        pipe = os.open(self.folder / "endless", os.O_RDWR)
        try:
            return self.run_program("build", *options, "endless", **settings)
        finally:
            os.close(pipe)

    def check_refused(self, done, *words):
        self.assertEqual(done.returncode, EX_CANTCREAT, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr.decode())
        self.assertEqual(self.names(), ["endless"])

    def test_a_missing_output_folder_is_refused_with_the_command_that_makes_it(self):
        self.check_refused(self.build_from_pipe("-o", "no/such/filter"), "make it: mkdir -p no/such\n")
        (self.folder / "endless").unlink()
        self.check_refused(self.build_from_pipe("-o", "no such/filter"), "make it: mkdir -p 'no such'\n")

    def test_a_filter_larger_than_the_free_space_is_refused_with_both_sizes(self):
        self.check_refused(self.build_from_pipe("-o", "filter", "--expected-entries", "1e12"),
                           "the filter will take 953675 MiB", " MiB are free")

    def test_the_check_for_free_space_does_not_use_the_space(self):
        # Others write to the same disk: a mail queue, perhaps.
        done = self.build_from_pipe("-o", "filter", "--expected-entries", "1e12")
        free = re.search(rb" ([0-9]+) MiB are free", done.stderr)
        self.assertGreater(int(free.group(1)), 0, done.stderr)

    def test_a_folder_without_write_permission_is_refused_with_the_remedy(self):
        os.mkfifo(self.folder / "endless")
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        # Root may write everywhere, but for this right of its.
        command = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []
        pipe = os.open(self.folder / "endless", os.O_RDWR)
        self.addCleanup(os.close, pipe)
        done = subprocess.run([*command, BLOOMGATE, "build", "-o", "filter", "endless"], capture_output=True,
                              cwd=self.folder, timeout=60)
        self.check_refused(done, "you may not write to the folder .", "run this as root")

    def test_a_missing_scratch_folder_is_named(self):
        self.check_refused(self.build_from_pipe("-o", "filter", "--scratch", "no/where"),
                           "no/where (--scratch)", "mkdir -p no/where")


class FaultTest(ProgramTest):
    """Whatever happens, the output is the old filter or a whole new one."""

    def setUp(self):
        super().setUp()
        self.build("old@example.org\n")
        self.before = self.read("filter")
        self.large = self.write("large", users(range(300_000)))

    def leftovers(self):
        return [name for name in self.names() if name.startswith(".filter.tmp-")]

    def check_old_filter_alone(self):
        self.assertEqual(self.read("filter"), self.before)
        self.assertEqual(self.names(), ["filter", "large", "list"])

    def test_a_kill_at_any_moment_leaves_a_whole_filter_and_the_next_build_removes_leftovers(self):
        command = ["build", "-o", "filter", "--seed", "1", "--bits-per-entry", "64", "large"]
        started = time.monotonic()
        self.run_program(*command, check=True)
        duration = time.monotonic() - started
        states = {self.before, self.read("filter")}
        for tenth in range(11):
            (self.folder / "filter").write_bytes(self.before)
            self.kill_after(duration * tenth / 10, *command)
            self.assertIn(self.read("filter"), states)
            self.check(0, "verify", "filter")
        # The moments above may all miss the writing: one more kill, while the temporary file is there.
        while not self.leftovers():
            process = self.start(*command)
            while process.poll() is None and not self.leftovers():
                pass
            process.kill()
            process.wait()
        self.check(0, "verify", "filter")
        self.build("next@example.org\n")
        self.assertEqual(self.leftovers(), [])

    def test_a_build_leaves_the_temporary_file_of_another_running_build(self):
        command = ["build", "-o", "filter", "--bits-per-entry", "64", "large"]
        while not self.leftovers():
            process = self.start(*command, stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            while process.poll() is None and not self.leftovers():
                pass
            if process.poll() is None:
                os.kill(process.pid, signal.SIGSTOP)
                # It runs until the signal reaches it, and may end meanwhile.
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if not self.leftovers():
                process.send_signal(signal.SIGCONT)
                process.communicate(timeout=60)
        during = self.leftovers()
        self.build("next@example.org\n")
        self.assertEqual(self.leftovers(), during)
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.check(0, "verify", "filter", "--against", "large")
        self.assertEqual(self.leftovers(), [])

    def test_a_file_size_limit_is_an_error_like_a_full_disk(self):
        result = self.run_program("build", "-o", "filter", "large", preexec_fn=limited(resource.RLIMIT_FSIZE, 100_000))
        self.assertEqual(result.returncode, EX_CANTCREAT, result.stderr)
        self.assertIn(b"File too large", result.stderr)
        self.check_old_filter_alone()

    def test_a_full_disk_leaves_the_old_filter(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
            print("skipped: a small file system cannot be mounted here")  # for the closing lines of scripts/test
            self.skipTest("no small file system")
        try:
            self.check(0, "build", "-o", "disk/filter", "list")
            before = (disk / "filter").read_bytes()
            _, err = self.check(EX_CANTCREAT, "build", "-o", "disk/filter", "large")
            self.assertIn("No space left on device", err)
            self.assertEqual((disk / "filter").read_bytes(), before)
            self.assertEqual(os.listdir(disk), ["filter"])
        finally:
            subprocess.run(["umount", str(disk)], check=True)

    def test_a_reject_file_that_is_not_regular_stays_when_a_build_fails(self):
        # A FIFO of our own stands for /dev/null, which root could remove.
        fifo = self.folder / "rejects"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.check(EX_DATAERR, "build", "-o", "filter", "--reject-file", "rejects", "-", stdin=b"\x1f\x8b\x08")
        self.assertTrue(fifo.is_fifo())
        fifo.unlink()
        self.check_old_filter_alone()

    def test_a_list_that_vanishes_leaves_the_old_filter(self):
        fifo = str(self.folder / "fifo")
        os.mkfifo(fifo)
        for change, want in (
            (lambda: os.truncate(self.large, 3_000_000), b"large shrank while it was read"),
            (lambda: os.replace(self.write("other", "a@example.org\n"), self.large), b"large was replaced"),
            (lambda: os.unlink(self.large), b"open /.*large: No such file"),
        ):
            content = pathlib.Path(self.large).read_bytes()
            # The pipe holds the only worker until the list is changed.
            command = ["build", "-o", "filter", "--threads", "1", fifo, self.large]
            process = self.start(*command, stderr=subprocess.PIPE)
            with open(fifo, "wb") as pipe:
                pipe.write(b"bad,,line@example.org\n")
                pipe.flush()
                process.stderr.readline()
                change()
            _, err = process.communicate(timeout=60)
            self.assertIn(process.returncode, (74, EX_NOINPUT))
            self.assertRegex(err, want)
            self.write("large", content)
            self.assertEqual(self.read("filter"), self.before)
            self.assertEqual(self.names(), ["fifo", "filter", "large", "list"])

    def test_a_pipe_that_closes_half_way_through_compressed_text_leaves_the_old_filter(self):
        fifo = str(self.folder / "large")
        packed = subprocess.run(["gzip", "-c", self.large], capture_output=True, check=True).stdout
        os.unlink(self.large)
        os.mkfifo(fifo)
        process = self.start("build", "-o", "filter", fifo, stderr=subprocess.PIPE)
        with open(fifo, "wb") as pipe:
            pipe.write(packed[: len(packed) // 2])
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, EX_DATAERR)
        self.assertIn(b"damaged or cut off", err)
        self.check_old_filter_alone()

    def test_a_list_that_cannot_be_read_leaves_the_old_filter(self):
        _, err = self.check(74, "build", "-o", "filter", "large", "/proc/self/mem")
        self.assertIn("read /proc/self/mem: Input/output error", err)
        self.check_old_filter_alone()

    def test_losing_the_terminal_stops_the_build(self):
        process = self.start("build", "-o", "filter", "-", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b"bad,,line@example.org\n" + users(range(20)).encode())
        process.stdin.flush()
        process.stderr.readline()
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGHUP)
        self.check_old_filter_alone()


if __name__ == "__main__":
    main()
