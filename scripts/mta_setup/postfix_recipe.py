"""The shipped files of a recipe of config/mta for Postfix, with this server's addresses and folders in them."""

import re
from pathlib import Path

from . import daemon_socket, postfix_text
from .milters import BLOOMGATE

RECIPES_FOLDER = Path(__file__).resolve().parents[2] / "config/mta"
SHARED_TABLES = RECIPES_FOLDER / "postfix"
TABLES = ("header_checks", "milter_header_checks")  # parameters that name tables, one after the other

# It only logs, so the site's own tables come first: of all tables, the first rule that fits a field counts.
LOGGING_TABLE = "automatic_mail_header_checks"

# Recipe -> its folder in config/mta.
FOLDERS = {"none": "postfix", "content-filter": "postfix", "rspamd": "postfix-rspamd",
           "spamassassin": "postfix-spamass-milter", "deep-check": "deep-check"}
CLAMAV_MILTER = re.compile(r"clamav-milter")
OF_CONTENT_FILTER = {"deep_check": "127.0.0.1:10024", "reinjection": "127.0.0.1:10025", "light_path": None,
                     "keep_content_filter": False}  # its own options -> their defaults


def implied(options):
    return "content-filter" if any(getattr(options, name) for name in OF_CONTENT_FILTER) else None


def fill_in(options):
    """The options of content-filter that the command line does not give."""
    for name, default in OF_CONTENT_FILTER.items():
        setattr(options, name, getattr(options, name) or default)


class Recipe:
    """settings: parameter -> value. services: name/type -> its lines. tables: name -> text. bloomgate: its item of
    smtpd_milters; behind: those of the checks after it."""

    def __init__(self, config_dir, host_name, socket, options):
        folder = RECIPES_FOLDER / FOLDERS[options.recipe]
        self._replacements = {
            daemon_socket.USUAL: socket,
            "[127.0.0.1]:10024": bracketed(options.deep_check),
            "[127.0.0.1]:10025": bracketed(options.light_path or options.reinjection),
            "127.0.0.1:10025": options.reinjection,
            "/etc/postfix/": f"{config_dir}/",
            r"mx\.example\.org": re.escape(host_name),
        }
        main_cf = (folder / "main.cf").read_text(encoding="utf-8")
        self.settings = {name: self._ours(postfix_text.value_of(main_cf, name)) for name in names(main_cf)}
        self.services = self._services(folder / "master.cf")
        if options.no_automatic_mail_log:
            self.settings = {name: " ".join(item for item in postfix_text.ITEM.findall(value) if not is_logging(item))
                             if name.endswith("header_checks") else value for name, value in self.settings.items()}
        if options.recipe == "none":  # content-filter's files, without the filter
            self.services = {}
            for name in ("content_filter", "milter_header_checks"):
                del self.settings[name]
        named = " ".join(self.settings.get(name, "") for name in TABLES)
        self.tables = {path.name: self._ours(path.read_text(encoding="utf-8"), comments=False)
                       for path in sorted(SHARED_TABLES.glob("*_header_checks"))
                       if re.search(rf"/{re.escape(path.name)}(\s|,|$)", named)}
        chain = postfix_text.ITEM.findall(self.settings.pop("smtpd_milters"))
        [ours] = [index for index, milter in enumerate(chain) if BLOOMGATE.search(milter) or socket in milter]
        self.bloomgate, *self.behind = chain[ours:]
        if not options.with_clamav:
            self.behind = [milter for milter in self.behind if not CLAMAV_MILTER.search(milter)]
        if options.when_down == "tempfail":
            self.behind = [waiting(milter) for milter in self.behind]
            # With deep-check nothing comes after Bloomgate: it is the check.
            if options.recipe == "deep-check":
                self.bloomgate = waiting(self.bloomgate)

    def _services(self, path):
        if not path.is_file():
            return {}
        text = self._ours(path.read_text(encoding="utf-8"), comments=False)
        return {"/".join(entry.text.split()[:2]): entry.text for entry in postfix_text.entries(text)}

    def _ours(self, text, comments=True):
        if not comments:
            text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
        # All at once, so that no replacement is replaced again.
        found = re.compile("|".join(map(re.escape, self._replacements)))
        return found.sub(lambda match: self._replacements[match.group()], text)


def is_logging(table):
    return table.endswith(f"/{LOGGING_TABLE}")


def names(main_cf):
    return [entry.text.partition("=")[0].strip() for entry in postfix_text.entries(main_cf)]


def waiting(milter):
    return milter.replace("default_action=accept", "default_action=tempfail")


def bracketed(address):
    host, _, port = address.rpartition(":")
    return f"[{host}]:{port}"
