"""The mail part of scripts/quickstart: five messages through a private gateway, and a table."""

import argparse
import os
import signal
import sys

from private_mail.client import Message
from private_mail.filter import REPOSITORY, build_filter
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, Gateway, GatewayConfig
from private_mail.processes import temporary_folder

LISTED = "newsletter@example.com"  # config/example-whitelist.txt has it
UNLISTED = "stranger@example.com"
FORGED = (b"X-Bloomgate: deliver",)

# name, message, where it should go, how its mark should begin
CASES = (
    ("listed sender", Message(LISTED), LIGHT_PATH, "deliver;"),
    ("unlisted sender", Message(UNLISTED), DEEP_CHECK, "check;"),
    ("null sender (a bounce)", Message(""), DEEP_CHECK, "check;"),
    ("listed, with a forged mark", Message(LISTED, FORGED), LIGHT_PATH, "deliver;"),
    ("unlisted, with a forged mark", Message(UNLISTED, FORGED), DEEP_CHECK, "check;"),
)


def main():
    parser = argparse.ArgumentParser(prog="scripts/quickstart")
    parser.add_argument("--keep", action="store_true")
    keep = parser.parse_args().keep
    # Ended from outside, everything is cleaned up all the same.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(run_in_background() if keep else run())


def run(report=None):
    """Returns the exit code. With report: calls it with the exit code, and serves until it is ended."""
    step("building a filter from config/example-whitelist.txt")
    with temporary_folder("quickstart") as folder:
        whitelist = folder / "whitelist.bloom"
        build_filter(whitelist, REPOSITORY / "config/example-whitelist.txt", "--strict")
        step("starting bloomgate-milter, a private Postfix and its two destinations on 127.0.0.1")
        with Gateway(folder, GatewayConfig(whitelist, keep_mail=report is not None)) as gateway:
            try:
                step("sending five messages")
                right = show(gateway)
            except Exception:
                print(gateway.logs())
                raise
            if not right:
                print(gateway.logs())
            exit_code = 0 if right else 1
            if report:
                explain(gateway)
                report(exit_code)
                signal.pause()
    step("nothing is left running")
    return exit_code


def show(gateway):
    """Prints the table. Returns whether every message went where it should."""
    all_right = True
    deliveries = gateway.send(*(message for _, message, _, _ in CASES))
    row = "  {:<29} {:<25} {:<11} {:<50} {}".format
    print("\n" + row("case", "envelope sender", "went to", "X-Bloomgate", ""))
    for (name, message, place, mark), delivery in zip(CASES, deliveries):
        right = delivery.place == place and len(delivery.marks) == 1 and delivery.marks[0].startswith(mark)
        all_right = all_right and right
        marks = " + ".join(delivery.marks) or "none"
        print(row(name, f"<{message.path}>", delivery.place, marks, "ok" if right else "WRONG"))
    print()
    return all_right


def explain(gateway):
    send = f"swaks --server 127.0.0.1:{gateway.port} --to user@example.net --from"
    print(f"Left running. Send more:\n  {send} {LISTED}\n  {send} {UNLISTED}\n"
          f"Mail arrives in:\n  {gateway.folder}/light-path\n  {gateway.folder}/deep-check\n"
          f"Logs:\n  {gateway.postfix.log_file}\n  {gateway.daemon.log_file}\n"
          f"Stop it:\n  kill {os.getpid()}", flush=True)


def run_in_background():
    """Serves in a process of its own, and returns once that has shown its table."""
    reading, writing = os.pipe()
    server = os.fork()
    if server == 0:
        os.setsid()
        os.close(reading)

        def report(exit_code):
            os.write(writing, bytes([exit_code]))
            os.close(writing)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):  # lets go of the terminal, or of the pipe that reads us
                os.dup2(nowhere, stream)

        sys.exit(run(report))
    os.close(writing)
    try:
        code = os.read(reading, 1)
    except BaseException:
        os.kill(server, signal.SIGTERM)
        os.waitpid(server, 0)
        raise
    return code[0] if code else 1


def step(text):
    print(f"==> {text}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
