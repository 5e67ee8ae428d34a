"""What the recipes put into the configurations of rspamd, SpamAssassin and Bloomgate itself."""

import re
from pathlib import Path

from . import machine
from .changes import read
from .edits import Block, Command, NewFile
from .postfix_recipe import RECIPES_FOLDER

RSPAMD, RSPAMD_SOCKET_OF_CLAMD = "_rspamd", "/run/clamav/clamd.ctl"
CHECKERS = {"rspamd": "127.0.0.1:11333", "spamd": "127.0.0.1:783"}


def asks_itself(options):
    """Whether Bloomgate asks a checker: by this recipe, or by its configuration."""
    present = read(Path(options.etc) / "bloomgate/bloomgate-milter.conf") or b""
    return options.recipe == "deep-check" or bool(re.search(rb"(?m)^[ \t]*deep-check[ \t]*=", present))


def unchecked(what_is_missing, recipes):
    """The words for a mail server where nothing checks mail, as the doctor finds it."""
    return (f"nothing checks the mail that is not listed: there is {what_is_missing}, and no deep-check in "
            f"bloomgate-milter.conf. If you have a spam checker, name its recipe: --recipe {recipes}")


class OtherPrograms:
    def __init__(self, options):
        self.options = options
        self.etc = Path(options.etc)
        self.daemon_conf = str(self.etc / "bloomgate/bloomgate-milter.conf")
        self.files = {}  # path -> shipped file
        if options.recipe == "rspamd":
            names = ["rspamd/local.d/settings.conf", "rspamd/local.d/milter_headers.conf"]
            if options.with_clamav:
                names.append("rspamd/clamav/antivirus.conf")
                if options.when_down == "tempfail":
                    names.append("rspamd/clamav-tempfail/force_actions.conf")
            self.files = {str(self.etc / "rspamd/local.d" / Path(name).name): name for name in names}
        elif options.recipe == "spamassassin":
            self.files = {str(self.etc / "spamassassin/bloomgate.cf"): "spamassassin/bloomgate.cf"}
        self.paths = [*self.files, self.daemon_conf]

    def plan(self, setup):
        """Adds to setup's pieces, wanted files, obstacles and notes."""
        if self.options.recipe == "deep-check":
            self._plan_deep_check(setup)
        for path, name in self.files.items():
            self._plan_file(setup, path, name)
        commands = {"rspamd": [("systemctl", "try-reload-or-restart", "rspamd")],
                    "spamassassin": [("systemctl", "try-restart", "spamd")],
                    "deep-check": [("systemctl", "try-restart", "bloomgate-milter")]}
        setup.pieces += [Command(command) for command in commands.get(self.options.recipe, [])]
        setup.checks += {"spamassassin": [CHECKERS["spamd"]], "deep-check": [setup.socket.place]}.get(
            self.options.recipe, [])
        if self.options.recipe == "spamassassin" and self.options.with_clamav:
            self._look_at_clamav_milter(setup)
        if self.options.recipe == "rspamd" and self.options.with_clamav:
            group = machine.group_to_join(RSPAMD, RSPAMD_SOCKET_OF_CLAMD)
            setup.pieces += setup.earlier_groups(RSPAMD, RSPAMD_SOCKET_OF_CLAMD) or ([group] if group else [])

    def _plan_file(self, setup, path, name):
        text = (RECIPES_FOLDER / name).read_text(encoding="utf-8")
        present = setup.wanted.get(path)
        if not Path(path).parent.is_dir():
            setup.obstacles.append(f"there is no folder {Path(path).parent}: is {Path(name).parts[0]} installed?")
        elif present is None:
            setup.put(NewFile(path, text, f"config/mta/{name}"))
        elif text.encode() not in present:
            self.put_block(setup, Block(path, without_comments(text), f"the lines of config/mta/{name}"))

    def _look_at_clamav_milter(self, setup):
        """Debian's own file turns a clamd that is down into an outage of all mail."""
        path = self.etc / "clamav/clamav-milter.conf"
        if self.options.when_down == "tempfail" or not path.is_file():
            return
        words = [line.split() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
        on_fail = next((line[1] for line in words if line[:1] == ["OnFail"] and len(line) > 1), "Defer")
        if on_fail != "Accept":
            setup.notes.append(
                f"{path} has OnFail {on_fail}: while clamd is down, all mail is refused for now. To let it go on: "
                f"sed -i 's/^OnFail .*/OnFail Accept/' {path} && systemctl restart clamav-milter")

    def _plan_deep_check(self, setup):
        running = [name for name, place in CHECKERS.items() if machine.listens(place)]
        checker = self.options.checker or (running or ["rspamd"])[0]
        present = setup.wanted.get(self.daemon_conf)
        if present is None:
            setup.obstacles.append(f"there is no {self.daemon_conf}: is bloomgate-milter installed?")
            return
        if any(line.partition(b"=")[0].strip() == b"deep-check" for line in present.splitlines()):
            setup.notes.append(f"{self.daemon_conf} names a checker (deep-check) already, and keeps it")
        else:
            shipped = (RECIPES_FOLDER / f"deep-check/{checker}.conf").read_text(encoding="utf-8")
            lines = without_comments(shipped)
            if self.options.when_down == "tempfail":
                lines += "deep-check-failure = tempfail\n"
            self.put_block(setup, Block(self.daemon_conf, lines, "; ".join(lines.splitlines())))
            if not machine.listens(CHECKERS[checker]):
                setup.attempt(setup.missing_check, f"nothing listens on {CHECKERS[checker]}, where {checker} would be asked",
                              checker)

    @staticmethod
    def put_block(setup, block):
        """At the end of its file."""
        setup.pieces.append(block)
        present = setup.wanted[block.file].decode("utf-8", "surrogateescape")
        present += "" if present.endswith("\n") else "\n"
        setup.wanted[block.file] = (present + block.marked()).encode("utf-8", "surrogateescape")


def without_comments(text):
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
