"""An operator's first day, by README.md alone: in a clean Debian with its own Postfix, under a real systemd, three
commands lead to the first `deliver` of a message that is really signed. Undone and purged, nothing is left but the
whitelist. Another operator has no list: he follows config/guide/renew.md, then users write and are answered. The commands are
read from these pages. `transcript` in the log of a failure, or in the file that the environment
variable BLOOMGATE_TRANSCRIPT names, has each of them with its time."""

import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

import pytest
from private_mail.faulty_name_server import Record
from private_mail.filter import REPOSITORY
from private_mail.signing import SigningKey

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "systemd"))

import container  # noqa: E402
import signed_mail  # noqa: E402

pytestmark = pytest.mark.boots_containers
SCRIPT = HERE / "first_day.sh"
FROM_NOTHING = HERE / "from_nothing.sh"
RENEWING = "config/guide/renew.md"


@dataclass(frozen=True)
class Server:
    """What the operator has before Bloomgate comes."""

    root: str = "debian-root"
    packages: tuple = container.PACKAGES
    services: str = ""
    ports: str = ""
    checked: str = ""  # what a message that was checked has in its header
    spared: str = "no trace"  # what a message has that only met the check's rule about marks; or nothing of checked
    option: str = ""  # of setup-postfix


def with_recipe(root, services, ports, checked, spared, option):
    return Server(root, container.RECIPE_PACKAGES[root], services, ports, checked, spared, option)


SERVERS = {
    "postfix": Server(),
    "rspamd": with_recipe("recipe-root-rspamd", "rspamd", "11332 11333", "^X-Spamd-Result: .*MIME_GOOD|^\\s.*MIME_GOOD",
                          "no trace", " --recipe rspamd"),
    "spamassassin": with_recipe("recipe-root-spamassassin", "spamd spamass-milter", "783", "^X-Spam-Checker",
                                "BLOOMGATE_DELIVER", " --recipe spamassassin"),
}


def commands_of(title, page="README.md"):
    """The indented lines of that section of a page."""
    section = re.search(rf"(?ms)^## {re.escape(title)}$(.*?)(?=^## )", (REPOSITORY / page).read_text())
    assert section, title
    return re.findall(r"(?m)^    (.*)$", section.group(1))


def prepare(root, packages, server):
    desk = root / "srv/first-day"
    desk.mkdir(parents=True)
    for package in packages.glob("*.deb"):
        shutil.copy(package, desk)
    (desk / "customers.txt").write_text("joe@example.org\n")
    checks = root / "checks"
    commands = commands_of("Three commands to the first `deliver`")
    (checks / "commands").write_text("\n".join([*commands[:-1], commands[-1] + server.option, ""]))
    (checks / "undoing").write_text("\n".join([*commands_of("Taking it out again"), ""]))
    (checks / "variant.sh").write_text(
        f"services='{server.services}' ports='{server.ports}' checked='{server.checked}' spared='{server.spared}'\n")
    signed_mail.put(checks)
    (root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")


@pytest.fixture(scope="module")
def day(request, packages):
    server = SERVERS[request.param]
    with container.checked(SCRIPT, lambda root: prepare(root, packages, server), server.packages, server.root) as found:
        if file := os.environ.get("BLOOMGATE_TRANSCRIPT"):
            with open(file, "a", encoding="utf-8") as kept:
                kept.write(f"=== {request.param}\n{found.text('transcript')}\n")
        yield found


@pytest.mark.parametrize("check", ["prepare", *container.names_of_checks(SCRIPT)])
@pytest.mark.parametrize("day", [
    pytest.param(name, marks=[] if name == "postfix" else pytest.mark.all_only) for name in SERVERS], indirect=True)
def test_first_day(day, check):
    try:
        day.require(check)
    except AssertionError as error:
        raise AssertionError(f"{error}\n--- transcript\n{day.text('transcript')}") from error


def message(sender, recipient, name):
    fields = (f"From: {sender}", f"To: {recipient}", "Subject: lunch", f"Date: {formatdate()}",
              f"Message-ID: <{name}@example.org>", "MIME-Version: 1.0", "Content-Type: text/plain; charset=us-ascii")
    return "\r\n".join([*fields, "", "Hello.", ""]).encode()


def prepare_without_a_list(root, packages):
    desk = root / "srv/desk"
    desk.mkdir(parents=True)
    for package in packages.glob("*.deb"):
        shutil.copy(package, desk)
    checks = root / "checks"
    (checks / "commands").write_text("\n".join([*commands_of("From nothing to a whitelist", RENEWING), ""]))
    (checks / "forgetting").write_text("\n".join([*commands_of("To forget a person", RENEWING), ""]))
    signed_mail.put(checks)
    key = SigningKey("example.org")
    (checks / "records.json").write_text(json.dumps({key.record_name: Record((key.record,)).for_program()}))
    for sender in ("joe", "old", "friend"):
        (checks / f"from-{sender}").write_bytes(key.sign(message(f"{sender}@example.org", "you@example.net", "NAME"),
                                                         fields=(b"from", b"date", b"subject")))
    sent = root / "home/bob/Maildir/.Sent/cur"
    sent.mkdir(parents=True)
    (sent / "1700000000.1.mx:2,S").write_bytes(message("bob@example.net", "friend@example.org", "lunch").replace(b"\r\n", b"\n"))
    (root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")


@pytest.fixture(scope="module")
def night(packages):
    with container.checked(FROM_NOTHING, lambda root: prepare_without_a_list(root, packages)) as found:
        yield found


@pytest.mark.all_only
@pytest.mark.parametrize("check", ["prepare", *container.names_of_checks(FROM_NOTHING)])
def test_from_nothing(night, check):
    night.require(check)
