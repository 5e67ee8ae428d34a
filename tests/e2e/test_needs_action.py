"""What needs action: each rule, made true by real files, a real daemon and real sessions, is seen in all five places:
the check of the configuration, the doctor, the status page, the figures, and the alert. What only a running daemon can
know is seen in the other four. Rules that take longer than a test may, or a fault that cannot be made from outside (a
disk that reads wrong or slowly, a log that takes no lines, no memory): tests/milter/health and tests/milter/monitoring."""

import base64
import json
import os
import re
import shutil
import subprocess
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from html import unescape
from types import SimpleNamespace

import pytest
from conftest import LISTED, skip_without_root
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from private_mail.daemon import USER, Daemon, DaemonConfig
from private_mail.faulty_name_server import FaultyNameServer
from private_mail.filter import REPOSITORY, build_filter_of, built
from private_mail.processes import free_port, temporary_folder, wait_until
from private_mail.rspamd import PlainRspamd
from private_mail.signing import SigningKey
from raw_connection import CONNECTION_STEPS, END, NEGOTIATION, QUIT, MilterConnection, frame, header_and_body, sender
from test_deep_check_sample import RSPAMD_SPAM
from test_monitoring import figures, get

# The tests' own default trusts everybody.
GOOD = {"authentication": "required", "verify-dkim": "yes", "dmarc-fail-veto": "yes", "dns-servers": "127.0.0.1@9"}
SIGNERS = [SigningKey("example.org"), SigningKey("mg.example.org")]
MESSAGE = (f"From: {LISTED}\r\nTo: ann@example.net\r\nSubject: hello\r\nDate: Fri, 27 Nov 2026 10:00:00 +0000\r\n"
           "Message-ID: <1@example.org>\r\n\r\nHello.\r\n").encode()
RULES = REPOSITORY / "config/prometheus/bloomgate.rules.yml"


@dataclass
class Case:
    words: dict = field(default_factory=dict)  # rule that is found -> what is said of it
    settings: dict = field(default_factory=dict)
    before: tuple = ()  # each is called with the world before the daemon starts, and may return further settings
    after: object = None  # … and while it runs
    of_daemon: bool = False  # only the daemon knows


def send(world, count, address=LISTED, *, recipients=("user@example.net",), login=""):
    """Messages that nothing proves."""
    macros = frame(b"D", b"M{auth_authen}\x00" + login.encode() + b"\x00") if login else b""
    to = b"".join(frame(b"R", b"<" + each.encode() + b">\x00") for each in recipients) + frame(b"T")
    written_by = frame(b"L", b"From\x00" + address.encode() + b"\x00")
    with closing(MilterConnection(world.daemon.address)) as connection:
        connection.put(NEGOTIATION)
        assert connection.answer() == b"O"
        connection.put(CONNECTION_STEPS)
        for _ in range(count):
            connection.put(macros + frame(b"M", b"<" + address.encode() + b">\x00") + to + written_by + frame(b"N") + END)
        connection.put(QUIT)
        while connection.frame() is not None:
            pass


def send_raw(world, raw, count=1):
    """A message as another mail server signed it."""
    lines, body = header_and_body(raw)
    with closing(MilterConnection(world.daemon.address)) as connection:
        connection.put(NEGOTIATION)
        assert connection.answer() == b"O"
        connection.put(CONNECTION_STEPS)
        for _ in range(count):
            connection.put(sender(LISTED.encode()) + lines + frame(b"N") + frame(b"B", body) + END)
            connection.mark()
        connection.put(QUIT)
        while connection.frame() is not None:
            pass


def sample_in_turns(world):
    """As many as a share is taken of, and never more at once than may wait."""
    for turn in range(1, 4):
        send(world, 10, recipients=("ann@ours.example",))
        wait_until(lambda: sum(value for (name, _), value in figures(world.port).items() if name == "bloomgate_delivery_samples_total") >= 10 * turn,
                   "the samples to be asked about")


