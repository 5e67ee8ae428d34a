"""config/mta/deep-check on Sendmail: what Bloomgate's lists do not deliver is checked by spamd."""

import pytest
from conftest import LISTED, UNLISTED
from private_mail import sendmail
from private_mail.client import Rejected
from private_mail.filter import build_filter_of
from private_mail.processes import temporary_folder
from private_mail.recipe import Mail
from private_mail.sendmail_gateway import SendmailGateway, SendmailGatewayConfig
from private_mail.shipped import SHIPPED_FILES
from private_mail.spamassassin import GTUBE, Spamd

FORGED_RESULTS = (b"X-Spam-Flag: NO", b"X-Spam-Status: No", b"x-spam-flag: no", b"X-Spam-Score: -9",
                  b"X-Spam-Flag : NO", b"X-Spam-Status: No,\r\n\tscore=-9")


@pytest.fixture(scope="module")
def gateway():
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    with temporary_folder("sendmail") as folder, Spamd(folder / "spamd") as spamd:
        build_filter_of(folder / "whitelist.bloom", [LISTED])
        settings = {"deep-check": "spamd:inet:{1}@{0}".format(*spamd.address)}
        config = SendmailGatewayConfig(folder / "whitelist.bloom", settings=settings,
                                       shipped=SHIPPED_FILES / "deep-check/bloomgate.mc")
        with SendmailGateway(folder / "gateway", config) as running:
            yield running


def spam(sender=UNLISTED):
    return Mail(sender, FORGED_RESULTS, body=GTUBE + b"\r\n")


def test_listed_mail_is_not_checked_and_other_mail_is_tagged(gateway):
    deliveries = gateway.send(spam(LISTED), Mail(UNLISTED, FORGED_RESULTS), spam())
    fields = [{name: value for name, value in each.received.headers() if name.lower().startswith("x-spam")}
              for each in deliveries]
    assert [each.marks[0].split(";")[0] for each in deliveries] == ["deliver", "check", "check"]
    assert fields[0] == {}
    assert fields[1].keys() == {"X-Spam-Status", "X-Spam-Score"}
    assert fields[1]["X-Spam-Status"].startswith("No, ")
    assert fields[2]["X-Spam-Status"].startswith("Yes, ") and fields[2]["X-Spam-Flag"] == "YES"


def test_spam_is_held_or_refused_as_configured(gateway):
    settings = gateway.daemon.config.settings
    gateway.daemon.restart({**settings, "deep-check-spam": "quarantine"})
    with gateway.connect() as client:
        held = client.send(spam())
    gateway.sendmail.wait_until_done({held})
    assert held in gateway.sendmail.quarantined()
    gateway.daemon.restart({**settings, "deep-check-spam": "reject"})
    with pytest.raises(Rejected, match="550 5.7.1 "):
        gateway.send(spam())
    gateway.send(spam(LISTED))
    gateway.daemon.restart(settings)


def test_mail_goes_on_while_the_checker_or_bloomgate_is_down(gateway):
    settings = gateway.daemon.config.settings
    gateway.daemon.restart({**settings, "deep-check": f"spamd:unix:{gateway.folder}/nobody"})
    [other] = gateway.send(Mail(UNLISTED))
    assert dict(other.received.headers())["X-Spam-Status"].startswith("Unknown")
    gateway.daemon.kill()
    [good] = gateway.send(Mail(LISTED))
    assert good.marks == []
    gateway.daemon.start()
    gateway.daemon.restart(settings)


def test_mail_waits_at_its_sender_while_the_checker_is_down_where_that_is_wanted(gateway):
    settings = gateway.daemon.config.settings
    gateway.daemon.restart({**settings, "deep-check": f"spamd:unix:{gateway.folder}/nobody",
                            "deep-check-failure": "tempfail"})
    with pytest.raises(Rejected, match="451 4.7.1 .*try again later"):
        gateway.send(Mail(UNLISTED))
    gateway.send(Mail(LISTED))
    gateway.daemon.restart(settings)
