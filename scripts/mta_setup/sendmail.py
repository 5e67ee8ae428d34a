"""What a recipe of config/mta means for a given configuration of Sendmail: a marked block in sendmail.mc.

The block goes to Bloomgate's place among the milters that are there. m4 then makes sendmail.cf anew, as
/etc/mail/Makefile does.
"""

import re
import socket
import subprocess
import tempfile
from pathlib import Path

from .changes import Configuration, Refused
from .milters import AUTHENTICATORS, Chain, same_kind

RECIPES_FOLDER = Path(__file__).resolve().parents[2] / "config/mta"
BEFORE = ("sendmail/opendkim.mc", "sendmail/bloomgate.mc")
BEHIND = {
    "none": (),
    "rspamd": ("sendmail-rspamd/rspamd.mc",),
    "spamassassin": ("sendmail/clamav-milter.mc", "sendmail-spamassassin/spamass-milter.mc"),
}

BEGIN = "dnl Bloomgate: begin. Put here by setup-sendmail, and taken away again with --undo.\n"
END = "dnl Bloomgate: end.\n"

FILTER = re.compile(
    r"(?m)^[ \t]*INPUT_MAIL_FILTER\([ \t]*`([^'\n]*)'[ \t]*,[ \t]*`([^'\n]*)'[ \t]*\)[^\n]*\n")

# What this script cannot work with, and why.
REFUSED = {
    r"confINPUT_MAIL_FILTERS": "it sets the milters and their order itself (confINPUT_MAIL_FILTERS)",
    r"(?m)^[ \t]*MAIL_FILTER\(": "it declares milters without INPUT_, so their order is set elsewhere "
                                  "(MAIL_FILTER)",
    r"(?i)InputMailFilters|DAEMON_OPTIONS\([^)]*\bI=": "a port has milters of its own (InputMailFilters)",
    r"(?im)^H(X-Bloomgate|Authentication-Results)[ \t]*:": "it has a rule of its own for one of the fields that "
                                                           "Bloomgate's rules check",
    r"SCheckBloomgateMark": "it already has Bloomgate's rules, and this script did not put them there",
}


class SendmailSetup:
    """configuration: what there is. wanted: what there is to be. next_steps: what is left for a person to do."""

    def __init__(self, options):
        self.options = options
        self.folder = Path(options.config_dir).resolve()
        for name in ("sendmail.mc", "sendmail.cf"):
            if not (self.folder / name).is_file():
                raise Refused(f"there is no {self.folder / name}: say where Sendmail's configuration is "
                              "(--config-dir)")
        self.configuration = Configuration(self.folder, ["sendmail.mc", "sendmail.cf"])
        self.wanted = dict(self.configuration.original)
        self.next_steps = ["systemctl reload sendmail"]
        if not options.undo:
            self._plan()
            self.next_steps = ["in bloomgate-milter.conf: trusted-fields = the number of milters before Bloomgate "
                               "that write results (1 for OpenDKIM alone)",
                               *self.next_steps, "bloomgate-milter --doctor"]

    def check(self):
        """Sendmail's own check of its configuration."""
        command = [self.options.sendmail, "-C", str(self.folder / "sendmail.cf"), "-bt"]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=120)
        except FileNotFoundError:
            raise Refused(f"there is no {command[0]}: say where Sendmail is (--sendmail)") from None
        said = done.stdout + done.stderr
        complaints = [line for line in said.splitlines() if re.search(r": line \d+: ", line)]
        if done.returncode != 0 or complaints:
            words = "\n".join(complaints) or said.strip()
            raise Refused(f"{command[0]} reports an error in {self.folder}/sendmail.cf:\n{words}")

    def _plan(self):
        source = self.configuration.original["sendmail.mc"].decode("utf-8", "surrogateescape")
        made = self._compiled(source)
        if without_build_line(made) != without_build_line(self.configuration.original["sendmail.cf"]):
            raise Refused(f"{self.folder}/sendmail.cf is not what sendmail.mc makes: either it was edited by hand, or "
                          "sendmail.mc has changed since. Only you know which of them is right; sendmail.mc is put "
                          f"into use by make -C {self.folder}")
        new = self._with_block(source)
        self.wanted["sendmail.mc"] = new.encode("utf-8", "surrogateescape")
        current = self.configuration.current
        # sendmail.cf contains the date when it was made, so it is made anew only if it has to be.
        self.wanted["sendmail.cf"] = current["sendmail.cf"]
        if current["sendmail.mc"] != self.wanted["sendmail.mc"]:
            self.wanted["sendmail.cf"] = self._compiled(new)

    def _with_block(self, source):
        active = without_comments(source)
        for pattern, reason in REFUSED.items():
            if re.search(pattern, active):
                raise Refused(f"this script cannot work with {self.folder}/sendmail.mc: {reason}. Take that out "
                              "first, or set Bloomgate up by hand")
        filters = list(FILTER.finditer(active))
        if len(filters) != len(re.findall(r"INPUT_MAIL_FILTER\(", active)):
            raise Refused(f"{self.folder}/sendmail.mc has a milter that is not written on one line, as "
                          "INPUT_MAIL_FILTER(`name', `equates')")
        milters = tuple(f"{found.group(1)} {found.group(2)}" for found in filters)
        position = Chain(milters, f"{self.folder}/sendmail.mc").position(self.options.after_milter)
        place = self._place(active, filters, position)
        return source[:place] + BEGIN + self._block(milters) + END + source[place:]

    def _place(self, active, filters, position):
        mailers = re.search(r"(?m)^[ \t]*MAILER(_DEFINITIONS|\()", active)
        if not mailers:
            raise Refused(f"{self.folder}/sendmail.mc has no MAILER_DEFINITIONS, so the place of the milters is not "
                          "known")
        place = mailers.start()
        if filters:
            place = filters[position - 1].end() if position else filters[0].start()
        local = re.search(r"(?m)^[ \t]*LOCAL_(CONFIG|RULE|NET)", active[:place])
        if local:
            raise Refused(f"{self.folder}/sendmail.mc has {local.group().strip()}… before the place of the milters: "
                          "move it to the end of the file")
        return place

    def _block(self, present):
        lines = []
        for name in (*BEFORE, *BEHIND[self.options.recipe]):
            for line in (RECIPES_FOLDER / name).read_text(encoding="utf-8").splitlines(keepends=True):
                found = FILTER.match(line)
                if not line.startswith("dnl") and not (found and is_there(found, present)):
                    lines.append(line)
        return "".join(lines).replace("local:/run/bloomgate/milter.sock", socket_of(self.options.socket))

    def _compiled(self, source):
        with tempfile.NamedTemporaryFile(suffix=".mc") as file:
            file.write(source.encode("utf-8", "surrogateescape"))
            file.flush()
            done = subprocess.run(["m4", f"-D_CF_DIR_={self.options.cf_dir}/", file.name], cwd=self.folder,
                                  capture_output=True)
        if done.returncode != 0 or done.stderr:
            raise Refused("m4 reports an error in sendmail.mc:\n"
                          + done.stderr.decode("utf-8", "replace").replace(file.name, "sendmail.mc").strip())
        return done.stdout


