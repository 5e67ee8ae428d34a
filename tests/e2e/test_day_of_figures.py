"""One composed day of messages of each kind through a real daemon: the status page, the figures, the report on the log,
and a real Prometheus with the dashboard's own queries all have the same numbers, under the same words."""

import json
import random
import re
import shutil
import subprocess
import urllib.parse
from collections import Counter
from contextlib import ExitStack, closing
from html import unescape

import pytest
from conftest import LISTED, skip_without_root
from private_mail.daemon import Daemon, DaemonConfig
from private_mail.filter import REPOSITORY, build_filter_of, built
from private_mail.processes import Program, accepts_connections, free_port, temporary_folder, wait_until
from raw_connection import CONNECTION_STEPS, END, NEGOTIATION, MilterConnection, frame, sender
from test_monitoring import figures, get

FORGED = frame(b"L", b"X-Bloomgate\x00deliver\x00") * 101
LOGIN = frame(b"D", b"M{auth_authen}\x00ann\x00")
FROM = frame(b"L", b"From\x00a@stranger.example\x00")  # of all: the envelope sender decides

# What comes of it, its share of the day in thousandths, and its steps.
KINDS = {
    ("deliver", "listed"): (430, sender(LISTED.encode()) + FROM + END),
    ("deliver", "listed-domain"): (7, sender(b"ann@corp.example") + FROM + END),
    ("check", "not-listed"): (400, sender(b"x@stranger.example") + FROM + END),
    ("check", "null-sender"): (12, sender(b"") + FROM + END),
    ("check", "malformed-sender"): (1, sender(b"@@") + FROM + END),
    ("exempt", "exempt-authenticated"): (149, LOGIN + sender(LISTED.encode()) + FROM + END),
    ("refuse", "forged-fields"): (1, sender(b"x@stranger.example") + FORGED + FROM + END),
}
DASHBOARD = json.loads((REPOSITORY / "config/grafana/bloomgate.json").read_text())


def composed(count):
    """The kinds of a day, in some order: exactly their shares."""
    day = [kind for kind, (share, _) in KINDS.items() for _ in range(share * count // 1000)]
    random.Random(1).shuffle(day)
    assert len(day) == count
    return day


def send(daemon, day):
    """Some hundred messages a connection, as a mail server does."""
    for begin in range(0, len(day), 200):
        with closing(MilterConnection(daemon.address)) as connection:
            connection.put(NEGOTIATION)
            assert connection.answer() == b"O"
            connection.put(CONNECTION_STEPS)
            for kind in day[begin:begin + 200]:
                # A login lasts for the connection: the macro is taken back.
                connection.put(frame(b"D", b"M{auth_authen}\x00\x00") + KINDS[kind][1])
                connection.mark()


@pytest.fixture
def world():
    """The daemon, and a Prometheus that reads it each second."""
    skip_without_root()
    if not shutil.which("prometheus"):
        pytest.skip("prometheus is missing (Debian package prometheus)")
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("day"))
        build_filter_of(folder / "whitelist.bloom", [LISTED, "@corp.example"])
        port = free_port()
        daemon = stack.enter_context(Daemon(folder / "daemon", DaemonConfig(
            folder / "whitelist.bloom", settings={"metrics": f"127.0.0.1:{port}", "identity": "envelope"})))
        scrape = (REPOSITORY / "config/prometheus/scrape.yml").read_text().replace("127.0.0.1:9812", f"127.0.0.1:{port}")
        shutil.copy(REPOSITORY / "config/prometheus/bloomgate.rules.yml", folder)
        (folder / "prometheus.yml").write_text("global: {scrape_interval: 1s}\n" + scrape)
        own_port = free_port()
        prometheus = Program(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                              f"--web.listen-address=127.0.0.1:{own_port}"], folder / "prometheus.log")
        stack.callback(prometheus.stop)
        prometheus.wait_until_ready(lambda: accepts_connections(("127.0.0.1", own_port)), "Prometheus")
        yield daemon, port, own_port


def queried(port, expression):
    """{labels' values: value}"""
    status, text = get(port, "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
    assert status == 200, f"{expression}: {text}"
    return {tuple(value for name, value in sorted(each["metric"].items()) if name not in ("__name__", "job", "instance")):
            float(each["value"][1]) for each in json.loads(text)["data"]["result"]}


def panel(title):
    [found] = [each for each in DASHBOARD["panels"] if each["title"] == title]
    [target] = found["targets"]
    return target["expr"].replace("$__rate_interval", "1h").replace("$instance", ".*")


@pytest.mark.all_only
def test_a_days_numbers_are_the_same_everywhere(world):
    daemon, port, prometheus = world
    count = 10_000
    wait_until(lambda: get(prometheus, "/-/ready")[0] == 200 and queried(prometheus, 'bloomgate_decisions_total{decision="deliver"}'),
               "Prometheus to read the figures before the first message")
    day = composed(count)
    send(daemon, day)
    by_kind = Counter(day)
    wanted = Counter()
    for (decision, _), number in by_kind.items():
        wanted[decision] += number
    shares = {decision: number / count for decision, number in wanted.items()}

    found = figures(port)
    of_figures = {re.search('"(.*)"', labels)[1]: value for (name, labels), value in found.items() if name == "bloomgate_decisions_total"}
    assert of_figures == wanted
    of_reasons = Counter()
    for (name, labels), value in found.items():
        if name == "bloomgate_messages_total":
            of_reasons[tuple(re.findall(r'(?:decision|reason)="(.*?)"', labels))] += value
    assert of_reasons == by_kind

    page = unescape(re.sub(r"<[^>]*>", "\n", get(port, "/")[1])).replace("\u202f", " ")
    words = " ".join(page.split())
    assert f"{count // 1000},000 messages" in words.replace(" 000", ",000")
    for decision, share in shares.items():
        said = {"deliver": "delivered", "check": "checked", "exempt": "not incoming", "refuse": "refused"}[decision]
        assert re.search(rf"{said}: {100 * share:.1f}.?%", words), (decision, share, words[:600])

    wait_until(lambda: daemon.log().count(" decision=") >= count, "the log to have each message")
    done = subprocess.run([built("filter/cli/bloomgate"), "report", "--json", daemon.log_file], capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert report["messages"] == count
    assert {decision: number for decision, number in report["decisions"].items() if number} == wanted

    last = max(of_figures.values())
    wait_until(lambda: max(queried(prometheus, "bloomgate_decisions_total").values()) == last, "Prometheus to read the last message")
    assert queried(prometheus, panel("Delivered")) == {(): pytest.approx(shares["deliver"], rel=1e-9)}
    by_decision = queried(prometheus, panel("Messages by decision"))
    rate = sum(by_decision.values())
    assert {name: value / rate for (name,), value in by_decision.items()} == pytest.approx(shares, rel=1e-9)