def with_rspamd(world):
    rspamd = world.stack.enter_context(PlainRspamd(world.folder / "rspamd"))
    return {"deep-check": f"rspamd:http://127.0.0.1:{rspamd.address[1]}"}


def with_keys(world):
    """A name server with the keys of the listed sender's domain, and of a name below it."""
    names = world.stack.enter_context(FaultyNameServer(world.folder / "names", {signer.record_name: signer.record for signer in SIGNERS}))
    return {"dns-servers": names.option}


def sign_below_the_domain(world):
    proven, below = (signer.sign(MESSAGE) for signer in SIGNERS)
    send_raw(world, proven)
    send_raw(world, below, 20)


def listing(world, count, *options, name="whitelist.bloom"):
    build_filter_of(world.folder / name, [LISTED, *(f"a{i}@example.org" for i in range(count - 1))], *options)


def hear_of_nothing(world):
    """Of a host whose folder was never brought here."""
    public = subprocess.check_output([built("filter/cli/bloomgate"), "sign", "--new-key", world.folder / "of-host.key"], text=True)
    key = world.folder / "learn.key"
    subprocess.check_output([built("filter/cli/bloomgate"), "share", "--new-learn-key", key])
    shutil.chown(key, USER)
    return {"learned-from": f"{world.folder}/heard {public.strip()}", "learn-key": key}


def published(world):
    """A whitelist that its publisher has signed."""
    key = world.folder / "secret.key"
    public = subprocess.check_output([built("filter/cli/bloomgate"), "sign", "--new-key", key], text=True).strip()
    subprocess.check_output([built("filter/cli/bloomgate"), "sign", "--key", key, world.whitelist])
    return {"trusted-key": public}


def published_layers(world):
    """The whitelist is a folder with one layer, and with a list of what is revoked."""
    made, world.whitelist = world.whitelist, world.folder / "layers"
    world.whitelist.mkdir()
    world.whitelist.chmod(0o755)
    made.rename(world.whitelist / "0001.bloom")
    (world.whitelist / "revoked").write_text("eve@example.org\n")
    return {**published(world), "whitelist": f"whitelist={world.whitelist}"}


def change_revoked(world):
    """As no publisher has signed it."""
    before = len(world.daemon.log())
    (world.whitelist / "revoked").write_text("")
    world.daemon.logged("revoked is not the file that the manifest names", before)


def published_long_ago(world):
    """A whitelist that its publisher has signed for a day, three weeks ago."""
    key = world.folder / "secret.key"
    settings = published(world)
    manifest = world.folder / "whitelist.bloom.manifest"
    text = manifest.read_text().rpartition("signature ")[0]
    for word, days in (("made", 21), ("holds-until", 20)):
        day = datetime.now(timezone.utc) - timedelta(days=days)
        text = re.sub(f"(?m)^{word} .*", f"{word} {day:%Y-%m-%dT%H:%M:%SZ}", text)
    seed = base64.b64decode(key.read_text().splitlines()[-1])[:32]
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(text.encode())
    manifest.write_text(f"{text}signature {base64.b64encode(signature).decode()}\n")
    return settings


def refuse_a_reload(world):
    text = world.daemon.config_file.read_text()
    world.daemon.config_file.write_text(text + "no-such-option = 1\n")
    world.daemon.reload("reload refused")
    world.daemon.config_file.write_text(text)  # the doctor and the check of the configuration read it, too


def change_the_socket(world):
    text = world.daemon.config_file.read_text()
    world.daemon.config_file.write_text(text.replace("socket-mode = 0666", "socket-mode = 0660"))
    world.daemon.reload("configuration loaded")


def two_connections(world):
    connections = [world.stack.enter_context(closing(MilterConnection(world.daemon.address))) for _ in range(4)]
    for each in connections:
        each.put(NEGOTIATION)
    wait_until(lambda: figures(world.port)["bloomgate_sessions_turned_away_total", 'cause="limit"'] > 0, "a connection past the limit")


