"""bloomgate-milter add, remove, revoke, unrevoke, opt-out and opt-in: a running daemon takes the change over by itself."""

import json
import subprocess

from conftest import LISTED, UNLISTED
from private_mail.client import Message
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from private_mail.processes import wait_until

EX_USAGE, EX_DATAERR, EX_NOINPUT, EX_CONFIG = 64, 65, 66, 78


def run(gateway, *words):
    command = [str(word) for word in gateway.daemon.command(*words)]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_change_takes_effect_on_the_next_mail_and_can_be_taken_back(start_gateway):
    gateway = start_with_lists(start_gateway)

    def change(*words):
        """Runs the command, and waits until the daemon has read the list again."""
        before = len(gateway.daemon.log())
        done = run(gateway, *words)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: "entries of" in gateway.daemon.log()[before:], "the daemon to read the list")

    def places():
        return [delivery.place for delivery in gateway.send(Message(LISTED), Message(UNLISTED))]

    assert places() == [LIGHT_PATH, DEEP_CHECK]
    change("revoke", LISTED)
    assert places() == [DEEP_CHECK, DEEP_CHECK]
    change("unrevoke", LISTED.upper())
    assert places() == [LIGHT_PATH, DEEP_CHECK]
    change("add", f"@{UNLISTED.partition('@')[2]}", UNLISTED)
    change("remove", f"@{UNLISTED.partition('@')[2]}")
    assert places() == [LIGHT_PATH, LIGHT_PATH]
    change("remove", UNLISTED)
    assert places() == [LIGHT_PATH, DEEP_CHECK]
    change("opt-out", "@.example.net")
    assert places() == [DEEP_CHECK, DEEP_CHECK]
    change("opt-in", "@.Example.net")
    assert places() == [LIGHT_PATH, DEEP_CHECK]


def start_with_lists(start_gateway):
    """A gateway with three empty lists, which belong to root and which the daemon may read."""
    gateway = start_gateway()
    paths = {name: gateway.folder / name for name in ("extra", "revoked", "opt-out")}
    for path in paths.values():
        path.write_text("# a comment\n")
        path.chmod(0o644)
    gateway.daemon.restart(paths)
    return gateway


def test_an_entry_that_may_mean_otherwise_than_it_was_meant_gets_a_warning(start_gateway):
    gateway = start_with_lists(start_gateway)
    # The daemon's configuration is in this folder.
    (gateway.daemon.config_file.parent / "free-mail-domains.txt").write_text("mailbox.example\n")
    (gateway.daemon.config_file.parent / "shared-signers.txt").write_text("esp.example\n")
    for words, warning in {("revoke", "joe@partner"): "has a domain without a dot", ("opt-out", "ann@ours"): "has a domain without a dot",
                           ("add", "@partner"): "has a domain without a dot", ("add", "@.co.uk"): "@.co.uk is a public suffix",
                           ("add", "joe@cut > ann@ours.example"): "has a domain without a dot",
                           ("add", "@mailbox.example"): "@mailbox.example is a free-mail domain: anybody can have an address there",
                           ("add", "@mailbox.example > ann@ours.example"): "is a free-mail domain",
                           ("add", "@shop.example signed-by esp.example"): "signs for every customer of a service",
                           ("revoke", "@mailbox.example"): "", ("remove", "@mailbox.example"): "",
                           ("add", "joe@mailbox.example"): "joe@mailbox.example is on the list revoked",
                           ("revoke", "@.co.uk"): "", ("add", "@example.org"): "", ("add", "joe@[192.0.2.1]"): "",
                           ("unrevoke", "joe@partner"): ""}.items():
        done = run(gateway, *words)
        assert done.returncode == 0, done.stderr
        assert ("  warning: " in done.stdout) == bool(warning) and warning in done.stdout, words