def milters_must_be_there(options, setup):
    """Refuses to put in a milter with F=T that does not listen: all mail would wait for it."""
    if options.milters_come_later:
        return
    new = setup.wanted["sendmail.mc"].decode("utf-8", "surrogateescape")
    block = new.partition(BEGIN)[2].partition(END)[0]
    for found in FILTER.finditer(block):
        equates = dict(part.strip().partition("=")[::2] for part in found.group(2).split(","))
        if equates.get("F") == "T" and not accepts_connections(equates["S"]):
            raise Refused(f"nothing listens on {equates['S']}, the socket of the milter {found.group(1)}, so all mail "
                          "would wait for it. Start it first, or say --milters-come-later")


def accepts_connections(address):
    """local:/PATH or inet:PORT@HOST."""
    kind, _, place = address.partition(":")
    port, _, host = place.partition("@")
    with socket.socket(socket.AF_UNIX if kind == "local" else socket.AF_INET) as probe:
        probe.settimeout(5)
        try:
            probe.connect(place if kind == "local" else (host, int(port)))
        except OSError:
            return False
        return True


def is_there(found, present):
    """Whether the configuration already has such a milter: OpenDKIM, or a check of that kind."""
    ours = f"{found.group(1)} {found.group(2)}"
    return any(same_kind(ours, milter) or ("opendkim" in ours and AUTHENTICATORS.search(milter)
                                           and "dkim" in milter.lower()) for milter in present)


def without_comments(source):
    """The source with blanks for everything that m4 skips; the offsets stay the same."""
    def blanks(found):
        return re.sub(r"[^\n]", " ", found.group())

    text = re.sub(r"(?s)divert\(-1\).*?divert\(0\)", blanks, source)
    return re.sub(r"(?m)^[ \t]*(dnl|#).*$", blanks, text)


def without_build_line(cf):
    """sendmail.cf without the lines that say who made it, when and where."""
    return re.sub(rb"(?m)^#####( built by .*| *in .*| *using .*)$\n?", b"", cf)


def socket_of(place):
    """unix:/PATH or inet:HOST:PORT, as Sendmail writes it."""
    kind, _, address = place.partition(":")
    if kind == "unix":
        return f"local:{address}"
    host, _, port = address.rpartition(":")
    return f"inet:{port}@{host}"