def suspend_one(world):
    subprocess.run([*world.daemon.command(), "suspended", "add", "joe@example.org"], check=True, stdout=subprocess.DEVNULL)


def learn_from_a_folder_of_root(world):
    folder = world.folder / "closed"
    folder.mkdir(mode=0o755)
    return {"learn-file": folder / "learned.db"}


def learning(world):
    folder = world.folder / "learned"
    folder.mkdir()
    shutil.chown(folder, USER)
    return {"learn-file": folder / "learned.db"}


def write_revoked(text):
    def write(world):
        (world.folder / "revoked").write_text(text)
        return {"revoked": world.folder / "revoked"}
    return write


def lose_revoked(world):
    before = len(world.daemon.log())
    (world.folder / "revoked").unlink()
    world.daemon.logged("revoked", before)
    world.daemon.reload("reload refused")  # which is no finding of its own: it ends with the fault


def write_to_three(world, login=""):
    send(world, 1, "ann@example.net", login=login, recipients=("a@one.example", "b@two.example", "c@three.example"))


LEARN = {"learn": "outbound", "own-domains": "example.net"}
STRANGER = "stranger@nowhere.example"

# Rules that can be true of one daemon at once are.
CASES = [
    Case({"exempt-delivers-strangers": "exempt-networks has 0.0.0.0/0, ::/0, and exempt-action = deliver",
          "authentication-off": "anyone can forge a listed sender",
          "addresses-open": "can be reached from other machines: who reaches it may ask for any address",
          "mode-observe": "no message is marked",
          "shrunken-lists-allowed": "replaces a good one",
          "whitelist-empty": "has no entries: it lists no sender",
          "whitelist-old": "whitelist whitelist is "},
         {"exempt-networks": "0.0.0.0/0 ::/0", "exempt-action": "deliver", "authentication": "off", "mode": "observe",
          "allow-shrunken-whitelist": "yes"},
         (lambda world: {"lookup-socket": f"0.0.0.0:{free_port()}"}, lambda world: build_filter_of(world.whitelist, []),
          lambda world: os.utime(world.whitelist, (0, 0)))),
    Case({"exempt-strangers": "exempt-networks has 0.0.0.0/1, 128.0.0.0/1: mail of outside senders",
          "authentication-preferred": "counts without a proof, too",
          "proof-opened": "alignment = relaxed: a domain below",
          "learn-from-exempt": "can list anybody for any user",
          "exact-list-lines-left-out": "the list revoked has invalid lines (1)",
          "whitelist-shrunk": "has 9 entries, and the file before it",
          "whitelist-lacks-domains": "may find out who is listed",
          "update-fails": "build has failed since 2026-11-20"},
         {**LEARN, "exempt-networks": "0.0.0.0/1 128.0.0.0/1", "learn-from-exempt": "yes", "authentication": "preferred",
          "alignment": "relaxed"},
         (learning, write_revoked("joe@example.org\nno address\n"), lambda world: listing(world, 20, name="whitelist.bloom.1"),
          lambda world: listing(world, 9, "--no-sender-domains"),
          # As bloomgate-update writes it: test_update.py.
          lambda world: (world.folder / "whitelist.bloom.update").write_text(
              "2026-11-20T03:00:00Z\t2026-11-20T03:00:00Z\tbuild\t65\tno room\n"))),
    Case({"whitelist-unusable": "whitelist whitelist: ", "defaults-not-chosen": "spf-proves is not set"},
         {"allow-missing-whitelist": "yes", "identity": "both"}, (lambda world: world.whitelist.write_text("no filter"),)),
    Case({"whitelist-overdue": "the newest manifest of whitelist whitelist is of "}, before=(published_long_ago,)),
    Case({"manifests-not-kept": "the manifest of whitelist whitelist cannot be kept"},
         {"taken-manifests": "/nonexistent/manifests"}, (published,)),
    Case({"reload-refused": "revoked is not the file that the manifest names"}, before=(published_layers,), after=change_revoked,
         of_daemon=True),
    Case({"exact-list-lost": "the list revoked cannot be read, so the daemon delivers no message"}, before=(write_revoked(""),),
         after=lose_revoked),
    Case({"whitelist-gone": "is in use, and its file is gone"}, after=lambda world: world.whitelist.unlink(), of_daemon=True),
    Case({"false-positives-high": "of the messages of unlisted senders at listed domains are found"}, of_daemon=True,
         before=(lambda world: listing(world, 50_000, "--bits-per-entry", "2"),)),
    Case({"reload-refused": "the last reload was refused"}, after=refuse_a_reload, of_daemon=True),
    Case({"waits-for-restart": "options have changed that a reload cannot take in: socket-mode",
          "connections-turned-away": "were turned away in the last hour, since max-connections is 2"}, {"max-connections": "2"},
         after=lambda world: change_the_socket(world) or two_connections(world), of_daemon=True),
    Case({"habits-not-kept": "the habits of senders are not kept: ", "suspensions-not-kept": "suspensions are not kept: "},
         {"burst-file": "/nonexistent/habits"},
         (lambda world: (world.folder / "damaged").write_text("joe@example.org\n"),
          lambda world: {"suspend-file": world.folder / "damaged"}), of_daemon=True),
    Case({"senders-suspended": "1 sender is suspended"}, of_daemon=True, after=suspend_one),
    Case({"learning-stopped": "nothing is learned: "}, LEARN, (learn_from_a_folder_of_root,), of_daemon=True),
    Case({"learned-elsewhere": "what another host has learned is not taken from "}, before=(hear_of_nothing,), of_daemon=True),
    Case({"learn-rate-met": "a login has written to more new addresses",
          "learn-exempt-rate-met": "a client of exempt-networks has written to more new addresses",
          "learn-from-exempt": "can list anybody for any user"},
         {**LEARN, "learn-rate": "1", "exempt-networks": "192.0.2.0/24", "learn-from-exempt": "yes", "learn-exempt-rate": "1"},
         (learning,), lambda world: write_to_three(world, login="ann") or write_to_three(world), of_daemon=True),
    Case({"domains-never-proven": "1 listed domain has sent mail, and nothing ever proved it"}, of_daemon=True,
         after=lambda world: send(world, 5)),
    Case({"checkers-fail": "of 20 messages that were to be checked in the last hour, 20 got no answer",
          "samples-unanswered": "samples of delivered mail in the last day, ",
          "authentication-off": "anyone can forge a listed sender"}, {"authentication": "off", "deep-check-sample": "100%"},
         (lambda world: {"deep-check": f"rspamd:http://127.0.0.1:{free_port()}", "deep-check-folder": "/tmp"},),
         lambda world: sample_in_turns(world) or send(world, 20, STRANGER, recipients=("ann@ours.example",)), of_daemon=True),
    Case({"spam-delivered": "of 1 delivered messages that were sampled in the last day the checker calls 1 spam",
          "authentication-off": "anyone can forge a listed sender"},
         {"authentication": "off", "deep-check-sample": "100%", "deep-check-folder": "/tmp"}, (with_rspamd,),
         lambda world: send_raw(world, MESSAGE + RSPAMD_SPAM + b"\r\n"), of_daemon=True),
    Case({"keys-missing": "name servers do not answer"}, after=lambda world: send_raw(world, SIGNERS[0].sign(MESSAGE)),
         of_daemon=True),
    Case({"listed-mail-unproven": "20 were checked since only a name below the sender's domain has signed"}, {}, (with_keys,),
         sign_below_the_domain, of_daemon=True),
    Case({"results-missing": "none of the last 1000 messages had trusted results",
          "nothing-delivered": "none of the 1000 messages of the last hour was delivered",
          "defaults-not-chosen": "spf-proves is not set"}, {"verify-dkim": "no", "trusted-authserv-id": "mx.example.net"},
         after=lambda world: [send(world, 20, STRANGER) for _ in range(50)], of_daemon=True),
]


