"""The recipes of config/mta for Postfix, each with its checkers, for tests and measurements."""

import re
from dataclasses import replace

from .clamav import ClamavMilter, Clamd
from .processes import free_port
from .recipe import Recipe, with_header_checks
from .rspamd import AFTER_THE_QUEUE, AT_THE_DOOR, PlainRspamd, Rspamd
from .shipped import adapted, with_authenticators
from .spamassassin import Spamd, SpamassMilter, Spampd

OWN_NAME = {"authentication_header_checks": {r"mx\.example\.org": r"mx\.example\.net"}}


class MilterRecipe(Recipe):
    """Its checks are milters after Bloomgate."""

    def checks_opted(self, name):
        before, bloomgate, after = re.split(r"(?s)( \{ unix:/run/bloomgate/.*?\})", adapted(name, {}))
        return with_authenticators(before + bloomgate + self.opted(after))


class RspamdRecipe(MilterRecipe):
    """postfix-rspamd. whole: rspamd with all that makes it fast, and slow to start, as for a measurement."""

    def __init__(self, folder, config, whole=False):
        super().__init__(folder, config)
        self.whole = whole

    def checks(self, stack):
        self.clamd = stack.enter_context(Clamd(self.folder / "clamd"))
        self.rspamd = stack.enter_context(Rspamd(
            self.folder / "rspamd", self.clamd, (*AT_THE_DOOR, *self.virus_check_that_waits), self.whole))
        self.spam_checkers = [self.rspamd]

    def files(self):
        main_cf = self.with_milters(self.checks_opted("postfix-rspamd/main.cf"), {
            "inet:127.0.0.1:11332": self.rspamd.mta_socket})
        return {"main_cf": with_header_checks(main_cf, self.folder, OWN_NAME)}


class LightPathRecipe(Recipe):
    """postfix with postfix-clamav-milter: listed mail skips a deep check after the queue."""

    def __init__(self, folder, config):
        super().__init__(folder, config)
        self.deep_port, self.back_port, self.virus_port = (free_port() for _ in range(3))

    def checks(self, stack):
        self.clamd = stack.enter_context(Clamd(self.folder / "clamd"))
        self.clamav_milter = stack.enter_context(ClamavMilter(
            self.folder / "clamav-milter", self.clamd, self.waits))

    def files(self):
        main_cf = self.with_milters(with_authenticators(adapted("postfix/main.cf", {
            "[127.0.0.1]:10024": f"[127.0.0.1]:{self.deep_port}"})), {})
        virus_check = self.opted(adapted("postfix-clamav-milter/master.cf", {
            "127.0.0.1:10026": f"127.0.0.1:{self.virus_port}",
            "unix:/run/clamav/clamav-milter.ctl": self.clamav_milter.mta_socket}))
        return {
            "main_cf": with_header_checks(main_cf, self.folder, {**OWN_NAME, "bloomgate_header_checks": {
                "[127.0.0.1]:10025": f"[127.0.0.1]:{self.virus_port}"}}),
            "master_cf": adapted("postfix/master.cf", {
                "127.0.0.1:10025": f"127.0.0.1:{self.back_port}"}) + virus_check}


class SpampdRecipe(LightPathRecipe):
    """postfix-spampd, with the parts of LightPathRecipe."""

    def checks(self, stack):
        super().checks(stack)
        self.spampd = stack.enter_context(Spampd(self.folder / "spampd", self.deep_port, self.virus_port))
        self.spam_checkers = [self.spampd]


class RspamdAfterQueueRecipe(LightPathRecipe):
    """postfix-rspamd-after-queue, with the parts of LightPathRecipe."""

    def __init__(self, folder, config, whole=False):
        super().__init__(folder, config)
        self.whole = whole

    def checks(self, stack):
        super().checks(stack)
        self.rspamd = stack.enter_context(Rspamd(
            self.folder / "rspamd", self.clamd, (*AFTER_THE_QUEUE, *self.virus_check_that_waits), self.whole))
        self.spam_checkers = [self.rspamd]

    def files(self):
        files = super().files()
        entrance = self.opted(adapted("postfix-rspamd-after-queue/master.cf", {
            "127.0.0.1:10024": f"127.0.0.1:{self.deep_port}",
            "inet:127.0.0.1:11332": self.rspamd.mta_socket}))
        files["master_cf"] += with_header_checks(entrance, self.folder, {}, "postfix-rspamd-after-queue")
        return files


class SpamassMilterRecipe(MilterRecipe):
    """postfix-spamass-milter. name_server: (host, port), for SpamAssassin to ask."""

    def __init__(self, folder, config, name_server=None):
        super().__init__(folder, config)
        self.name_server = name_server

    def checks(self, stack):
        self.clamd = stack.enter_context(Clamd(self.folder / "clamd"))
        self.clamav_milter = stack.enter_context(ClamavMilter(
            self.folder / "clamav-milter", self.clamd, self.waits))
        self.spamd = stack.enter_context(Spamd(self.folder / "spamd", self.name_server))
        self.spamass_milter = stack.enter_context(SpamassMilter(
            self.folder / "spamass-milter", self.spamd, self.waits))
        self.spam_checkers = [self.spamd, self.spamass_milter]

    def files(self):
        main_cf = self.with_milters(self.checks_opted("postfix-spamass-milter/main.cf"), {
            "unix:/run/clamav/clamav-milter.ctl": self.clamav_milter.mta_socket,
            "unix:spamass/spamass.sock": self.spamass_milter.mta_socket})
        return {"main_cf": with_header_checks(main_cf, self.folder, OWN_NAME)}


class DeepCheckRecipe(Recipe):
    """deep-check: Bloomgate asks rspamd itself, or SpamAssassin's spamd. checker: which one at first."""

    def __init__(self, folder, config, checker="rspamd", whole=False):
        super().__init__(folder, config)
        self.rspamd = PlainRspamd(self.folder / "rspamd", whole)
        self.spamd = Spamd(self.folder / "spamd")
        self.base = dict(config.settings)
        self.config = replace(config, settings=self.settings(checker))

    def checks(self, stack):
        self.spam_checkers = [stack.enter_context(checker) for checker in (self.rspamd, self.spamd)]

    def files(self):
        main_cf = self.with_milters(with_authenticators(self.opted(adapted("deep-check/main.cf", {}))), {})
        return {"main_cf": with_header_checks(main_cf, self.folder, OWN_NAME)}

    def settings(self, checker, **changes):
        """Bloomgate's settings with the shipped lines for that checker. changes: others, with _ for -."""
        ports = {"rspamd": ("127.0.0.1:11333", f"127.0.0.1:{self.rspamd.normal[1]}"),
                 "spamd": ("783@127.0.0.1", f"{self.spamd.address[1]}@127.0.0.1")}
        shipped = adapted(f"deep-check/{checker}.conf", dict([ports[checker]]))
        lines = dict(line.split(" = ") for line in shipped.splitlines())
        if self.waits:
            lines["deep-check-failure"] = "tempfail"
        return {**self.base, **lines, **{name.replace("_", "-"): value for name, value in changes.items()}}

    def ask(self, checker, **changes):
        """Restarts Bloomgate with settings(checker, ...)."""
        self.daemon.restart(self.settings(checker, **changes))
