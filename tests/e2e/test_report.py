"""From the real daemon's log to the page: what was sent is what is counted, in each form that the log has."""

import itertools
import json
import struct
import subprocess
import time
from collections import Counter

import pytest
from accessibility import faults_of
from browser import Browser
from conftest import LISTED, UNLISTED, first_of
from private_mail.client import Message
from private_mail.daemon import USER, Daemon
from private_mail.filter import build_folder
from private_mail.own_mounts import may_unshare, own_mounts
from private_mail.processes import Program, free_port, temporary_folder, wait_until
from private_mail.unit_filter import starter
from system_log import OWN_LOG, SystemLog

BLOOMGATE = build_folder() / "filter/cli/bloomgate"
FORGED = (b"X-Bloomgate: deliver; forged", b"X-Bloomgate: deliver; again")
SCRIPT = '"<script>alert(1)</script>"@markup.example'
LONG_DOMAIN = ".".join(["a" * 60] * 3) + ".example"
MESSAGES = (*[Message(LISTED)] * 5, *[Message(UNLISTED)] * 3, Message("x@Stranger.example"), Message(SCRIPT),
            Message(f"x@{LONG_DOMAIN}"), Message(""), Message(LISTED, headers=FORGED))


def report(log, *options):
    done = subprocess.run([BLOOMGATE, "report", *options, log], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class LoggingDaemon(Daemon):
    """Logs to syslog, in a folder of devices of its own."""

    def __enter__(self):
        self.system_log_folder = self.folder.parent / "system-log"
        self.system_log_folder.mkdir()
        self.system_log = SystemLog(self.system_log_folder)
        self.mounts = own_mounts()
        self.prefix = [*self.mounts.__enter__(), "sh", "-c", OWN_LOG, "daemon", self.system_log_folder]
        return super().__enter__()

    def __exit__(self, *parts):
        try:
            super().__exit__(*parts)
        finally:
            self.mounts.__exit__(None, None, None)

    def launch(self):
        self.may_fail = True
        self.program = Program([*starter(folder=self.folder), *self.command()], self.log_file, user=USER, prefix=self.prefix)
        return self.program

    def log(self):
        return self.system_log.file.read_text()


@pytest.fixture(scope="module", params=first_of(["syslog", "stderr"]))
def log(request, start_shared_gateway):
    """A log, of as many decisions as messages were sent."""
    settings = {"log-target": request.param, "deep-check": f"spamd:inet:{free_port()}@127.0.0.1"}  # where nobody listens
    if request.param == "syslog" and not may_unshare():
        pytest.skip("a mount namespace cannot be made here")
    gateway = start_shared_gateway(settings=settings, removes_forged_marks=False,
                                   daemon=LoggingDaemon if request.param == "syslog" else Daemon)
    gateway.send(*MESSAGES)
    wait_until(lambda: gateway.daemon.log().count("queue_id=") >= len(MESSAGES), "the daemon to log each message")
    daemon = gateway.daemon
    return daemon.system_log.file if request.param == "syslog" else daemon.log_file


def test_the_figures_are_those_of_the_mail_that_was_sent(log):
    figures = json.loads(report(log, "--json"))
    delivered = sum(message.path == LISTED for message in MESSAGES)
    checked = len(MESSAGES) - delivered
    assert figures["messages"] == len(MESSAGES)
    assert figures["decisions"] == {"deliver": delivered, "check": checked, "exempt": 0, "refuse": 0}
    reasons = {(each["decision"], each["reason"]): each["messages"] for each in figures["reasons"]}
    assert reasons[("deliver", "listed")] == delivered
    assert sum(reasons.values()) == len(MESSAGES)
    assert figures["delivered_by"]["identity"] == {"envelope": delivered}
    assert figures["delivered_by"]["whitelist"] == {"whitelist": delivered}
    assert [(each["domain"], each["messages"]) for each in figures["listed_domains"]] == [("example.org", delivered)]
    strangers = Counter(message.path.rpartition("@")[2].lower() for message in MESSAGES
                        if message.path not in (LISTED, ""))
    seen = {each["domain"]: each["messages"] for each in figures["unlisted_domains"]}
    assert {domain: seen.get(domain) for domain in strangers} == strangers
    senders = {each["domain"]: (each["messages"], each["delivered"]) for each in figures["senders"]}
    assert senders.pop("example.org") == (delivered + strangers.pop("example.org"), delivered)
    assert {domain: senders.get(domain) for domain in strangers} == {domain: (count, 0) for domain, count in strangers.items()}
    assert figures["forged"]["messages"] == 1 and figures["forged"]["fields"] == len(FORGED)
    assert figures["decision_seconds"]["count"] == len(MESSAGES)
    assert figures["deep_checks"]["answers"] == {"failed": checked}
    assert figures["starts"] == 1
    for span in ("hours", "days"):
        assert sum(each["deliver"] + each["check"] for each in figures[span]) == len(MESSAGES)
    assert sum(each["times"] for each in figures["warnings"]) >= checked


def test_the_text_has_the_same_figures_and_no_control_byte(log):
    text = report(log, "--since", "24h")
    delivered = sum(message.path == LISTED for message in MESSAGES)
    assert f"deliver: {delivered}\n" in text
    assert "stranger.example" in text
    assert text.isascii() and not set(text) & set(map(chr, [*range(10), *range(11, 32), 127]))


def log_of_a_month(path):
    """Of each kind of message some on each day, with names that are long."""
    tree = f"partners.{'b' * 50}.example"
    of_each = ("<{n}@{tree}> decision=deliver reason=listed-domain-tree authentication=dkim whitelist={list} dkim=pass domain={tree}",
               "<{n}@shop.example> decision=check reason=not-authenticated whitelist={list} dkim=no-signature signed_by=esp.example",
               "<{n}@{tree}> decision=check reason=suspended whitelist={list}", "<{n}@{tree}> decision=check reason=burst whitelist={list}",
               "<{n}@stranger.example> decision=check reason=not-listed whitelist=-",
               "<{n}@ours.example> decision=deliver reason=exempt-authenticated whitelist=-")
    with open(path, "w", encoding="ascii") as log:
        for day in range(30):
            for hour in range(24):
                at = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(1_790_000_000 + day * 86_400 + hour * 3600))
                for n, text in enumerate(of_each):
                    sender, _, rest = text.format(n=f"u{n}", tree=tree, list=f"{'customers-' * 5}all/0001").partition("> ")
                    address = sender.removeprefix("<")
                    log.write(f"{at} mx bloomgate-milter[1]: queue_id=4{day:02}{hour:02}{n} sender={sender}> {rest} "
                              f"time_us={10 + n}.5 identity=envelope header_from={address}\n")
    return path