def test_each_change_is_reported_as_text_and_as_json(start_gateway):
    gateway = start_with_lists(start_gateway)
    path = gateway.folder / "revoked"
    first = run(gateway, "revoke", "Joe@Example.org", "@corp.example")
    assert first.stdout == (f"joe@example.org: is in the list revoked now\n@corp.example: is in the list revoked now\n"
                            f"{path}: 2 entries\n")
    again = run(gateway, "revoke", "joe@example.org")
    assert again.returncode == 0 and "was in the list revoked already" in again.stdout
    absent = run(gateway, "unrevoke", "ann@example.org")
    assert absent.returncode == 0 and "was not in the list revoked" in absent.stdout
    covered = run(gateway, "unrevoke", "ann@corp.example", "--json")
    assert covered.returncode == 1
    assert json.loads(covered.stdout) == {
        "command": "unrevoke", "list": "revoked", "file": str(path), "size": 2,
        "entries": [{"given": "ann@corp.example", "entry": "ann@corp.example", "changed": False,
                     "covered_by": "@corp.example", "conditional": [], "warning": ""}]}
    pair = "ann@corp.example > eve@example.net"
    put = run(gateway, "revoke", "Ann@corp.example  >  eve@example.net")
    assert put.stdout.startswith(f"{pair}: is in the list revoked now")
    taken = run(gateway, "unrevoke", pair)
    assert taken.returncode == 1
    assert f"{pair}: is no longer in the list revoked, but @corp.example is, and covers it" in taken.stdout
    assert path.read_text() == "# a comment\njoe@example.org\n@corp.example\n"
    assert run(gateway, "opt-out", "Ann@example.net").stdout.startswith("ann@example.net: is in the list opt-out now\n")
    tagged = run(gateway, "opt-in", "ann+x@example.net")
    assert tagged.returncode == 1 and "but the address without its tag is, and covers it" in tagged.stdout


def test_nonsense_changes_nothing_and_the_error_names_the_remedy(start_gateway):
    gateway = start_with_lists(start_gateway)
    for words, status, said in [
            (("revoke", "good@example.org", "no sender"), EX_DATAERR, "'no sender' is no entry: "),
            (("revoke", "joe@example.org > ann@example.net > eve@example.net"), EX_DATAERR, "Nothing was changed"),
            (("revoke", "\u200bgood@example.org"), EX_DATAERR, "U+200B (ZERO WIDTH SPACE)"),
            (("revoke", "good@exam\u00adple.org"), EX_DATAERR, "U+00AD (SOFT HYPHEN)"),
            (("unrevoke", "good@example.org\u00a0"), EX_DATAERR, "U+00A0 (NO-BREAK SPACE)"),
            (("add", "good@example.org >\u2003ann@example.net"), EX_DATAERR, "U+2003 (EM SPACE)"),
            (("revoke", "*@example.org"), EX_DATAERR, "write @example.org"),
            (("revoke", "%@*.example.org"), EX_DATAERR, "write @.example.org"),
            (("opt-out", "\u200bann@example.net"), EX_DATAERR, "U+200B (ZERO WIDTH SPACE)"),
            (("opt-out", "joe@example.org > ann@example.net"), EX_DATAERR, "write the recipient alone: ann@example.net"),
            (("opt-out", "list:news.example.org"), EX_DATAERR, "a mailing list is a sender"),
            (("revoke",), EX_USAGE, "name at least one address"),
            (("forgive", "joe@example.org"), EX_USAGE, "--help"),
            (("add", "joe@example.org", "--extra", ""), EX_CONFIG, "extra = /etc/bloomgate/extra.txt"),
            (("add", "joe@example.org", "--extra", "/nonexistent/extra"), EX_NOINPUT, "install -m 644")]:
        done = run(gateway, *words)
        assert done.returncode == status, (words, done.stderr)
        assert said in done.stderr and not done.stdout
    assert [(gateway.folder / name).read_text() for name in ("extra", "revoked", "opt-out")] == ["# a comment\n"] * 3
