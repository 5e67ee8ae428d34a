"""A month of a mail server, with the real daemon, `bloomgate-update` each night, and logs that are rotated: the lists have
whom the model says, no one else, and miss no one to whom a person has written. The month and its model are in
tests/redteam/month.py. BLOOMGATE_MONTHS=50 plays that many."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import date, datetime, timedelta, timezone

import pytest
from conftest import skip_without_root
from private_mail.daemon import RELOADED, USER, Daemon, DaemonConfig
from private_mail.filter import REPOSITORY, build_filter_of, built
from private_mail.processes import temporary_folder, wait_until
from raw_connection import CONNECTION_STEPS, END, frame, served_connection
from test_monitoring import figures

sys.path.insert(0, str(REPOSITORY / "tests/redteam"))

from month import DAYS, KEPT_LOGS, LEARN_RATE, LISTED_DAYS, NEVER, OWN, PEOPLE, USERS, Forget, Model, Month, address  # noqa: E402

SEEDS = range(32, 32 + int(os.environ.get("BLOOMGATE_MONTHS", "1")))
ASKED = 60  # pairs, after each night

# Of logs that are still written to; a log of long ago is none.
YESTERDAY = int(time.time()) - 86_400


def utc_today():
    return datetime.now(timezone.utc).date()


class Site:
    """A daemon that learns, the log and the folders of a mail server that is played, and what bloomgate-update makes."""

    def __init__(self, stack, folder):
        self.folder, self.lists = folder, folder / "lists"
        self.later = {}  # day -> lines of messages that are delivered then
        for name in ("learned", "log", "home", "public", "lists"):
            (folder / name).mkdir()
        folder.chmod(0o755)
        shutil.chown(folder / "learned", USER)
        self.database, self.whitelist = folder / "learned/learned.db", folder / "public/whitelist.bloom"
        build_filter_of(self.whitelist, ["nobody@first.example"])
        self.figures = folder / "daemon/figures.sock"
        self.daemon = stack.enter_context(Daemon(folder / "daemon", DaemonConfig(self.whitelist, settings={
            "own-domains": OWN, "learn": "outbound", "learn-file": self.database, "learn-rate": LEARN_RATE,
            "metrics": self.figures})))
        self.daemon.logged(r"learning: \S+ with \d+ pairs")
        self.connection = served_connection(self.daemon.address)
        self.connection.put(CONNECTION_STEPS)
        stack.callback(self.connection.close)

    # The mail server.

    def submit(self, path, recipients, login="", fields=()):
        """A message, as the mail server shows it to the daemon. Returns the mark that it gets."""
        lines = [f"From: {path}", f"To: {recipients[0]}", "Date: Fri, 20 Nov 2026 10:00:00 +0000", *fields]
        # What it sends at this step takes the place of what it has sent for the message before.
        macros = frame(b"D", b"M{daemon_name}\0smtpd\0" + (b"{auth_authen}\0" + login.encode() + b"\0" if login else b""))
        self.connection.put(
            macros + frame(b"M", f"<{path}>\0".encode()) + b"".join(frame(b"R", f"<{each}>\0".encode()) for each in recipients) +
            b"".join(frame(b"L", line.replace(": ", "\0", 1).encode() + b"\0") for line in lines) + frame(b"N") + END)
        return self.connection.mark() or b""

    def log(self, day, text):
        with open(self.folder / f"log/{day:02}", "a", encoding="ascii") as file:
            file.write("".join(f"Nov {day + 1:2} 10:00:00 mail postfix/{line}\n" for line in text))

    def receive(self, mail):
        number = f"4F{mail.number:06X}"
        client = f", sasl_method=PLAIN, sasl_username={mail.login}" if mail.login else ""
        lines = [f"submission/smtpd[1]: {number}: client=pc[192.0.2.7]{client}"]
        if mail.field:
            lines.append(f"cleanup[1]: {number}: info: header {mail.field} from pc[192.0.2.7]; from=<{mail.sender}>")
        lines.append(f"qmgr[1]: {number}: from=<{mail.sender}>, size=400, nrcpt={len(mail.recipients)} (queue active)")
        end = [f"smtp[1]: {number}: to=<{each}>, relay=mx[203.0.113.1]:25, delay=1, dsn=2.0.0, status={mail.outcome}"
               for each in mail.recipients] + [f"qmgr[1]: {number}: removed"]
        if mail.delivered == mail.day or mail.delivered == -1:
            return self.log(mail.day, lines + end)
        self.log(mail.day, lines + [line.replace(mail.outcome, "deferred (timed out)") for line in end[:-1]])
        self.later.setdefault(mail.delivered, []).extend(end)

    def keep(self, mail):
        """In its owner's folder of sent mail."""
        folder = self.folder / f"home/{mail.folder}/.Sent/cur"
        folder.mkdir(parents=True, exist_ok=True)
        fields = [f"From: {mail.sender}", f"To: {', '.join(mail.recipients)}", *([mail.field] if mail.field else [])]
        (folder / f"{mail.number}.mx:2,S").write_text("\n".join(fields) + "\n\nHello.\n")

    def remove(self, mail):
        (self.folder / f"home/{mail.folder}/.Sent/cur/{mail.number}.mx:2,S").unlink()

    # The nights.

    def rotate(self, day, copied):
        """mail.log of that day becomes mail.log.1, and so on; `copied` are the days whose log is copied and cut while the
        server writes on at the same place of the file, so that zeros stand there."""
        for old in self.folder.glob("mail.log*"):
            old.unlink()
        for age, of in enumerate(range(day, day - KEPT_LOGS, -1), 1):
            path = self.folder / f"log/{of:02}"
            if not path.exists():
                continue
            content = path.read_bytes()
            if of - 1 in copied and (path.parent / f"{of - 1:02}").exists():
                content = bytes((path.parent / f"{of - 1:02}").stat().st_size) + content
            name = self.folder / f"mail.log.{age}{'.gz' if age > 1 else ''}"
            name.write_bytes(gzip.compress(content) if age > 1 else content)
            os.utime(name, (YESTERDAY + of, YESTERDAY + of))

    def pass_a_day(self):
        """Every list is a day older."""
        for path in self.lists.rglob("????-??-??.txt.zst"):
            day = date.fromisoformat(path.name[:10]) - timedelta(days=1)
            path.rename(path.with_name(f"{day}.txt.zst"))

    def update(self):
        (self.folder / "update.conf").write_text(
            f"HARVEST=\"--own-domain {OWN} --pairs {self.folder}/mail.log* {self.folder}/home/%u/.Sent\"\n"
            f"LEARNED={self.database}\nLISTS={self.lists}\nWHITELIST={self.whitelist}\nNEWEST={LISTED_DAYS}d\n"
            "BUILD_OPTIONS='--bits-per-entry 40 --seed 1'\n")
        path = f"{built('filter/cli/bloomgate').parent}:{os.environ['PATH']}"
        before = len(self.daemon.log())
        done = subprocess.run([REPOSITORY / "scripts/bloomgate-update", self.folder / "update.conf"], capture_output=True,
                              text=True, env={**os.environ, "PATH": path})
        assert done.returncode == 0, done.stderr
        self.daemon.program.signal(signal.SIGUSR1)
        self.daemon.logged(RELOADED, before)

    # What is listed.

    def bloomgate(self, *words, text=None):
        return subprocess.run([built("filter/cli/bloomgate"), *words], capture_output=True, text=True, input=text).stdout

    def learned(self):
        pairs = json.loads(self.bloomgate("learned", "list", self.database, "--json"))["pairs"]
        return {(pair["user"], pair["correspondent"]) for pair in pairs}

    def known_pairs(self):
        return figures(self.figures)["bloomgate_learned_pairs", ""]

    def in_whitelist(self, pairs):
        """Those of the pairs that it has."""
        pairs = sorted(pairs)
        text = "".join(f"{contact} > {user}\n" for user, contact in pairs)
        lines = self.bloomgate("query", self.whitelist, "-", text=text).splitlines()
        assert len(lines) == len(pairs)
        return {pair for pair, line in zip(pairs, lines) if line.startswith("listed")}

    def delivers(self, contact, user):
        return self.submit(contact, [user]).startswith(b"deliver")


