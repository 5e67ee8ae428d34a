"""Bloomgate behind a real Sendmail. Where Sendmail differs from Postfix, the test says so."""

from contextlib import ExitStack

import pytest
import test_forged_marks
import test_senders
from conftest import LISTED, LISTED_BY, UNLISTED
from private_mail import sendmail
from private_mail.client import Message, Rejected
from private_mail.filter import build_filter_of
from private_mail.processes import temporary_folder, wait_until
from private_mail.recipe import Mail, RecipeConfig
from private_mail.sendmail_recipe import SendmailRecipe
from private_mail.sendmail_gateway import SendmailGateway, SendmailGatewayConfig
from raw_connection import served_connection

DELIVER = f"deliver; reason=listed; host=mx.example.net{LISTED_BY}"
CHECK = "check; reason=not-listed; host=mx.example.net; identity=envelope"
NULL_SENDER = "check; reason=null-sender; host=mx.example.net; identity=envelope"
FORGED = (b"X-Bloomgate: deliver; reason=listed; host=mx.example.net",)

# Sendmail takes no more than 32 KiB of header fields, and no line end but CR LF.
REFUSED = {"as long as Postfix takes a field": "552 .*too large",
           "longer than Postfix takes a field": "552 .*too large",
           "last of all fields": "552 .*too large",
           "a bare carriage return before it": "421 .*Bare carriage return",
           "a bare line feed before it": "421 .*Bare linefeed"}


@pytest.fixture(scope="module")
def start():
    """start(addresses, *build_options, inet=..., settings=...) starts a gateway with that whitelist."""
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    with ExitStack() as stack:

        def start(addresses=(LISTED,), *build_options, **config):
            folder = stack.enter_context(temporary_folder("sendmail"))
            whitelist = folder / "whitelist.bloom"
            build_filter_of(whitelist, addresses, *build_options)
            return stack.enter_context(SendmailGateway(folder, SendmailGatewayConfig(whitelist, **config)))

        yield start


@pytest.fixture(scope="module", params=["unix", "inet"])
def gateway(request, start):
    return start(inet=request.param == "inet")


@pytest.fixture(scope="module")
def unix_gateway(start):
    return start()


def marks_of(gateway, *messages):
    return [delivery.marks for delivery in gateway.send(*messages)]


def test_mail_is_marked_by_its_own_sender(gateway):
    messages = {Message(LISTED): DELIVER, Message(UNLISTED): CHECK, Message(""): NULL_SENDER,
                Message(UNLISTED, FORGED): CHECK, Message(LISTED, FORGED): DELIVER,
                Message("", FORGED): NULL_SENDER}
    assert marks_of(gateway, *messages) == [[mark] for mark in messages.values()]


def test_only_our_mark_arrives_however_others_are_forged(unix_gateway):
    forgeries = {name: tuple(fields) for name, fields in test_forged_marks.FORGERIES.items() if name not in REFUSED}
    for sender, mark in ((UNLISTED, CHECK), (LISTED, DELIVER)):
        marks = marks_of(unix_gateway, *(Message(sender, fields) for fields in forgeries.values()))
        assert dict(zip(forgeries, marks)) == dict.fromkeys(forgeries, [mark])


def test_what_sendmail_itself_refuses_never_arrives(unix_gateway):
    for forgery, words in REFUSED.items():
        with pytest.raises(Rejected, match=words):
            unix_gateway.send(Message(UNLISTED, tuple(test_forged_marks.FORGERIES[forgery])))


def test_other_fields_stay(unix_gateway):
    fields = (b"X-Other: a", b"X-Bloomgate: deliver", b"X-Bloomgate2: b", b"Bloomgate: c")
    [delivery] = unix_gateway.send(Message(UNLISTED, fields))
    kept = [field for field in delivery.received.headers() if "loom" in field[0] or field[0] == "X-Other"]
    assert kept == [("X-Bloomgate", CHECK), ("X-Other", "a"), ("X-Bloomgate2", "b"), ("Bloomgate", "c")]
    assert delivery.received.content.endswith(b"\r\n\r\nHello.\r\n")


# Debian's Sendmail has no SMTPUTF8, and refuses a path of more than 255 bytes itself.
def sent_to_sendmail(senders):
    return {name: message for name, message in senders.items() if not message.smtputf8 and len(message.path) < 250}


