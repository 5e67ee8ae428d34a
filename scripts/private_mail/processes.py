"""Starts programs that end with this one, and waits for conditions."""

import os
import random
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

PATIENCE_SECONDS = 60


class Timeout(Exception):
    """The awaited condition did not come in time."""


def wait_until(condition, what, seconds=PATIENCE_SECONDS):
    """Returns the first true value of condition(). Raises Timeout, which says what was waited for."""
    deadline = time.monotonic() + seconds
    pause = 0.001
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Timeout(f"waited {seconds} s for {what}")
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def stands_still(pid):
    """Whether all threads of a process are stopped, by SIGSTOP."""
    threads = Path(f"/proc/{pid}/task").glob("*/status")
    return all("\nState:\tT" in thread.read_text() for thread in threads)


_given_ports = set()


def ports_to_give():
    """Those that the kernel gives to no outgoing connection. Of the workers of pytest-xdist each has its own, since
    none knows what another has given."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return range(10_000 + worker, 32_768, workers)


def free_port():
    """A TCP port of 127.0.0.1 that is free now. Never the same twice: whoever got one may not listen yet, and Postfix
    takes two services at one port for one."""
    while True:
        port = random.choice(ports_to_give())
        if port in _given_ports:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            _given_ports.add(port)
            return port


def accepts_connections(address):
    """address: (host, port), or the path of a unix socket."""
    family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
    with socket.socket(family) as probe:
        try:
            probe.connect(address if isinstance(address, tuple) else str(address))
        except OSError:
            return False
        return True


@contextmanager
def temporary_folder(name, parent=None):
    """A folder that every user may enter (Postfix does its work as another user), removed at the end."""
    with tempfile.TemporaryDirectory(prefix=f"bloomgate-{name}-", dir=parent) as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


class Program:
    """A running program in its own process group. The kernel sends it death_signal when this process dies."""

    def __init__(self, command, log_file, user=None, death_signal="KILL", prefix=()):
        """prefix: a program, with its options, that starts the rest as root (to enter a name space, say)."""
        self.name = Path(command[0]).name
        self.log_file = log_file
        wrapped = [*prefix, "setpriv", "--pdeathsig", death_signal, *become(user), "--", *command]
        with open(log_file, "ab") as log:
            self.process = subprocess.Popen(
                [str(word) for word in wrapped], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        self.pid = self.process.pid

    def alive(self):
        return self.process.poll() is None

    def log(self):
        return Path(self.log_file).read_text(encoding="utf-8", errors="replace")

    def wait_until_ready(self, ready, name, log=None):
        """Waits until ready() is true. Raises RuntimeError with the log if the program ends before."""
        # Some programs take 20 s of processor time to start, and others may take the processor meanwhile.
        wait_until(lambda: ready() or not self.alive(), f"{name} to be ready", 5 * PATIENCE_SECONDS)
        if not self.alive():
            raise RuntimeError(f"{name} ended with exit code {self.wait()}:\n{(log or self.log)()}")

    def signal(self, number):
        self.process.send_signal(number)

    @contextmanager
    def standing_still(self):
        """It hangs: the kernel accepts connections for it, and nobody answers."""
        self.signal(signal.SIGSTOP)
        try:
            # A thread at work goes on until the kernel comes to it.
            wait_until(lambda: stands_still(self.pid), f"{self.name} to stand still")
            yield
        finally:
            self.signal(signal.SIGCONT)

    def signal_all(self, number):
        """Sends the signal to its children too."""
        os.killpg(self.pid, number)

    def wait(self, seconds=PATIENCE_SECONDS):
        """The exit code; negative for the signal that ended it."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Timeout(f"waited {seconds} s for {self.name} to end") from None

    def kill(self):
        """Ends the whole process group at once."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return self.wait()

    def stop(self, seconds=PATIENCE_SECONDS):
        """SIGTERM, and SIGKILL if that does not end it in time. Returns the exit code."""
        if self.alive():
            self.signal(signal.SIGTERM)
        try:
            return self.wait(seconds)
        except Timeout:
            return self.kill()


def become(user):
    """The options of setpriv that make a program run as user. Without root it runs as us anyway."""
    if user is None or os.geteuid() != 0:
        return []
    group = subprocess.run(["id", "-gn", user], check=True, capture_output=True, text=True).stdout.strip()
    return ["--reuid", user, "--regid", group, "--clear-groups"]


def runs_as(user, *command):
    """Whether the command succeeds when user runs it."""
    return run_as(user, *command).returncode == 0


def output_as(user, *command):
    """What the command prints when user runs it: of another user's process root may not read all, in some
    containers (no CAP_SYS_PTRACE)."""
    done = run_as(user, *command)
    done.check_returncode()
    return done.stdout


def run_as(user, *command):
    wrapped = ["setpriv", *become(user), "--", *command]
    return subprocess.run([str(word) for word in wrapped], capture_output=True, text=True)
