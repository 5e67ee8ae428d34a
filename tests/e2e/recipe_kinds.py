"""What is the same, and what differs, between the recipes of config/mta that put Bloomgate before a spam check and a virus
check: see test_recipe_checks.py."""

import re
import socketserver
import threading
from contextlib import contextmanager

from private_mail import sendmail
from private_mail.clamav import ClamavMilter, Clamd
from private_mail.postfix_recipes import RspamdAfterQueueRecipe, RspamdRecipe, SpamassMilterRecipe, SpampdRecipe
from private_mail.recipe import DEFERRED, HELD, REJECTED, TRY_AGAIN, Mail
from private_mail.rspamd import AT_THE_DOOR, Rspamd
from private_mail.sendmail_recipe import SendmailRecipe
from private_mail.spamassassin import GTUBE, Spamd, SpamassMilter
from recipe_mails import honest, unlisted

# Every message gets at least these from a whole check of rspamd.
OF_A_WHOLE_CHECK = {"MIME_GOOD", "FROM_NO_DN"}
DEEP, LIGHT = ("deep-check", "smtp"), ("light-path", "smtp")


class SendmailRspamdRecipe(SendmailRecipe):
    fragments = ("sendmail-rspamd/rspamd.mc",)

    def checks(self, stack):
        self.clamd = stack.enter_context(Clamd(self.folder / "clamd"))
        self.rspamd = stack.enter_context(Rspamd(
            self.folder / "rspamd", self.clamd, (*AT_THE_DOOR, *self.virus_check_that_waits)))

    def sockets(self):
        return {"inet:11332@127.0.0.1": f"inet:{self.rspamd.port}@127.0.0.1"}

    def logs(self):
        return f"{super().logs()}\n--- rspamd\n{self.rspamd.log()}"


class SendmailSpamAssassinRecipe(SendmailRecipe):
    fragments = ("sendmail/clamav-milter.mc", "sendmail-spamassassin/spamass-milter.mc")

    def checks(self, stack):
        self.clamd = stack.enter_context(Clamd(self.folder / "clamd"))
        self.clamav_milter = stack.enter_context(ClamavMilter(self.folder / "clamav-milter", self.clamd, self.waits))
        self.spamd = stack.enter_context(Spamd(self.folder / "spamd"))
        self.spamass_milter = stack.enter_context(SpamassMilter(self.folder / "spamass-milter", self.spamd, self.waits))

    def sockets(self):
        return {"/run/clamav/clamav-milter.ctl": self.clamav_milter.address,
                "/run/spamass/spamass.sock": self.spamass_milter.address}

    def logs(self):
        return f"{super().logs()}\n--- spamd\n{self.spamd.log()}\n--- milter\n{self.spamass_milter.log()}"


class Kind:
    """A recipe, as its tests see it."""

    recipe = None
    spam_goes = None  # where spam of an unlisted sender goes; None: to the mailbox, and its header says so
    spares_spam = True  # of listed senders; rspamd looks for the test pattern in all mail
    infected_goes = REJECTED
    names_the_virus_check = False  # X-Virus-Scanned
    waits_as = TRY_AGAIN
    results = []  # the Authentication-Results of a message without a signature
    # The parts that a test stops: all mail waits where the operator wants that, or continues without the check.
    that_wait = ()
    that_go_on = ()

    def why_not(self):
        """Why it cannot be started here; empty where it can."""
        return ""

    @contextmanager
    def options(self):
        """Of the recipe."""
        yield {}

    def assert_is_spared(self, outcome):
        raise NotImplementedError

    def assert_is_checked(self, outcome):
        raise NotImplementedError

    def unlisted_mail(self):
        """Mail that Bloomgate must not deliver, and that the mail server accepts."""
        return list(unlisted().values())

    def spam(self, sender):
        return Mail(sender, body=GTUBE + b"\r\n")

    def back(self, recipe, waiting):
        """What becomes of mail that waited, once the part is there again."""
        return recipe.send(*(outcome.mail for outcome in waiting))


def symbols(outcome):
    """The rules of rspamd that matched it."""
    [result] = outcome.header("X-Spamd-Result")
    return set(re.findall(r"\b([A-Z][A-Z0-9_]+)\(", result))