def test_every_spelling_of_a_listed_mailbox_is_found_and_no_other(start):
    gateway = start(test_senders.WHITELIST, "--bits-per-entry", "32")
    listed, unlisted = map(sent_to_sendmail, (test_senders.LISTED, test_senders.UNLISTED))
    assert dict(zip(listed, marks_of(gateway, *listed.values()))) == dict.fromkeys(listed, [DELIVER])
    verdicts = [[mark.split(";")[0] for mark in marks] for marks in marks_of(gateway, *unlisted.values())]
    assert dict(zip(unlisted, verdicts)) == dict.fromkeys(unlisted, ["check"])
    # Although Sendmail does not know of such mailboxes.
    assert marks_of(gateway, Message("jörg@example.org"), Message("jürg@example.org")) == [[DELIVER], [CHECK]]


def test_each_message_of_a_connection_is_decided_by_its_own_sender(unix_gateway):
    with unix_gateway.connect() as client:
        sent = [(Message(path), client.send(Message(path))) for path in (LISTED, UNLISTED)]
        for command in (f"MAIL FROM:<{LISTED}>", "RSET"):
            client.command(command)
        sent += [(Message(path), client.send(Message(path))) for path in ("", UNLISTED, LISTED)]
    assert [delivery.marks for delivery in unix_gateway.deliveries(sent)] == [
        [DELIVER], [CHECK], [NULL_SENDER], [CHECK], [DELIVER]]


def test_without_a_host_name_of_its_own_the_mark_has_sendmails(start):
    gateway = start(settings={"host-name": ""}, host_name="relay.example.com")
    assert marks_of(gateway, Message(LISTED)) == [[f"deliver; reason=listed; host=relay.example.com{LISTED_BY}"]]


class WithOpenDkim(SendmailRecipe):
    """OpenDKIM and Bloomgate, and no check behind them."""

    def checks(self, stack):
        pass

    def sockets(self):
        return {}


def test_long_results_that_neither_sendmail_nor_opendkim_removes_count_for_nothing_where_one_field_is_trusted():
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    claim = f"mx.example.net; x=none ({'c' * 8000}); spf=pass smtp.mailfrom={LISTED}"
    with temporary_folder("sendmail") as folder:
        build_filter_of(folder / "whitelist.bloom", [LISTED])
        settings = {"authentication": "required", "verify-dkim": "no", "spf-proves": "address"}
        with WithOpenDkim(folder, RecipeConfig(folder / "whitelist.bloom", settings)) as recipe:
            for trusted_fields, verdict in (("1", "check"), ("0", "deliver")):
                recipe.daemon.restart({**settings, "trusted-fields": trusted_fields})
                [outcome] = recipe.send(Mail(LISTED, (f"Authentication-Results: {claim}".encode(),)))
                assert outcome.header("X-Bloomgate")[0].split(";")[0] == verdict


def test_without_the_daemon_mail_goes_on_unmarked_and_with_it_marked_again(start):
    gateway = start()
    gateway.daemon.kill()
    assert marks_of(gateway, Message(LISTED), Message(UNLISTED), Message("")) == [[], [], []]
    gateway.daemon.start()
    assert marks_of(gateway, Message(LISTED), Message(UNLISTED)) == [[DELIVER], [CHECK]]


def test_a_daemon_that_hangs_holds_mail_up_for_some_seconds_only(start):
    gateway = start()
    with gateway.daemon.program.standing_still():
        assert marks_of(gateway, Message(LISTED), Message(UNLISTED)) == [[], []]
    assert marks_of(gateway, Message(LISTED), Message(UNLISTED)) == [[DELIVER], [CHECK]]


def test_past_max_connections_mail_goes_on_unmarked_and_is_decided_again_when_there_is_room(start):
    gateway = start(settings={"max-connections": 2})
    held = [wait_until(lambda: served_connection(gateway.daemon.address), "a place") for _ in range(2)]
    assert marks_of(gateway, Message(LISTED), Message(UNLISTED)) == [[], []]
    gateway.daemon.logged(r"max-connections: \d+ connections? (was|were) turned away, since 2 were open")
    for connection in held:
        connection.close()
    wait_until(lambda: marks_of(gateway, Message(LISTED)) == [[DELIVER]], "there to be room again")
    assert marks_of(gateway, Message(LISTED), Message(UNLISTED)) == [[DELIVER], [CHECK]]


def test_a_daemon_that_dies_inside_a_connection_loses_no_message(start):
    gateway = start()
    with gateway.connect() as client:
        sent = [(Message(LISTED), client.send(Message(LISTED)))]
        gateway.daemon.kill()
        sent += [(Message(path), client.send(Message(path))) for path in (LISTED, UNLISTED)]
        gateway.daemon.start()
        sent += [(Message(LISTED), client.send(Message(LISTED)))]
    marks = [delivery.marks for delivery in gateway.deliveries(sent)]
    # Sendmail asks the daemon again when the next connection begins.
    assert marks == [[DELIVER], [], [], []]
    assert marks_of(gateway, Message(LISTED)) == [[DELIVER]]
