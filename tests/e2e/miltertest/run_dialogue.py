#!/usr/bin/python3
"""Runs one dialogue of miltertest against a daemon of its own.

usage: run_dialogue.py BLOOMGATE BLOOMGATE-MILTER DIALOGUE.lua

A dialogue may say in comment lines how its daemon is to be started; unless it says otherwise, senders need
not be authenticated:

    -- config: NAME = VALUE     a line of the configuration file; FOLDER in it is the dialogue's folder
    -- file: NAME WORD...       a file in that folder, one word a line
    -- ends the daemon          the dialogue has stopped it when it is over

The dialogue finds in global variables: `socket` (where to connect), the daemon's `pid`, the programs
`bloomgate` and `program` (the daemon's), and `folder`, which holds bloomgate-milter.conf, whitelist.bloom,
daemon.log, notify.log (what systemd would be told) and wire.log (every packet, see Relay).
"""

import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

from private_mail.unit_filter import starter  # noqa: E402

LISTED = ["joe@example.org", "@corp.example", "@.tree.example"]
# Most dialogues are not about authentication.
UNLESS_ASKED = {"authentication": "authentication = off", "dmarc-fail-veto": "dmarc-fail-veto = no",
                "mark-tells-why": "mark-tells-why = yes"}
TIMEOUT_SECONDS = 180
SKIPPED = 77


class Relay(threading.Thread):
    """Stands between miltertest and the daemon and writes down every packet, since miltertest cannot tell in which
    order the answers came, nor which packets were answered. A line is a direction (`>` to the daemon, `<` from it) and
    what `decode` makes of the packet."""

    def __init__(self, path, daemon_path, trace_path):
        super().__init__(daemon=True)
        self.daemon_path = str(daemon_path)
        self.trace = open(trace_path, "w", encoding="ascii")
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()

    def run(self):
        while True:
            client, _ = self.listener.accept()
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(self.daemon_path)
            for ends in ((client, daemon, ">"), (daemon, client, "<")):
                threading.Thread(target=self.pump, args=ends, daemon=True).start()

    def pump(self, source, target, direction):
        try:
            while packet := self.read_packet(source):
                with self.lock:
                    self.trace.write(f"{direction} {decode(packet)}\n")
                    self.trace.flush()
                target.sendall(struct.pack("!I", len(packet)) + packet)
        except OSError:
            pass  # the other end is gone
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    @staticmethod
    def read_packet(source):
        reader = lambda size: source.recv(size, socket.MSG_WAITALL)
        head = reader(4)
        return reader(struct.unpack("!I", head)[0]) if len(head) == 4 else b""


def decode(packet):
    """`m 2 X-Bloomgate` (delete), `i 0 X-Bloomgate deliver; …` (insert), `O 6 111 53da 2:i 5:i j` (negotiation:
    version, actions and steps in hexadecimal, lists of macros); others are the command's letter and its data."""
    command, data = chr(packet[0]), packet[1:]
    words = []
    if command in "mi":
        words.append(str(struct.unpack("!I", data[:4])[0]))
        data = data[4:]
    elif command == "O":
        version, actions, steps = struct.unpack("!III", data[:12])
        words += [str(version), f"{actions:x}", f"{steps:x}"]
        data = data[12:]
        while data:
            stage, (macros, data) = struct.unpack("!I", data[:4])[0], data[4:].split(b"\0", 1)
            words.append(f"{stage}:{macros.decode('ascii')}")
    text = " ".join(part.decode("ascii", "backslashreplace") for part in data.split(b"\0") if part)
    return " ".join([command, *words, text]).rstrip().replace("\n", "\\n")


class NotifySocket(threading.Thread):
    """Plays systemd: writes down what the daemon says of itself."""

    def __init__(self, path, log_path):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.log = open(log_path, "w", encoding="utf-8")
        self.ready = threading.Event()

    def run(self):
        while True:
            text = self.socket.recv(65536).decode()
            self.log.write(text + "\n")
            self.log.flush()
            if "READY=1" in text.splitlines():
                self.ready.set()