def every_pair(model):
    """Everybody who might be listed, for each user."""
    contacts = {*PEOPLE, *(each for mail in model.mails for each in mail.recipients)}
    return {(address(user), contact) for user in USERS for contact in contacts if not contact.endswith("@" + OWN)}


def play_day(site, month, model, day):
    for act in month.days[day]:
        if isinstance(act, Forget):
            # What is still to be written would be forgotten as well, or not.
            wait_until(lambda: site.learned() == model.learned, "what is learned to be written")
            model.forget(act.person)
            site.bloomgate("learned", "forget", site.database, act.person)
            wait_until(lambda: site.known_pairs() == len(model.learned), "the daemon to forget")
            continue
        model.send(act)
        if act.in_log and act.is_seen:
            site.submit(act.sender, act.recipients, act.login, [act.field] if act.field else [])
        if act.in_log:
            site.receive(act)
        if act.folder:
            site.keep(act)
    site.log(day, site.later.pop(day, []))
    # Users delete sent mail, too.
    for mail in model.mails:
        if mail.folder and mail.number not in model.removed and month.random.random() < 0.1:
            model.removed.add(mail.number)
            site.remove(mail)


def check_night(site, month, model):
    pairs = every_pair(model)
    wanted = model.in_whitelist()
    assert site.in_whitelist(pairs) == wanted
    assert not [pair for pair in wanted | model.learned if pair[1].endswith("@" + NEVER)]
    for user, contact in month.random.sample(sorted(pairs), ASKED):
        is_listed = (user, contact) in wanted | model.learned
        assert site.delivers(contact, user) == is_listed, f"{contact} > {user}"


@pytest.mark.all_only
@pytest.mark.parametrize("seed", SEEDS)
def test_in_a_month_nobody_is_listed_or_missed_against_the_model(seed):
    skip_without_root()
    month, model = Month(seed), Model()
    with temporary_folder("month") as folder, ExitStack() as stack:
        site = Site(stack, folder)
        for day in range(DAYS):
            play_day(site, month, model, day)
            wait_until(lambda: site.learned() >= model.learned, "what is learned to be written")
            assert site.learned() == model.learned
            if day not in month.missed:
                today = utc_today()
                site.rotate(day, month.copied)
                site.update()
                if utc_today() != today:
                    pytest.skip("midnight has passed: the lists are a day older than the month has them")
                model.update(day)
                check_night(site, month, model)
            site.pass_a_day()
    assert model.granted["eve"] == LEARN_RATE
