"""What the benchmarks of a running daemon share: the daemon, a list, and a client that plays the mail server."""

import json
import re
import subprocess
import time

ENVELOPE = "identity = envelope\nauthentication = off\ndmarc-fail-veto = no\n"


class Milter:
    def __init__(self, folder, number, port):
        self.folder = folder
        self.path = folder / f"{number}.sock"
        self.socket = f"inet:{port + number}@127.0.0.1" if port else f"unix:{self.path}"
        self.client_socket = f"inet:{port + number}" if port else f"unix:{self.path}"

    def start(self, command, log):
        with open(log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(command, stderr=out)

    def wait_until_ready(self, client, senders):
        while True:
            done = subprocess.run([client, self.client_socket, senders, "--connections", "1", "--messages", "1"],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.process.args[0]} ended with exit code {self.process.returncode}")
            time.sleep(0.05)

    def processor_seconds(self):
        """clock_getcpuclockid(3)"""
        return time.clock_gettime((~self.process.pid << 3) | 2)


def write_config(path, milter, whitelist, lines):
    path.write_text(f"socket = {milter.socket}\nwhitelist = {whitelist}\nhost-name = mx.example.net\n"
                    f"log-target = stderr\nburst-file = {path}.habits\nsuspend-file = {path}.suspended\n{lines}")


def make_senders(build, folder, entries):
    """A list of plain addresses, at most so many."""
    addresses = subprocess.run([build / "tests/bench/make_addresses", str(entries)],
                               capture_output=True, check=True).stdout.decode("utf-8", "replace").split("\n")
    plain = [line for line in addresses if re.fullmatch(r"[A-Za-z0-9_+.-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", line)]
    path = folder / "senders.txt"
    path.write_text("\n".join(plain) + "\n")
    return path


def build_filter(build, path, senders, *options):
    subprocess.run([build / "filter/cli/bloomgate", "build", "--quiet", "--output", path, *options, senders],
                   check=True, capture_output=True)
    return path


def run_client(build, milter, senders, *options):
    """What the client measures, as it prints it."""
    command = [build / "tests/bench/milter_client", milter.client_socket, senders, *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)
