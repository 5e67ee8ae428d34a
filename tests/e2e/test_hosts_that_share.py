"""Users submit their mail at some hosts, and answers arrive at others: what one host learns and forgets, all of them know.
How soon, tests/bench/hosts measures.

Two submission hosts and three MX hosts, each with a private Postfix, a daemon of its own, `bloomgate share` beside a
daemon that learns, and `bloomgate pull` for each host that it hears of.
"""

import re
import shutil
import subprocess
import sys
from functools import partial

import pytest
from private_mail.daemon import USER
from private_mail.filter import built
from private_mail.processes import Program, accepts_connections, free_port, temporary_folder, wait_until
from test_learning import ANN, BOB, OTHER_STRANGER, STRANGER, World

BLOOMGATE = built("filter/cli/bloomgate")


def run(*words):
    return subprocess.run([BLOOMGATE, *words], capture_output=True, text=True, check=True).stdout


class SubmissionHost:
    """One whose daemon learns; what it shares is shown by a web server."""

    def __init__(self, site, name):
        self.site, self.name = site, name
        self.folder = site.folder / name
        self.folder.mkdir()
        self.key = self.folder / "sign.key"
        self.public_key = run("sign", "--new-key", self.key).strip()
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        self.port = free_port()
        self.web = site.begin(Program([sys.executable, "-m", "http.server", str(self.port), "--bind", "127.0.0.1",
                                       "--directory", self.shared], self.folder / "web.log"))
        self.web.wait_until_ready(lambda: accepts_connections(("127.0.0.1", self.port)), "the web server")

    def start(self, others):
        self.others = others
        settings = {"learned-from": [self.site.heard(self, other) for other in others]} if others else {}
        self.world = World(self.site.gateways, **settings, **self.site.settings)
        self.share = None
        self.begin_to_share()

    def begin_to_share(self):
        command = [BLOOMGATE, "share", self.world.file, self.shared, "--learn-key", self.site.learn_key,
                   "--sign-key", self.key, "--list-name", self.name, "--watch", "1", "--json"]
        self.share = self.site.begin(Program(command, self.folder / "share.log"))

    def write(self, *arguments, **options):
        self.world.write(*arguments, **options)

    def forget(self, person):
        self.world.bloomgate("forget", self.world.file, person)


class Site:
    def __init__(self, gateways, processes):
        self.gateways, self.processes = gateways, processes
        self.folder = gateways.enter(temporary_folder("site"))
        self.learn_key = self.folder / "learn.key"
        run("share", "--new-learn-key", self.learn_key)
        shutil.chown(self.learn_key, USER)
        self.settings = {"learn-key": self.learn_key}
        self.submission = [SubmissionHost(self, f"submit{number}") for number in (1, 2)]
        self.pulls = {}
        first, second = self.submission
        first.start([second])
        second.start([first])
        self.mx = [World(gateways, learn="none", **{"learned-from": [self.heard(name, host) for host in self.submission]},
                         **self.settings) for name in ("mx1", "mx2", "mx3")]

    def begin(self, program):
        self.processes.append(program)
        return program

    def heard(self, who, host):
        """What a host has in learned-from, and the process that brings it there."""
        name = who if isinstance(who, str) else who.name
        front = self.folder / f"{name}-hears-{host.name}"
        command = [BLOOMGATE, "pull", f"http://127.0.0.1:{host.port}/", front, "--trusted-key", host.public_key, "--watch", "1"]
        start = partial(Program, command, self.folder / f"{front.name}.log")
        self.pulls[front.name] = (start, self.begin(start()))
        return f"{front} {host.public_key}"

    def hosts(self):
        return [*self.mx, *(host.world for host in self.submission)]

    def await_answers(self, want, user=ANN, sender=STRANGER, hosts=None):
        """Until the answer has that decision at all hosts."""
        for host in hosts or self.hosts():
            wait_until(lambda host=host: host.answer(user, sender=sender) == want, f"{want} at a host")


@pytest.fixture(scope="module")
def site(start_shared_gateway):
    processes = []
    try:
        yield Site(start_shared_gateway, processes)
    finally:
        for program in processes:
            program.kill()


def test_an_answer_is_delivered_at_every_host(site):
    first, second = site.submission
    assert [host.answer(ANN) for host in site.hosts()] == ["check not-listed"] * 5
    first.write(ANN, STRANGER)
    site.await_answers("deliver learned")
    assert [host.answer(BOB) for host in site.mx] == ["check not-listed"] * 3
    assert [host.answer(ANN, signed=False) for host in site.mx] == ["check not-authenticated"] * 3
    second.write(BOB, STRANGER, login="bob")
    site.await_answers("deliver learned", user=BOB)


def test_what_is_forgotten_at_one_host_is_forgotten_at_every_host(site):
    first, second = site.submission
    first.write(ANN, STRANGER)
    second.write(ANN, STRANGER)
    site.await_answers("deliver learned")
    wait_until(lambda: (ANN, STRANGER) in second.world.known(), "the second host to learn it")
    first.forget(STRANGER)
    site.await_answers("check not-listed")
    wait_until(lambda: (ANN, STRANGER) not in second.world.known(), "the second host to forget it")
    # Learned once more, it holds again.
    second.write(ANN, STRANGER)
    site.await_answers("deliver learned")


def test_a_host_that_was_down_catches_up(site):
    first, second = site.submission
    first.write(ANN, STRANGER)
    site.await_answers("deliver learned")
    away = site.mx[2]
    away.gateway.daemon.kill()
    for name, (_, pull) in site.pulls.items():
        if name.startswith("mx3"):
            pull.kill()
    second.share.kill()
    second.world.gateway.daemon.kill()
    first.forget(STRANGER)
    first.write(ANN, OTHER_STRANGER)
    here = [site.mx[0], site.mx[1], first.world]
    site.await_answers("deliver learned", sender=OTHER_STRANGER, hosts=here)
    site.await_answers("check not-listed", hosts=here)
    second.world.gateway.daemon.start()
    second.begin_to_share()
    away.gateway.daemon.start()
    for name, (start, _) in list(site.pulls.items()):
        if name.startswith("mx3"):
            site.pulls[name] = (start, site.begin(start()))
    site.await_answers("deliver learned", sender=OTHER_STRANGER)
    site.await_answers("check not-listed")
    wait_until(lambda: (ANN, STRANGER) not in second.world.known(), "the host that was down to forget it")


@pytest.mark.all_only
def test_nothing_is_lost_when_any_process_is_killed(site):
    """Users write, and are forgotten, while one process after the other is killed."""
    first, second = site.submission
    written = []
    for round_number in range(3):
        for host in (first, second):
            person = f"round{round_number}-{host.name}@example.org"
            host.write(ANN, person)
            written.append(person)
            host.world.is_written(ANN, person)
            host.share.kill()
            host.world.gateway.daemon.kill()
            host.world.gateway.daemon.start()
            host.begin_to_share()
        for name, (start, pull) in list(site.pulls.items()):
            pull.kill()
            site.pulls[name] = (start, site.begin(start()))
        mx = site.mx[round_number]
        mx.gateway.daemon.kill()
        mx.gateway.daemon.start()
    for person in written:
        site.await_answers("deliver learned", sender=person)


def test_nothing_that_is_shared_has_an_address(site):
    first = site.submission[0]
    first.write(ANN, STRANGER)
    site.await_answers("deliver learned")
    for path in first.shared.iterdir():
        content = path.read_bytes()
        assert not re.search(rb"example|ann|listed", content), path.name