@pytest.mark.skipif(bool(Browser.reason_for_none()), reason=Browser.reason_for_none())
def test_the_page_is_readable_on_a_telephone_and_a_desk_by_day_and_by_night(log, tmp_path_factory):
    with temporary_folder("report") as folder, Browser(tmp_path_factory.mktemp("chromium")) as browser:
        page = folder / "month.html"
        page.write_text(report(log_of_a_month(folder / "month"), "--html"))
        for width, dark in itertools.product((360, 768, 1280), (False, True)):
            browser.open_page(page.as_uri(), width, dark)
            assert browser.value_of("document.documentElement.scrollWidth") <= width
            assert faults_of(browser) == []
            text = browser.value_of("document.body.innerText")
            for words in ("suspended", "burst", "shop.example", "no-signature", "2026-09-22", "2026-10-20"):
                assert words in text, f"'{words}' is missing in:\n{text}"
        page = folder / "report.html"
        page.write_text(report(log, "--html"))
        for width, dark in itertools.product((360, 768, 1280), (False, True)):
            browser.open_page(page.as_uri(), width, dark)
            text = browser.value_of("document.body.innerText")
            for words in ("Bloomgate report", "Messages by hour", "Top senders", "Top unlisted domains", "stranger.example",
                          "Forged marks", "Time that each decision took", "Deeper checks", "Warnings and errors", "Spared"):
                assert words in text, f"'{words}' is missing in:\n{text}"
            # No word of it leads sideways out of the screen.
            assert browser.value_of("document.documentElement.scrollWidth") <= width
            assert faults_of(browser) == []
            assert browser.complaints() == []
            assert browser.requests() == [page.as_uri()]
            assert browser.value_of("document.scripts.length") == 0
            assert browser.value_of("document.querySelectorAll('svg rect').length") >= 2
            picture = browser.picture()
            [picture_width] = struct.unpack(">I", picture[16:20])
            assert width - 20 <= picture_width <= width
            shown = [sum(int(part) for part in browser.value_of(
                f"getComputedStyle(document.body).{name}.match(/\\d+/g).slice(0, 3).join(' ')").split()) / 3
                for name in ("color", "backgroundColor")]
            assert (shown[0] - shown[1] if dark else shown[1] - shown[0]) > 150
