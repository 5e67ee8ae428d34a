"""What a recipe of config/mta means for a given configuration of Postfix.

postconf does the work, on a copy of main.cf and master.cf. What differs there afterwards is the change.
"""

import os
import re
import socket
import subprocess
import tempfile
from pathlib import Path

from .changes import Configuration, Refused
from .milters import BLOOMGATE, SPAM_CHECKERS, Chain, same_kind

RECIPES_FOLDER = Path(__file__).resolve().parents[2] / "config/mta"
MAIN_FILES = ("main.cf", "master.cf")
TABLES = ("header_checks", "milter_header_checks")  # parameters that name tables, one after the other
TABLE_NAMES = "*_header_checks"
SHARED_TABLES = RECIPES_FOLDER / "postfix"
# By default these two are the same as header_checks; our table is not meant for them.
PARTS_OF_MESSAGES = ("mime_header_checks", "nested_header_checks")
TABLE_COMMENT = "# Put here by setup-postfix, and taken away again with --undo. It is {} of Bloomgate.\n"
# An smtpd service must not set these for itself, unless it sets all of ours to nothing.
OURS = {"content_filter", "smtpd_milters"}


def recipes():
    """The folder of each recipe by its name: config/mta/postfix is `content-filter`, postfix-X is X."""
    found = {"content-filter": RECIPES_FOLDER / "postfix"}
    for folder in sorted(RECIPES_FOLDER.glob("postfix-*")):
        if (folder / "main.cf").is_file():
            found[folder.name.removeprefix("postfix-")] = folder
    return found


class Recipe:
    """The shipped files, with this server's addresses and folder in them."""

    def __init__(self, folder, config_dir, host_name, options):
        self._replacements = {
            "unix:/run/bloomgate/milter.sock": options.socket,
            "[127.0.0.1]:10024": bracketed(options.deep_check),
            "[127.0.0.1]:10026": bracketed(options.light_path or options.reinjection),
            "127.0.0.1:10025": options.reinjection,
            "/etc/postfix/": f"{config_dir}/",
            r"mx\.example\.org": re.escape(host_name),
        }
        self.settings = {name: self._ours(value) for name, value in parameters(read(folder / "main.cf"))}
        master_cf = folder / "master.cf"
        self.services = list(services(self._ours(read(master_cf)))) if master_cf.is_file() else []
        named = " ".join(self.settings.get(name, "") for name in TABLES)
        self.tables = {path.name: (TABLE_COMMENT.format(path.relative_to(RECIPES_FOLDER.parents[1]))
                                   + self._ours(read(path))).encode()
                       for path in sorted(SHARED_TABLES.glob(TABLE_NAMES))
                       if re.search(rf"/{re.escape(path.name)}(\s|,|$)", named)}
        chain = words(dict(parameters(read(folder / "main.cf")))["smtpd_milters"])
        [ours] = [index for index, milter in enumerate(chain) if BLOOMGATE.search(milter)]
        self.bloomgate, *self.behind = map(self._ours, chain[ours:])
        del self.settings["smtpd_milters"]

    def _ours(self, text):
        # All at once, so that no replacement is replaced again.
        found = re.compile("|".join(map(re.escape, self._replacements)))
        return found.sub(lambda match: self._replacements[match.group()], text)


