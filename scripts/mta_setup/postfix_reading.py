"""What Postfix's configuration says, as postconf finds it: for the set-up, and as JSON for bloomgate-milter doctor."""

import json
import re
import subprocess

from .changes import Refused
from .postfix_text import ITEM

INCOMING = re.compile(r"^(.*:)?(smtp|25)/inet$|/pass$")  # where mail comes in from other servers


class Reading:
    """name: what messages call the folder, if it is a copy. Of each question the answer is kept until has_changed()."""

    def __init__(self, folder, name=None):
        self.folder, self.name = str(folder), str(name or folder)
        self.answers = {}

    def has_changed(self):
        self.answers.clear()

    def run(self, *arguments):
        if arguments not in self.answers:
            self.answers[arguments] = run(["postconf", "-c", self.folder, *arguments], self.folder, self.name)
        return self.answers[arguments]

    def value(self, name, *options):
        return self.run(*options, "-h", name).strip()

    def items(self, name, *options):
        return ITEM.findall(self.value(name, *options))

    def is_set(self, name):
        return self.run("-n", name).strip() != ""

    def smtpd_services(self):
        lines = [*self.run("-F", "*/inet/command").splitlines(), *self.run("-F", "*/pass/command").splitlines()]
        return [line.partition("/command = ")[0] for line in lines if re.search(r"= smtpd\b", line)]

    def overrides(self, key, *options):
        found = {}
        for line in self.run(*options, "-P", f"{key}/*").splitlines():
            name, _, value = line.partition(" =")
            found[name.removeprefix(key + "/")] = value.strip()
        return found

    def is_chrooted(self, key):
        value = self.run("-F", f"{key}/chroot").rpartition("= ")[2].strip()
        # With compatibility level 0 it is the default.
        return value == "y" or (value == "-" and self.value("compatibility_level") == "0")


def run(command, scratch=" ", folder=" "):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except FileNotFoundError:
        raise Refused(f"there is no {command[0]} here: is Postfix installed?") from None
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip().replace(scratch, folder)
        raise Refused(f"{command[0]} reports an error in the configuration:\n{words}")
    return done.stdout


def address_of(item):
    """What tells a milter, or a table, from others: unix:/PATH, inet:HOST:PORT, regexp:/PATH."""
    return re.split(r"[\s,{}]+", item.strip("{ "))[0]


def asks_no_milters(overrides):
    return "no_milters" in overrides.get("receive_override_options", "")


def for_doctor(folder):
    """What it asks of the services: which milters they ask, in main.cf's place if they have their own."""
    reading = Reading(folder)
    found = {name: reading.value(name, "-x") for name in
             ("content_filter", "mail_owner", "milter_default_action", "myhostname", "queue_directory")}
    found |= {name: reading.items(name, "-x") for name in ("header_checks", "milter_header_checks")}
    found["milters"] = milters_of(reading.value("smtpd_milters", "-x"))
    found["transports"] = re.findall(r"(?m)^(\S+)/unix/", reading.run("-F", "*/unix/command"))
    settings = reading.run("-n") + reading.run("-P")
    found["binds_logins"] = "sender_login_mismatch" in settings and "smtpd_sender_login_maps" in settings
    found["services"] = {}
    for key in reading.smtpd_services():
        own = reading.overrides(key, "-x")
        found["services"][key] = {
            "milters": milters_of(own["smtpd_milters"]) if "smtpd_milters" in own else found["milters"],
            "asks_no_milters": asks_no_milters(own), "is_incoming": INCOMING.search(key) is not None,
            "is_chrooted": reading.is_chrooted(key)}
    return json.dumps(found)


def milters_of(value):
    return [{"text": item, "address": address_of(item)} for item in ITEM.findall(value)]
