"""What the daemon shows of itself, after real mail through a real Postfix: figures for Prometheus, and the status page."""

import contextlib
import http.client
import json
import re
import shutil
import socket
import subprocess
import time
import urllib.parse

import pytest
from conftest import LISTED, UNLISTED, assert_it_serves
from private_mail.client import Message
from private_mail.daemon import USER
from private_mail.filter import REPOSITORY, build_filter_of, built
from private_mail.gateway import LIGHT_PATH
from private_mail.processes import PATIENCE_SECONDS, Program, accepts_connections, free_port, temporary_folder, wait_until

SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE_SECONDS)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def get(address, target, method="GET", **headers):
    """The status and the text of a page. `address` is a port, or the path of a unix socket."""
    connection = (http.client.HTTPConnection("127.0.0.1", address, timeout=PATIENCE_SECONDS) if isinstance(address, int)
                  else UnixConnection(address))
    with contextlib.closing(connection):
        connection.request(method, target, headers=headers)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()


def figures(address):
    """{(name, labels in their order): value}"""
    status, text = get(address, "/metrics")
    assert status == 200
    samples = [SAMPLE.match(line).groups() for line in text.splitlines() if not line.startswith("#")]
    return {(name, labels or ""): float(value) for name, labels, value in samples}


def messages(found):
    """{(decision, reason): count}"""
    counts = {}
    for (name, labels), value in found.items():
        if name == "bloomgate_messages_total":
            key = tuple(re.findall(r'(?:decision|reason)="(.*?)"', labels))
            counts[key] = counts.get(key, 0) + value
    return counts


@pytest.fixture
def start(start_gateway):
    """gateway, port = start(): a gateway whose daemon shows what it does on that port."""
    def start_watched(**settings):
        port = free_port()
        return start_gateway(settings={"metrics": f"127.0.0.1:{port}", **settings}), port
    return start_watched


def test_the_figures_are_those_of_the_mail_that_was_sent(start):
    gateway, port = start()
    assert messages(figures(port)) == {}
    gateway.send(*[Message(LISTED)] * 7, *[Message(UNLISTED)] * 4, Message(""))
    found = figures(port)
    assert messages(found) == {("deliver", "listed"): 7, ("check", "not-listed"): 4, ("check", "null-sender"): 1}
    assert found["bloomgate_decision_seconds_count", ""] == 12
    assert found["bloomgate_decision_seconds_sum", ""] < 1
    assert found["bloomgate_look_ups_total", ""] >= 11
    assert found["bloomgate_hits_total", ""] >= 7
    assert found["bloomgate_sessions_total", ""] >= 1
    assert found["bloomgate_whitelist_entries", 'whitelist="whitelist"'] > 0
    assert 0 < found["bloomgate_whitelist_fill_ratio", 'whitelist="whitelist"'] < 1
    assert abs(found["bloomgate_whitelist_loaded_timestamp_seconds", 'whitelist="whitelist"'] - time.time()) < 600
    assert found["bloomgate_whitelist_written_timestamp_seconds", 'whitelist="whitelist"'] <= time.time()