@pytest.fixture
def world():
    """start(case): a daemon with that case."""
    skip_without_root()
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("action"))
        world = SimpleNamespace(folder=folder, whitelist=folder / "whitelist.bloom", port=free_port(), stack=stack)
        listing(world, 9)

        def start(case):
            settings = {**GOOD, "metrics": f"127.0.0.1:{world.port}", **case.settings}
            for make in case.before:
                found = make(world)
                settings |= found if isinstance(found, dict) else {}
            world.daemon = stack.enter_context(Daemon(folder / "daemon", DaemonConfig(world.whitelist, settings=settings)))
            if case.after:
                case.after(world)

        world.start = start
        yield world


def check_of_configuration(world):
    done = subprocess.run([str(word) for word in world.daemon.command("--check-config")], capture_output=True, text=True)
    return done.stdout + done.stderr


def doctor(world):
    words = [*world.daemon.command("--doctor", "--json", "--postfix-config", "/nonexistent", "--sendmail-config", "/nonexistent")]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    return {finding["subject"]: finding["text"] for finding in json.loads(done.stdout)}


def rules_of_figures(world):
    """{rule: how many it has found}"""
    return {re.search('rule="(.*?)"', labels)[1]: value for (name, labels), value in figures(world.port).items()
            if name == "bloomgate_needs_action"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: "+".join(case.words))