class WithRspamd(Kind):
    spam_goes, spares_spam = REJECTED, False
    that_wait = that_go_on = ("rspamd", "clamd")

    def assert_is_spared(self, outcome):
        assert symbols(outcome) == set()

    def assert_is_checked(self, outcome):
        assert OF_A_WHOLE_CHECK <= symbols(outcome), outcome.mail


def rules(outcome):
    """The rules of SpamAssassin that matched it."""
    [status] = outcome.header("X-Spam-Status")
    return set(re.search(r"tests=([\w,\s]*?)\s*(?:\w+=|$)", status).group(1).replace(",", " ").split())


class WithSpamass(Kind):
    spam_goes, infected_goes, names_the_virus_check = REJECTED, HELD, True
    that_wait = ("spamass_milter", "clamav_milter", "clamd")
    that_go_on = (*that_wait, "spamd")

    def assert_is_spared(self, outcome):
        assert rules(outcome) == {"BLOOMGATE_DELIVER", "SHORTCIRCUIT"}

    def assert_is_checked(self, outcome):
        assert rules(outcome) and "BLOOMGATE_DELIVER" not in rules(outcome), outcome.mail


class OnSendmail(Kind):
    """From outside, Sendmail refuses what claims something in a field. OpenDKIM is there, and writes what it finds."""

    results = ["mx.example.net; dkim=none; dkim-atps=neutral"]

    def why_not(self):
        return sendmail.can_run()

    def unlisted_mail(self):
        return honest()


class AfterTheQueue(Kind):
    """Listed mail takes the light path, past the spam check and through the virus check."""

    infected_goes, names_the_virus_check, waits_as = HELD, True, DEFERRED

    def back(self, recipe, waiting):
        return recipe.retry(*waiting)


class PostfixRspamd(WithRspamd):
    recipe = RspamdRecipe


class NameServer(socketserver.ThreadingUDPServer):
    """Knows no name, and counts the questions."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Question)
        self.questions = 0

    class Question(socketserver.BaseRequestHandler):
        def handle(self):
            packet, answering = self.request
            self.server.questions += 1
            no_such_name = b"\x81\x83"  # RFC 1035, section 4.1.1: a response, recursion, RCODE 3
            answering.sendto(packet[:2] + no_such_name + packet[4:], self.client_address)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class PostfixSpamass(WithSpamass):
    """SpamAssassin has a name server to ask."""

    recipe = SpamassMilterRecipe

    @contextmanager
    def options(self):
        with NameServer() as self.name_server:
            yield {"name_server": self.name_server.server_address}


class SendmailRspamd(OnSendmail, WithRspamd):
    recipe = SendmailRspamdRecipe


class SendmailSpamAssassin(OnSendmail, WithSpamass):
    recipe = SendmailSpamAssassinRecipe


class PostfixRspamdAfterQueue(AfterTheQueue):
    recipe = RspamdAfterQueueRecipe
    spam_goes = HELD
    that_wait, that_go_on = ("clamd",), ("rspamd",)

    def assert_is_spared(self, outcome):
        assert (outcome.route, outcome.header("X-Spamd-Result")) == (LIGHT, [])

    def assert_is_checked(self, outcome):
        assert outcome.route == DEEP
        assert OF_A_WHOLE_CHECK <= symbols(outcome), outcome.mail


class PostfixSpampd(AfterTheQueue):
    recipe = SpampdRecipe
    that_wait = that_go_on = ("clamd", "clamav_milter")

    def assert_is_spared(self, outcome):
        assert (outcome.route, outcome.header("X-Spam-Status")) == (LIGHT, [])

    def assert_is_checked(self, outcome):
        assert outcome.route == DEEP
        [status] = outcome.header("X-Spam-Status")
        assert status.startswith("Yes" if GTUBE in outcome.mail.body else "No"), outcome.mail


KINDS = {"postfix-rspamd": PostfixRspamd, "postfix-rspamd-after-queue": PostfixRspamdAfterQueue,
         "postfix-spampd": PostfixSpampd, "postfix-spamass-milter": PostfixSpamass,
         "sendmail-rspamd": SendmailRspamd, "sendmail-spamassassin": SendmailSpamAssassin}
