"""What a recipe of config/mta means for a given configuration of Sendmail: a marked block in sendmail.mc.

The block goes to Bloomgate's place among the milters that are there. m4 then makes sendmail.cf anew, as
/etc/mail/Makefile does.
"""

import re
import subprocess
import tempfile
from pathlib import Path

from . import machine
from .changes import Configuration, Refused, folder_of
from .daemon_socket import DaemonSocket
from .edits import BEGIN, Block, Command, Made
from .milters import AUTHENTICATORS, Chain, same_kind, to_start
from .other_programs import OtherPrograms, asks_itself, unchecked
from .postfix_recipe import RECIPES_FOLDER

CLAMAV = "sendmail/clamav-milter.mc"
RECIPES = {
    "none": ("sendmail/bloomgate.mc",),
    "rspamd": ("sendmail/bloomgate.mc", "sendmail-rspamd/rspamd.mc"),
    "spamassassin": ("sendmail/bloomgate.mc", CLAMAV, "sendmail-spamassassin/spamass-milter.mc"),
    "deep-check": ("deep-check/bloomgate.mc", "sendmail/bloomgate.mc"),
}
PAGES = {"opendkim": "authentication", "rspamd": "sendmail-rspamd", "spamassassin": "sendmail-spamassassin",
         "deep-check": "deep-check"}  # the folder of config/mta that says how the recipe's programs are set up

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
    """configuration: what there is. wanted: what there is to be, consisting of pieces (of edits). obstacles: why it
    must not be applied. notes: what a person ought to know. checks: where the checks listen that mail is to go through.
    unchecked: that nothing checks mail, if so. left_to_do: what this script does not do."""

    def __init__(self, options):
        self.options = options
        self.folder = folder_of(options)
        self.mc, self.cf = (str(self.folder / name) for name in ("sendmail.mc", "sendmail.cf"))
        for name in (self.mc, self.cf):
            if not Path(name).is_file():
                raise Refused(f"there is no {name}: is Sendmail installed? If so, say where its configuration is (--config-dir)")
        self.others = OtherPrograms(options)
        self.configuration = Configuration(self.folder, [self.mc, self.cf, *self.others.paths])
        self._take_out_of_cf()
        self.wanted = dict(self.configuration.original)
        self.pieces, self.obstacles, self.notes, self.checks, self.left_to_do = [], [], [], [], []
        self.unchecked = ""
        if not options.undo and not options.list:
            self.socket = DaemonSocket(options, self.others.daemon_conf, self.wanted[self.others.daemon_conf])
            self._plan()

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

    def _take_out_of_cf(self):
        """sendmail.cf is made of sendmail.mc, so the one without us is made of the other without us."""
        configuration = self.configuration
        if not configuration.is_applied or configuration.original[self.cf] != configuration.current[self.cf]:
            return  # not ours, or as --apply left it: its bytes of before are known
        was_made = self._compiled(text_of(configuration.current[self.mc]))
        if lines_in_use(was_made) == lines_in_use(configuration.current[self.cf]):
            configuration.original[self.cf] = self._compiled(text_of(configuration.original[self.mc]))
        elif any(ours in configuration.current[path] for path, ours in
                 ((self.mc, BEGIN.encode()), (self.cf, b"CheckBloomgateMark"))):
            self._refuse_edited_cf()

    def _plan(self):
        self.attempt(self._plan_block)
        self.attempt(self.others.plan, self)
        if self.options.with_opendkim:
            self.left_to_do.append("in bloomgate-milter.conf: verify-dkim = no, and trusted-fields = the number of milters "
                                   "before Bloomgate that write results (1 for OpenDKIM alone)")
        self.left_to_do.append("bloomgate-milter doctor")
        self.pieces.append(Command(("systemctl", "try-reload-or-restart", "sendmail")))
        if not machine.listens(self.socket.place):
            self.notes.append(f"nothing listens on {self.socket.place}: until bloomgate-milter does, mail passes "
                              "without a mark")

    def attempt(self, step, *arguments):
        """So that all that stands in the way is known at once."""
        try:
            step(*arguments)
        except Refused as reason:
            self.obstacles.append(reason)

    def _plan_block(self):
        source = text_of(self.configuration.original[self.mc])
        made = self._compiled(source)
        if lines_in_use(made) != lines_in_use(self.configuration.original[self.cf]):
            self._refuse_edited_cf()
        new = self._with_block(source)
        self.wanted[self.mc] = new.encode("utf-8", "surrogateescape")
        current = self.configuration.current
        # sendmail.cf contains the date when it was made, so it is made anew only if it has to be.
        self.wanted[self.cf] = current[self.cf]
        if current[self.mc] != self.wanted[self.mc]:
            self.wanted[self.cf] = self._compiled(new)
        self.pieces.append(Made(self.cf, f"made anew of {self.mc}"))

    def _refuse_edited_cf(self):
        raise Refused(f"{self.cf} is not what sendmail.mc makes: either it was edited by hand, or sendmail.mc has "
                      "changed since. Only you know which of them is right; sendmail.mc is put into use by "
                      f"make -C {self.folder}")

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
        checks = [milter for milter in milters if not AUTHENTICATORS.search(milter)]
        if not checks and self.options.recipe == "none" and not asks_itself(self.options):
            self.unchecked = unchecked("no milter after Bloomgate", "rspamd, spamassassin or deep-check")
            self.notes.append(self.unchecked)
        place = self._place(active, filters, position)
        block = Block(self.mc, self._block(milters), "these milters and rules: " + ", ".join(
            found.group(1) for found in FILTER.finditer(self._block(milters))), "dnl")
        self.pieces.append(block)
        self._look_at_the_checks(block.lines)
        return source[:place] + block.marked() + source[place:]

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
        names = [name for name in RECIPES[self.options.recipe] if name != CLAMAV or self.options.with_clamav]
        names[:0] = ["sendmail/forged_results.mc"]
        names[:0] = ["sendmail/opendkim.mc"] if self.options.with_opendkim else []
        lines, has_bloomgate = [], False
        for name in names:
            for line in (RECIPES_FOLDER / name).read_text(encoding="utf-8").splitlines(keepends=True):
                found = FILTER.match(line)
                if line.startswith("dnl") or (found and is_there(found, present)):
                    continue
                if found and found.group(1) == "bloomgate":
                    # deep-check has a line of its own in the place of the other.
                    line, has_bloomgate = "" if has_bloomgate else line, True
                lines.append(self._waiting(line, found))
        return "".join(lines).replace("local:/run/bloomgate/milter.sock", socket_of(self.socket.place))

    def _waiting(self, line, found):
        is_check = found and (found.group(1) not in ("bloomgate", "opendkim") or self.options.recipe == "deep-check")
        return line.replace(", T=", ", F=T, T=") if is_check and self.options.when_down == "tempfail" else line

    def _look_at_the_checks(self, block):
        for found in FILTER.finditer(block):
            equates = dict(part.strip().partition("=")[::2] for part in found.group(2).split(","))
            if found.group(1) == "bloomgate":
                continue
            self.checks.append(place_of(equates["S"]))
            if not machine.listens(self.checks[-1]):
                what = f"nothing listens on {equates['S']}, the socket of the milter {found.group(1)}"
                self.attempt(self.missing_check, what, found.group(1), "T" in equates.get("F", ""))

    def missing_check(self, what, milter, waits=None):
        page = PAGES["opendkim" if milter == "opendkim" else self.options.recipe]
        remedy = to_start(milter, RECIPES_FOLDER / page)
        if (waits if waits is not None else self.options.when_down == "tempfail"):
            if not self.options.parts_come_later:
                raise Refused(f"{what}, so the senders of all mail would be asked to try again later. {remedy}. Or say "
                              "--parts-come-later")
        self.notes.append(f"{what}: until something does, mail passes without it. {remedy}")

    def earlier_groups(self, user, path):
        """What an earlier --apply did, which is not needed again, and is still to be undone."""
        return [piece for piece in self.configuration.applied
                if piece.kind == "group" and piece.user == user and piece.why.endswith(f" {path}")]

    def put(self, piece):
        """A new file."""
        self.pieces.append(piece)
        self.wanted[piece.file] = piece.text.encode("utf-8", "surrogateescape")

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


def text_of(content):
    return content.decode("utf-8", "surrogateescape")


def place_of(address):
    """local:/PATH or inet:PORT@HOST, as machine.listens() has it."""
    kind, _, place = address.partition(":")
    port, _, host = place.partition("@")
    return f"unix:{place}" if kind in ("local", "unix") else f"inet:{host}:{port}"


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


def lines_in_use(cf):
    """sendmail.cf without its comments: these say who made it, when and where, and Debian's make puts sendmail.mc behind."""
    return re.sub(rb"(?m)^#.*$\n?", b"", cf)


def socket_of(place):
    """unix:/PATH or inet:HOST:PORT, as Sendmail writes it."""
    kind, _, address = place.partition(":")
    if kind == "unix":
        return f"local:{address}"
    host, _, port = address.rpartition(":")
    return f"inet:{port}@{host}"
