"""The mail part of scripts/quickstart: seven messages through a private gateway, and a table."""

import argparse
import os
import signal
import sys

from private_mail.client import RawMessage
from private_mail.filter import REPOSITORY, build_filter
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, Gateway, GatewayConfig
from private_mail.name_server import NameServer, NameServerConfig
from private_mail.processes import temporary_folder
from private_mail.signing import SigningKey

LISTED = "newsletter@example.com"  # config/example-whitelist.txt has it
UNLISTED = "stranger@example.com"
FORGED_RESULT = "Authentication-Results: mx.example.net; dkim=pass header.d=example.com"
FORGED_MARK = "X-Bloomgate: deliver"


def cases(listed_domain, attacker):
    """name, message, where it should go, how its mark should begin. Both arguments are keys to sign with."""
    return (
        ("listed, signed by its domain", message(LISTED, signed_by=listed_domain), LIGHT_PATH, "deliver;"),
        ("the same sender, forged", message(LISTED), DEEP_CHECK, "check;"),
        ("forged, signed by the forger", message(LISTED, signed_by=attacker), DEEP_CHECK, "check;"),
        ("forged, with a forged result", message(LISTED, FORGED_RESULT), DEEP_CHECK, "check;"),
        ("a neighbour's, borrowed sender", borrowed(listed_domain), DEEP_CHECK, "check;"),
        ("not listed, signed", message(UNLISTED, signed_by=listed_domain), DEEP_CHECK, "check;"),
        ("not listed, forged mark", message(UNLISTED, FORGED_MARK), DEEP_CHECK, "check;"),
    )


def borrowed(listed_domain):
    """What somebody else at the listed sender's provider wrote, who then sent it again with the listed envelope sender."""
    return RawMessage(LISTED, raw=message(UNLISTED, signed_by=listed_domain).raw)


def message(sender, *fields, signed_by=None):
    lines = [f"From: {sender}", "To: user@example.net", "Subject: quickstart", *fields, "", "Hello.", ""]
    content = "\r\n".join(lines).encode()
    return RawMessage(sender, raw=signed_by.sign(content) if signed_by else content)


def main():
    parser = argparse.ArgumentParser(prog="scripts/quickstart")
    parser.add_argument("--keep", action="store_true")
    keep = parser.parse_args().keep
    # Cleans up when another process ends this one, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(run_in_background() if keep else run())


def run(report=None):
    """Returns the exit code. With report: calls it with the exit code, and serves until it is ended."""
    step("building a filter from config/example-whitelist.txt")
    with temporary_folder("quickstart") as folder:
        whitelist = folder / "whitelist.bloom"
        build_filter(whitelist, REPOSITORY / "config/example-whitelist.txt", "--strict")
        step("making keys for example.com, whose sender is listed, and for a forger")
        keys = SigningKey("example.com"), SigningKey("forger.example")
        step("starting Postfix, bloomgate-milter, a name server and the two destinations on 127.0.0.1")
        records = NameServerConfig({key.record_name: key.record for key in keys})
        with NameServer(folder / "name-server", records) as names, Gateway(folder, GatewayConfig(
                whitelist, keep_mail=report is not None, removes_forged_results=False, settings={
                    "authentication": "required", "dns-servers": names.option})) as gateway:
            try:
                step("sending seven messages")
                right = show(gateway, cases(*keys))
            except Exception:
                print(gateway.logs())
                raise
            if not right:
                print(gateway.logs())
            exit_code = 0 if right else 1
            if report:
                explain(gateway, keys[0])
                report(exit_code)
                signal.pause()
    step("nothing is left running")
    return exit_code


def show(gateway, rows):
    """Prints the table. Returns whether every message went where it should."""
    all_right = True
    deliveries = gateway.send(*(message for _, message, _, _ in rows))
    row = "  {:<30} {:<25} {:<11} {:<40} {}".format
    print("\n" + row("case", "sender", "went to", "X-Bloomgate", ""))
    for (name, sent, place, mark), delivery in zip(rows, deliveries):
        right = delivery.place == place and len(delivery.marks) == 1 and delivery.marks[0].startswith(mark)
        all_right = all_right and right
        marks = " + ".join(";".join(mark.split(";")[:2]) for mark in delivery.marks) or "none"
        print(row(name, f"<{sent.path}>", delivery.place, marks, "ok" if right else "WRONG"))
    print()
    return all_right


def explain(gateway, key):
    signed = gateway.folder / "signed.eml"
    signed.write_bytes(message(LISTED, signed_by=key).raw.replace(b"\r\n", b"\n"))
    send = f"swaks --server 127.0.0.1:{gateway.port} --to user@example.net --from"
    print(f"Left running. Send more, signed or forged:\n  {send} {LISTED} --data @{signed}\n  {send} {LISTED}\n"
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