def test_what_needs_action_is_seen_in_every_place(world, case):
    world.start(case)
    found = wait_until(lambda: (rules := rules_of_figures(world)) and all(rules[rule] >= 1 for rule in case.words) and rules,
                       f"{case.words} to be found")
    assert {name for name, count in found.items() if count} == set(case.words)
    page = unescape(get(world.port, "/")[1])
    of_program = {each["rule"]: each for each in json.loads(get(world.port, "/needs-action")[1])}
    by_doctor, by_check = doctor(world), check_of_configuration(world)
    for rule, words in case.words.items():
        assert words in page
        assert words in of_program[rule]["what"] and of_program[rule]["how"]
        assert words in by_doctor[rule]
        assert case.of_daemon or words in by_check


def test_a_daemon_that_is_well_needs_no_action_in_any_place(world):
    world.start(Case())
    assert set(rules_of_figures(world).values()) == {0}
    assert get(world.port, "/needs-action")[1] == "[]\n"
    assert "Needs action</h2><p>Nothing: all is well." in get(world.port, "/")[1]
    assert f"configuration {world.daemon.config_file}: good\n" in check_of_configuration(world)
    assert not set(doctor(world)) & set(rules_of_figures(world))


def test_each_rule_of_the_daemon_has_an_alert_that_fires_and_no_alert_asks_for_a_rule_that_is_not_there(world, tmp_path):
    if not shutil.which("promtool"):
        pytest.skip("promtool is missing (Debian package prometheus)")
    world.start(Case())
    shown = {re.search('rule="(.*?)"', labels)[1]: labels for name, labels in figures(world.port) if name == "bloomgate_needs_action"}
    alerts = {rule: "Bloomgate" + "".join(word.capitalize() for word in rule.split("-")) for rule in shown}
    assert set(re.findall('needs_action{rule="(.*?)"}', RULES.read_text())) == set(shown)
    series = [{"series": f"bloomgate_needs_action{{instance=\"a\",{labels}}}", "values": "0x6 1x150"} for labels in shown.values()]
    wanted = [{"labels": f'{{alertname="{alerts[rule]}"}}', "value": 1} for rule in sorted(shown)]
    test = {"rule_files": [str(RULES)], "evaluation_interval": "10m",
            "tests": [{"interval": "10m", "input_series": series, "promql_expr_test": [
                {"expr": "ALERTS", "eval_time": "50m", "exp_samples": []},
                {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "26h", "exp_samples": wanted}]}]}
    (tmp_path / "test.yml").write_text(json.dumps(test))
    done = subprocess.run(["promtool", "test", "rules", tmp_path / "test.yml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