def test_clients_that_hang_hold_up_neither_mail_nor_the_end(start):
    gateway, port = start()
    with contextlib.ExitStack() as stack:
        for number in range(200):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            if number % 3:
                client.send(b"GET / HTTP/1.1\r\n" if number % 3 == 1 else b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        begun = time.monotonic()
        assert_it_serves(gateway)
        assert gateway.daemon.stop() == 0
        assert time.monotonic() - begun < PATIENCE_SECONDS
    gateway.daemon.start()
    assert messages(figures(port)) == {}


def test_an_address_in_use_is_logged_and_mail_is_served(start_gateway):
    gateway = start_gateway()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        gateway.daemon.restart({**gateway.config.settings, "metrics": f"127.0.0.1:{port}"})
        gateway.daemon.logged("metrics: nothing is shown: .*another program|metrics: nothing is shown: .*cannot listen")
        [delivery] = gateway.send(Message(LISTED))
        assert delivery.place == LIGHT_PATH


def test_an_address_for_all_is_warned_of_and_shows_no_senders(start_gateway):
    gateway = start_gateway()
    port = free_port()
    gateway.daemon.restart({**gateway.config.settings, "metrics": f"0.0.0.0:{port}"})
    gateway.daemon.logged("warning: metrics: .* can be reached from other machines")
    gateway.send(Message(LISTED))
    status, page = get(port, "/", Host="mail.example.org")
    assert status == 200
    assert "example.org" not in page and "unix socket only" in page


# ---- What is shipped beside the daemon asks for figures that it has ----

RULES = REPOSITORY / "config/prometheus/bloomgate.rules.yml"
DASHBOARD = REPOSITORY / "config/grafana/bloomgate.json"


def panels_of_dashboard():
    """Its rows, and its panels."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [each for each in panels if each["type"] == "row"], [each for each in panels if each["type"] != "row"]


def expressions_of_dashboard():
    return [target["expr"] for panel in panels_of_dashboard()[1] for target in panel["targets"]]


def cells_of(panel):
    """The cells of the grid that a panel covers."""
    place = panel["gridPos"]
    return {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}


# Figures that no panel asks for, and why.
NOT_ON_THE_DASHBOARD = {
    "bloomgate_burst_observing": "the status page says until when it observes",
    "bloomgate_child_signed_messages_total": "the alert BloomgateListedMailUnproven; bloomgate report names the signers",
    "bloomgate_confirmations_total": "the alert BloomgateStoreFaulty; a panel has the time of an answer",
    "bloomgate_counted_senders": "grows once, to what there is; a panel has their memory, and the status page their number",
    "bloomgate_delivery_sample_ratio": "an option; a panel has the samples by answer",
    "bloomgate_heard_pairs": "the alert BloomgateLearnedElsewhere",
    "bloomgate_heard_timestamp_seconds": "the alert BloomgateLearnedElsewhere",
    "bloomgate_hits_total": "the status page has it; a panel has the reasons, which say what became of a hit",
    "bloomgate_key_lookups_total": "the alert BloomgateKeysMissing; a panel has the time of a look-up",
    "bloomgate_last_reload_timestamp_seconds": "the alerts BloomgateReloadRefused and BloomgateWaitsForRestart",
    "bloomgate_learned_renewed_total": "a panel has the known pairs",
    "bloomgate_learned_total": "the alerts BloomgateNothingLearned and BloomgateLearningStopped; a panel has the known pairs",
    "bloomgate_log_lines_lost_total": "the alert BloomgateLogLinesLost",
    "bloomgate_look_ups_total": "the status page has it; a look-up takes a part of the time of a decision, which a panel has",
    "bloomgate_posted_messages_refused_total": "the program that posts sees each status; the log says why, at most once a minute",
    "bloomgate_reloads_total": "the alert BloomgateReloadRefused",
    "bloomgate_sessions_total": "a mail server keeps connections open: the rate of new ones says little",
    "bloomgate_signatures_total": "the alerts BloomgateListedMailUnproven and BloomgateKeysMissing; a panel has the reasons",
    "bloomgate_start_timestamp_seconds": "Prometheus sees a restart by the counters",
    "bloomgate_whitelist_false_positive_ratio": "the status page has it; a panel has the share of messages that it leads to",
    "bloomgate_whitelist_fill_ratio": "the status page has it; a panel has the share of random keys that it leads to",
    "bloomgate_whitelist_holds_until_timestamp_seconds": "the alert BloomgateWhitelistOverdue",
    "bloomgate_whitelist_layers": "the doctor says when there are too many",
    "bloomgate_whitelist_loaded_timestamp_seconds": "the status page has it; a panel has when the whitelist was written",
    "bloomgate_whitelist_published_number": "the status page has it; a query compares the servers of a site by it",
}


def test_the_dashboard_has_four_questions_and_few_panels_each_described():
    rows, panels = panels_of_dashboard()
    assert [row["title"] for row in rows] == [
        "Is it working?", "What does it decide?", "What does it let through?", "What does it cost?"]
    assert not any(row["panels"] or row["collapsed"] for row in rows)
    assert len(panels) <= 16
    everything = json.loads(DASHBOARD.read_text())["panels"]
    for key in ("id", "title"):
        assert len({each[key] for each in everything}) == len(everything)
    for panel in panels:
        assert panel["title"].strip() and panel["description"].strip() and panel["targets"], panel
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
    covered = set()
    for each in everything:
        cells, place = cells_of(each), each["gridPos"]
        assert cells and 0 <= place["x"] and place["x"] + place["w"] <= 24 and place["y"] >= 0, each["title"]
        assert not cells & covered, f"{each['title']} lies on another panel"
        covered |= cells
    # Grafana puts a panel under the last row before it in the list, and draws it where gridPos says.
    places = [(each["gridPos"]["y"], each["gridPos"]["x"]) for each in everything]
    assert places == sorted(places)
    kinds = "".join("r" if each["type"] == "row" else "p" for each in everything)
    assert re.fullmatch("(rp+)+", kinds)


def test_neither_an_alert_nor_a_panel_asks_for_the_name_of_a_job():
    variables = [each.get("query", "") for each in json.loads(DASHBOARD.read_text())["templating"]["list"]]
    for text in (RULES.read_text(), *expressions_of_dashboard(), *variables):
        assert not re.search(r"\bjob\s*[=!]", text), text


def test_rules_and_dashboard_ask_for_figures_that_are_there_and_each_one_is_on_the_dashboard_or_left_out_with_a_reason(start):
    """With everything on that has figures of its own."""
    with temporary_folder("figures") as folder:
        whitelist, store = folder / "whitelist.bloom", folder / "whitelist.store"
        key = subprocess.check_output([built("filter/cli/bloomgate"), "sign", "--new-key", folder / "key"], text=True).strip()
        build_filter_of(whitelist, [LISTED], "--store", store, "--sign-key", folder / "key")
        (folder / "revoked").write_text("")
        (folder / "learned").mkdir()
        shutil.chown(folder / "learned", USER)
        _, port = start(whitelist=whitelist, confirm=store, **{"trusted-key": key}, revoked=folder / "revoked", learn="outbound",
                        **{"learn-file": folder / "learned/learned.db", "own-domains": "example.net",
                           "deep-check": f"rspamd:http://127.0.0.1:{free_port()}", "deep-check-sample": "1%"})
        wait_until(lambda: "bloomgate_whitelist_probes_total" in get(port, "/metrics")[1], "the first probe")
        types = dict(re.findall(r"(?m)^# TYPE (\w+) (\w+)$", get(port, "/metrics")[1]))
    shown = set(types)
    # What the daemon cannot know is made of the mail server's log.
    unasked = "Nov 20 10:00:00 mx postfix/smtpd[1]: warning: connect to Milter service unix:/m: Connection refused\n"
    report = subprocess.run([built("filter/cli/bloomgate"), "report", "--prometheus", "--quiet", "-"], input=unasked, capture_output=True, text=True)
    samples = {name for name, kind in types.items() if kind != "histogram"} | set(re.findall(r"(?m)^# TYPE (\w+) ", report.stdout))
    samples |= {f"{name}_{end}" for name, kind in types.items() if kind == "histogram" for end in ("bucket", "sum", "count")}
    for text in (RULES.read_text(), "\n".join(expressions_of_dashboard())):
        asked = set(re.findall(r"\bbloomgate_\w+", text))
        assert asked and asked - samples == set()
    panels = {re.sub("_(bucket|sum|count)$", "", name) for name in re.findall(r"\bbloomgate_\w+", "\n".join(expressions_of_dashboard()))}
    ours = {name for name in shown if name.startswith("bloomgate_")}
    # Those of the code: none is missing above since the test has left a part of the daemon off.
    code = (REPOSITORY / "milter/monitoring/metrics_text.cpp").read_text()
    assert ours == set(re.findall(r'"(bloomgate_\w+)"', code))
    assert ours - panels == set(NOT_ON_THE_DASHBOARD)
    alerts = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    assert set(re.findall(r"\bBloomgate[A-Z]\w+", " ".join(NOT_ON_THE_DASHBOARD.values()))) - alerts == set()


def test_a_real_prometheus_takes_figures_rules_and_each_expression_of_the_dashboard(start, tmp_path):
    if not shutil.which("prometheus"):
        pytest.skip("prometheus is missing (Debian package prometheus)")
    gateway, port = start()
    gateway.send(Message(LISTED), Message(UNLISTED))
    checked = subprocess.run(["promtool", "check", "metrics"], input=get(port, "/metrics")[1], capture_output=True, text=True)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    shutil.copy(RULES, tmp_path)
    scrape = (REPOSITORY / "config/prometheus/scrape.yml").read_text().replace("127.0.0.1:9812", f"127.0.0.1:{port}")
    scrape = re.sub("job_name: .*", "job_name: mail", scrape)  # any name will do
    (tmp_path / "prometheus.yml").write_text("global: {scrape_interval: 1s}\n" + scrape)
    own_port = free_port()
    prometheus = Program(["prometheus", f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data",
                          f"--web.listen-address=127.0.0.1:{own_port}"], tmp_path / "prometheus.log")
    try:
        def query(expression):
            status, text = get(own_port, "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
            assert status == 200, f"{expression}: {text}"
            return json.loads(text)["data"]["result"]

        prometheus.wait_until_ready(lambda: accepts_connections(("127.0.0.1", own_port)), "Prometheus")
        delivered = wait_until(lambda: get(own_port, "/-/ready")[0] == 200 and query(
            'bloomgate_messages_total{decision="deliver"}'), "Prometheus to read the figures")
        assert [result["value"][1] for result in delivered] == ["1"]
        results = {panel["title"]: [result for target in panel["targets"] for result in query(
            target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*"))] for panel in panels_of_dashboard()[1]}
        for title in ("Daemons that answer", "Whitelists that are usable"):
            assert [result["value"][1] for result in results[title]] == ["1"]
        assert results["Needs action"], "neither a rule nor nothing"
        rules = json.loads(get(own_port, "/api/v1/rules")[1])["data"]["groups"][0]["rules"]
        assert len(rules) == len(re.findall(r"(?m)^ *- (?:alert|record):", RULES.read_text()))
        assert query('ALERTS{alertstate="firing"}') == []
    finally:
        prometheus.stop()


def test_the_alerts_fire_when_they_should_and_only_then():
    if not shutil.which("promtool"):
        pytest.skip("promtool is missing (Debian package prometheus)")
    tests = sorted(RULES.parent.glob("*.test.yml"))
    assert len(tests) == 1
    for words in (("check", "rules", RULES), ("test", "rules", *tests)):
        done = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