class PostfixSetup:
    """configuration: what there is. wanted: what there is to be. next_steps: what is left for a person to do."""

    def __init__(self, options):
        self.folder = Path(options.config_dir).resolve()
        for name in MAIN_FILES:
            if not (self.folder / name).is_file():
                raise Refused(f"there is no {self.folder / name}: say where Postfix's configuration is "
                              "(--config-dir)")
        with tempfile.TemporaryDirectory() as scratch:
            self.scratch = Path(scratch)
            recipe_folder = recipes()[options.recipe]
            tables = sorted(path.name for path in SHARED_TABLES.glob(TABLE_NAMES))
            self.configuration = Configuration(self.folder, [*MAIN_FILES, *tables])
            self.options = options
            self.notes = []
            self.wanted = dict(self.configuration.original)
            if not options.undo:
                self._fill_scratch()
                self.recipe = Recipe(recipe_folder, self.folder, self._value("myhostname", "-x"), options)
                self._plan()
        if options.socket.startswith("unix:") and not options.undo:
            self.notes.append("let Postfix use the socket: usermod -a -G bloomgate postfix")
        self.next_steps = [*self.notes, f"postfix -c {self.folder} reload"]
        if not options.undo:
            self.next_steps.append("bloomgate-milter --doctor")

    def check(self):
        """Postfix's own check of its configuration."""
        self._run(["postconf", "-c", self.folder, "-n"])
        self._run(["postconf", "-c", self.folder, "-M"])
        self._run(["postfix", "-c", self.folder, "check"])

    def _plan(self):
        for name, text in self.recipe.tables.items():
            if self.wanted[name] not in (None, text):
                raise Refused(f"{self.folder / name} exists already, with other lines than the recipe's: move it away")
            self.wanted[name] = text
        self._plan_milters()
        own_tables = self._value("header_checks")
        for name, value in self.recipe.settings.items():
            if name in TABLES:
                self._plan_tables(name, value)
            elif name in PARTS_OF_MESSAGES:
                if not self._is_set(name):
                    self._set(name, own_tables)
            elif name == "non_smtpd_milters":
                self._plan_milters_of_own_mail(value)
            elif name != "content_filter" or not self.options.keep_content_filter:
                self._plan_setting(name, value)
        for key, line in self.recipe.services:
            self._plan_service(key, line)
        self._plan_incoming_services()
        for name in MAIN_FILES:
            self.wanted[name] = (self.scratch / name).read_bytes()

    def _plan_milters(self):
        chain = words(self._value("smtpd_milters"))
        for milter in chain:
            if "$" in milter:
                raise Refused(f"smtpd_milters refers to another parameter ({milter}): write the milters themselves "
                              "there, then try again")
        place = f"smtpd_milters of {self.folder}/main.cf"
        position = Chain(tuple(chain), place).position(self.options.after_milter)
        spam_checkers = [milter for milter in chain if SPAM_CHECKERS.search(milter)]
        if spam_checkers and not self.recipe.behind:
            raise Refused(f"smtpd_milters has a spam check ({spam_checkers[0]}): with the recipe {self.options.recipe} "
                          "Postfix would still ask it about every message. Recipes: " + ", ".join(recipes()))
        missing = [milter for milter in self.recipe.behind
                   if not any(same_kind(milter, present) for present in chain)]
        chain.insert(position, self.recipe.bloomgate)
        self._set("smtpd_milters", ", ".join(chain + missing))

    def _plan_milters_of_own_mail(self, value):
        present = words(self._value("non_smtpd_milters"))
        if not any(same_kind(value, milter) or "$" in milter for milter in present):
            self._set("non_smtpd_milters", ", ".join([*present, value]))

    def _plan_tables(self, name, value):
        present = words(self._value(name))
        if any("$" in table for table in present):
            raise Refused(f"{name} refers to another parameter ({' '.join(present)}): write the tables themselves "
                          "there, then try again")
        # Ours first: they look for nothing but their own fields.
        self._set(name, ", ".join([*(table for table in words(value) if table not in present), *present]))

    def _plan_setting(self, name, value):
        present = self._value(name)
        if self._is_set(name) and present not in ("", value):
            advice = ("If that is the spam check, keep it with --keep-content-filter."
                      if name == "content_filter" else "Take it out first, or set Bloomgate up by hand.")
            raise Refused(f"{name} of {self.folder}/main.cf is already set to something else: {present}\n"
                          f"The recipe needs {value}. {advice}")
        self._set(name, value)

    def _plan_service(self, key, line):
        present = self._run(["postconf", "-c", self.scratch, "-M", key]).split()
        if not present:
            self._run(["postconf", "-c", self.scratch, "-M", f"{key}={line}"])
            self._age("master.cf")
        elif key.endswith("/inet") and self._hands_mail_back(key):
            self.notes.append(f"{key} is in master.cf already and asks neither filters nor milters: it stays as it is")
        elif present != line.split():
            raise Refused(f"the service {key} in {self.folder}/master.cf is not the recipe's:\n  {' '.join(present)}\n"
                          "Give one of the two another name or port (--reinjection), then try again")

    def _plan_incoming_services(self):
        for service in self._smtpd_services():
            own = {name for name in self._overrides(service) if name in OURS | set(TABLES)}
            if self._hands_mail_back(service):
                continue
            if own:
                raise Refused(f"the service {service} in {self.folder}/master.cf has settings of its own "
                              f"({', '.join(sorted(own))}), and this script cannot tell whether that is a mistake: "
                              "take them out, or set Bloomgate up by hand")
            if self.options.socket.startswith("unix:/") and self._is_chrooted(service):
                self._run(["postconf", "-c", self.scratch, "-F", f"{service}/chroot=n"])
                self._age("master.cf")

    def _smtpd_services(self):
        lines = self._run(["postconf", "-c", self.scratch, "-F", "*/inet/command"]).splitlines()
        return [line.partition("/command = ")[0] for line in lines if re.search(r"= smtpd\b", line)]

    def _overrides(self, service):
        found = {}
        for line in self._run(["postconf", "-c", self.scratch, "-P", f"{service}/*"]).splitlines():
            name, _, value = line.partition(" =")
            found[name.removeprefix(service + "/")] = value.strip()
        return found

    def _hands_mail_back(self, service):
        """Mail that comes in there has been checked: the service asks neither a content filter nor a milter."""
        own = self._overrides(service)
        no_milters = own.get("smtpd_milters") == "" or "no_milters" in own.get("receive_override_options", "")
        return own.get("content_filter") == "" and no_milters

    def _is_chrooted(self, service):
        line = self._run(["postconf", "-c", self.scratch, "-F", f"{service}/chroot"])
        value = line.rpartition("= ")[2].strip()
        # With compatibility level 0 it is the default.
        return value == "y" or (value == "-" and self._value("compatibility_level") == "0")

    def _fill_scratch(self):
        for name in MAIN_FILES:
            content = self.configuration.original[name]
            # postconf would go on in a last line that has no end.
            (self.scratch / name).write_bytes(content + (b"" if content.endswith(b"\n") else b"\n"))
            self._age(name)

    def _age(self, name):
        """Makes the file old: Postfix's programs wait until a file is some seconds old."""
        os.utime(self.scratch / name, (0, 0))

    def _value(self, name, *options):
        return self._run(["postconf", "-c", self.scratch, *options, "-h", name]).strip()

    def _is_set(self, name):
        return self._run(["postconf", "-c", self.scratch, "-n", name]).strip() != ""

    def _set(self, name, value):
        if self._value(name) != value:
            self._run(["postconf", "-c", self.scratch, "-e", f"{name}={value}"])
            self._age("main.cf")

    def _run(self, command):
        try:
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        except FileNotFoundError:
            raise Refused(f"there is no {command[0]} here: is Postfix installed?") from None
        if done.returncode != 0:
            words = (done.stderr or done.stdout).strip().replace(str(self.scratch), str(self.folder))
            raise Refused(f"{command[0]} reports an error in the configuration:\n{words}")
        return done.stdout


def accepts_connections(address):
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except (OSError, ValueError):
        return False
    return True


def bracketed(address):
    host, _, port = address.rpartition(":")
    return f"[{host}]:{port}"


def words(value):
    """The items of a Postfix list: separated by blanks or commas; an item in braces is kept whole."""
    return [word for word in re.findall(r"\{[^}]*\}|[^\s,{]+", value)]


def read(path):
    """The lines of a file that Postfix reads."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.strip() and not line.startswith("#"))


def logical_lines(text):
    """The lines, with continued lines joined."""
    return re.sub(r"\n[ \t]+", " ", text).splitlines()


def parameters(text):
    for line in logical_lines(text):
        name, _, value = line.partition("=")
        yield name.strip(), " ".join(value.split())


def services(text):
    """(name/type, the line) of each entry of master.cf."""
    for line in logical_lines(text):
        name, kind = line.split()[:2]
        yield f"{name}/{kind}", " ".join(line.split())
