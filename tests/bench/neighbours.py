#!/usr/bin/python3 -B
"""From DATA to the answer: a listed sender, a neighbour at the same domain, and a sender elsewhere, of messages with a
worthless signature.

usage: neighbours.py [--messages N]

Postfix hands each message to the daemon, whose name server answers after 100 ms. Every signature names a key that was
never asked for. The three kinds of senders alternate, with bodies of 5 kB and 25 MB, and nothing else runs between. For
each size the medians and their differences are printed, with the 95% bounds of the difference of listed and neighbour
(of the median of pairs, by the order of the pairs' differences).
"""

import argparse
import math
import os
import re
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "scripts"))

from private_mail.client import Client, RawMessage  # noqa: E402
from private_mail.faulty_name_server import FaultyNameServer, Record  # noqa: E402
from private_mail.filter import build_filter_of  # noqa: E402
from private_mail.gateway import Gateway, GatewayConfig  # noqa: E402
from private_mail.network import PrivateNetwork  # noqa: E402
from private_mail.processes import temporary_folder  # noqa: E402
from private_mail.signing import SigningKey, new_private_key  # noqa: E402

DELAY_SECONDS = 0.1
LINE = b"The quick brown fox jumps over the lazy dog, again and again.\r\n"
BODIES = {"5 kB": LINE * 79, "25 MB": LINE * 396_826}
SENDERS = {"listed": "listed@example.org", "neighbour": "neighbor@example.org", "elsewhere": "somebody@other.example"}
SELECTOR = b"s=number-00000;"


def signed(sender, body, private):
    """Of a key that is not the domain's."""
    raw = (f"From: <{sender}>\r\nTo: <user@example.net>\r\nSubject: test\r\nDate: Thu, 26 Nov 2026 10:00:00 +0000\r\n"
           "Message-ID: <1@example.org>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n").encode() + body
    message = SigningKey(sender.partition("@")[2], "number-00000", private).sign(raw)
    if message.count(SELECTOR) != 1:
        raise RuntimeError("the signature has no selector to be replaced")
    return message


def seconds_of(port, sender, raw):
    with Client(port) as client:
        client.command(f"MAIL FROM:<{sender}>")
        client.command("RCPT TO:<user@example.net>")
        started = time.monotonic()
        client.begin_data(RawMessage(sender, raw=raw))
        client.end()
        return time.monotonic() - started


def bounds(differences):
    """The 95% bounds of their median."""
    ordered = sorted(differences)
    reach = 1.96 * math.sqrt(len(ordered)) / 2
    low, high = math.floor(len(ordered) / 2 - reach), math.ceil(len(ordered) / 2 + reach)
    return ordered[max(low, 0)], ordered[min(high, len(ordered) - 1)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=100, help="of each kind, with 5 kB; a fourth of it with 25 MB")
    arguments = parser.parse_args()
    private, other = new_private_key(), new_private_key()
    record = Record((SigningKey("example.org", "x", other).record,), delay_seconds=DELAY_SECONDS)
    print(f"load average before the run {os.getloadavg()[0]:.1f}")
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("neighbours"))
        network = stack.enter_context(PrivateNetwork(folder))
        names = stack.enter_context(FaultyNameServer(folder / "names", {
            "*._domainkey.example.org": record, "*._domainkey.other.example": record}, network))
        build_filter_of(folder / "whitelist.bloom", [SENDERS["listed"]], "--bits-per-entry", "32")
        (folder / "gateway").mkdir()
        (folder / "gateway").chmod(0o755)
        gateway = stack.enter_context(Gateway(folder / "gateway", GatewayConfig(
            folder / "whitelist.bloom", network=network, main_cf="message_size_limit = 100000000\n",
            settings={"authentication": "required", "dns-servers": names.option})))
        number = 0
        for size, body in BODIES.items():
            rounds = arguments.messages if size == "5 kB" else max(arguments.messages // 4, 10)
            messages = {kind: signed(sender, body, private) for kind, sender in SENDERS.items()}
            seconds = {kind: [] for kind in SENDERS}
            for turn in range(-2, rounds):  # the first are to warm
                kinds = list(SENDERS)
                for kind in kinds if turn % 2 else reversed(kinds):
                    number += 1
                    raw = re.sub(re.escape(SELECTOR), b"s=number-%05d;" % number, messages[kind], count=1)
                    measured = seconds_of(gateway.port, SENDERS[kind], raw)
                    if turn >= 0:
                        seconds[kind].append(measured)
            medians = {kind: 1000 * statistics.median(values) for kind, values in seconds.items()}
            low, high = bounds([1000 * (a - b) for a, b in zip(seconds["listed"], seconds["neighbour"])])
            print(f"{size:>5}: " + ", ".join(f"{kind} {value:.1f} ms" for kind, value in medians.items())
                  + f"; listed - neighbour {medians['listed'] - medians['neighbour']:+.1f} ms"
                  f" (95% of the pairs' median: {low:+.1f} to {high:+.1f})", flush=True)
        print(f"the name server was asked {len(names.questions())} times")
    print(f"load average after the run {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