def start_daemon(program, folder, settings, notify):
    config = folder / "bloomgate-milter.conf"
    config.write_text("".join(f"{line}\n" for line in settings))
    with open(folder / "daemon.log", "w", encoding="utf-8") as log:
        # However this program ends, the daemon does not outlive it.
        daemon = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *starter(), program, "--config", config], stderr=log,
                                  env={**os.environ, "NOTIFY_SOCKET": str(folder / "notify.sock")})
    while not notify.ready.wait(0.05):
        if daemon.poll() is not None:
            raise RuntimeError(f"the daemon ended at its start with exit code {daemon.returncode}")
    return daemon


def check_end(daemon, folder):
    """The daemon must have survived the dialogue, and end well when it is told to."""
    if daemon.poll() is not None:
        raise RuntimeError(f"the daemon ended during the dialogue, with exit code {daemon.returncode}")
    started = time.monotonic()
    daemon.send_signal(signal.SIGTERM)
    check_stopped(daemon, folder)
    if time.monotonic() - started > 4:
        raise RuntimeError("the daemon took more than four seconds to stop")


def check_stopped(daemon, folder):
    if (code := daemon.wait(TIMEOUT_SECONDS)) != 0:
        raise RuntimeError(f"the daemon ended with exit code {code}")
    if (folder / "milter.sock").exists():
        raise RuntimeError("the daemon left its socket behind")
    # A daemon built with a sanitizer reports there, and may still end with exit code 0.
    if re.search("Sanitizer|runtime error:", (folder / "daemon.log").read_text(errors="replace")):
        raise RuntimeError("a sanitizer has found something")


def run(bloomgate, program, dialogue, folder):
    script = dialogue.read_text(encoding="utf-8")
    whitelist = folder / "whitelist.bloom"
    (folder / "list.txt").write_text("".join(f"{entry}\n" for entry in LISTED), encoding="utf-8")
    subprocess.run([bloomgate, "build", "--output", whitelist, folder / "list.txt"], check=True,
                   stdout=subprocess.DEVNULL)
    settings = [f"socket = unix:{folder}/milter.sock", f"whitelist = {whitelist}", "log-target = stderr",
                f"burst-file = {folder}/habits", f"suspend-file = {folder}/suspended"]
    asked = [line.replace("FOLDER", str(folder)) for line in re.findall(r"^-- config: (.*)$", script, re.M)]
    names = [line.partition("=")[0].strip() for line in asked]
    settings += asked + [line for name, line in UNLESS_ASKED.items() if name not in names]
    for name, content in re.findall(r"^-- file: (\S+) (.*)$", script, re.M):
        (folder / name).write_text("".join(f"{line}\n" for line in content.split()), encoding="utf-8")
    notify = NotifySocket(folder / "notify.sock", folder / "notify.log")
    notify.start()
    daemon = start_daemon(program, folder, settings, notify)
    try:
        Relay(folder / "relay.sock", folder / "milter.sock", folder / "wire.log").start()
        variables = {"socket": f"unix:{folder}/relay.sock", "pid": daemon.pid, "folder": folder, "bloomgate": bloomgate,
                     "program": program, "dialogue": dialogue}
        defines = [word for name, value in variables.items() for word in ("-D", f"{name}={value}")]
        subprocess.run(["miltertest", *defines, "-s", dialogue.parent / "common.lua"], check=True,
                       timeout=TIMEOUT_SECONDS)
        if re.search(r"^-- ends the daemon$", script, re.M):
            check_stopped(daemon, folder)
        else:
            check_end(daemon, folder)
    finally:
        daemon.kill()
        daemon.wait()


def main():
    bloomgate, program, dialogue = sys.argv[1:]
    if not shutil.which("miltertest"):
        print("skipped: miltertest is not installed (Debian: apt-get install miltertest)")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="bloomgate-miltertest-") as name:
        folder = Path(name)
        try:
            run(bloomgate, program, Path(dialogue), folder)
        except (RuntimeError, subprocess.SubprocessError) as error:
            print(f"{Path(dialogue).name}: {error}")
            for log in ("daemon.log", "notify.log", "wire.log"):
                if (folder / log).exists():
                    print(f"---- {log}\n{(folder / log).read_text(errors='replace')}", end="")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
