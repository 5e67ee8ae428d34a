"""The command line that setup-postfix and setup-sendmail share, and what they do."""

import argparse
import contextlib
import difflib
import functools
import json
import operator
import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from . import machine
from .changes import STATE_FOLDER, Refused, chosen_before, folder_of
from .edits import to_json
from .milters import CHECKERS, program_of

EX_CONFIG = 78

# These values go from the command line into the mail server's configuration, and must not break out of their
# place there.
ADDRESS = re.compile(r"[A-Za-z0-9.-]+:[0-9]{1,5}")
# What --apply remembers: a later run that names no recipe does the same again.
CHOSEN = ("recipe", "checker", "deep_check", "light_path", "reinjection", "keep_content_filter", "when_down", "with_clamav",
          "socket", "after_milter", "no_automatic_mail_log", "with_opendkim")
SOCKET = re.compile(r"unix:/[A-Za-z0-9._/+-]+|inet:[A-Za-z0-9.-]+:[0-9]{1,5}")

EXIT_STATUS = """exit status:
  0   success; steps may be left to do
  64  the command line is wrong
  69  the files are changed, and a step after that has failed
  74  the output cannot be written
  77  it must run as root
  78  an obstacle; nothing was changed"""


class NoOutput(Exception):
    """Why the output cannot be written."""


class Unfinished(Exception):
    """The files are changed, and this ends before all the rest is done or printed. status: the exit status."""

    def __init__(self, status, words):
        super().__init__(words)
        self.status = status


@dataclass(frozen=True)
class LeftToDo:
    """A step that the operator has to do. failed: why this program could not do it; empty if it has not tried."""

    step: str
    failed: str = ""

    def __str__(self):
        return f"{self.step}  ({self.failed})" if self.failed else self.step


def checked(form, what):
    def check(text):
        if not form.fullmatch(text):
            raise ValueError
        return text

    check.__name__ = what  # argparse's messages name it
    return check


def add_common_options(parser, server, config_dir, recipes, default_recipe, default_socket, queue="", folder=""):
    """server: the mail server's name. default_recipe: what --help says of the recipe where none is named and none is in
    force; default_socket: of the socket; queue: of mail that waits whatever --when-down says; folder: of a folder that
    --apply makes."""
    parser.epilog = EXIT_STATUS
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--apply", action="store_true",
                        help=f"make the changes, after a backup in {config_dir}/{STATE_FOLDER}")
    action.add_argument("--undo", action="store_true",
                        help="remove what --apply added, at once, and keep later edits. With --list: only show what would be "
                             "removed")
    parser.add_argument("--list", action="store_true", help="list what --apply added, for a configuration management "
                                                            "that is to do the same")
    parser.add_argument("--json", action="store_true",
                        help="print JSON. If files were changed, left_to_do has the steps that are left to do")
    parser.add_argument("--recipe", choices=recipes,
                        help=f"what checks the mail; config/mta/README.md compares the recipes. Without this option, the "
                             f"recipe in force stays, with all options of the last --apply (at first: {default_recipe}). "
                             "With this option, only the options of this run count, and 'none' removes a check that "
                             "--apply has added")
    parser.add_argument("--when-down", choices=["accept", "tempfail"], default="accept",
                        help="what happens to mail while a check that this program adds is down. accept (the default): "
                             "mail continues without that check. tempfail: the sender has to try again later, so no mail "
                             f"comes in until the check is back{queue}")
    parser.add_argument("--with-clamav", action="store_true",
                        help="recipes rspamd and spamassassin: add a virus check by the ClamAV of this machine")
    parser.add_argument("--socket", metavar="SOCKET", type=checked(SOCKET, "SOCKET"),
                        help="where bloomgate-milter listens: unix:/PATH or inet:HOST:PORT (default: the socket that "
                             f"bloomgate-milter.conf names; if it names none, {default_socket})")
    parser.add_argument("--config-dir", "-c", default=config_dir, metavar="FOLDER",
                        help=f"the folder of {server}'s configuration (default: {config_dir})")
    parser.add_argument("--etc", default="/etc", metavar="FOLDER",
                        help="the folder with the configurations of rspamd, SpamAssassin and Bloomgate (default: /etc)")
    parser.add_argument("--after-milter", metavar="TEXT",
                        help="put Bloomgate right after the milter whose entry contains TEXT ('': before all milters)")
    parser.add_argument("--parts-come-later", action="store_true",
                        help="continue even if mail must wait, because a check is not running")
    parser.add_argument("--files-only", action="store_true",
                        help=f"change files only. The other steps are printed as left to do: to add a user to a group{folder}, "
                             "and to reload or restart programs")


def main(parser, arguments, make_setup, implied=lambda options: None):
    """implied(options): the recipe that options without --recipe ask for; None if any recipe would do."""
    if sys.stdout is not None:
        sys.stdout.reconfigure(errors="surrogateescape")  # a shown line of main.cf may have bytes that are not UTF-8
    parser.error = functools.partial(refuse, parser)
    parser.print_help = lambda: put(parser.format_help().rstrip())
    try:
        return run(chosen(parser, arguments, implied), make_setup)
    except Refused as reason:
        print(f"{parser.prog}: nothing was changed: {reason}", file=sys.stderr)
        return EX_CONFIG
    except NoOutput as reason:
        print(f"{parser.prog}: nothing was changed: {reason}", file=sys.stderr)
        return os.EX_IOERR
    except Unfinished as reason:
        print(f"{parser.prog}: {reason}", file=sys.stderr)
        return reason.status
    except PermissionError as error:
        print(f"{parser.prog}: {error}: run it as root", file=sys.stderr)
        return os.EX_NOPERM


def put(text):
    """Prints it at once, so that an output that takes nothing is noticed before the files are changed."""
    try:
        print(text, flush=True)
    except OSError as error:
        # Python flushes what is left in its buffer when it ends, and would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        why = ("the reader of the output has gone" if isinstance(error, BrokenPipeError)
               else f"the output cannot be written: {error.strerror}")
        raise NoOutput(why) from None


def refuse(parser, message):
    """Instead of argparse's own: one line, and the exit code of sysexits(3)."""
    options = [name for action in parser._actions for name in action.option_strings]
    typed = message.removeprefix("unrecognized arguments: ").split()[0]
    if value := re.match(r"argument \S+: invalid choice: '(.*?)' \(choose from (.*)\)$", message):
        near = difflib.get_close_matches(value[1], re.findall(r"[\w-]+", value[2]), 1, 0.7)
    elif message.startswith("argument "):
        near = []
    else:
        near = difflib.get_close_matches(f"--{typed.partition('=')[0].lstrip('-')}", options, 1, 0.7)
    hint = f" (did you mean {near[0]}?)" if near else ""
    print(f"{parser.prog}: nothing was changed: {message}{hint}; '{parser.prog} --help' lists the options", file=sys.stderr)
    sys.exit(os.EX_USAGE)


def chosen(parser, arguments, implied):
    """The options of this run, and where it names no recipe, those of the last --apply."""
    options = parser.parse_args(arguments)
    if options.apply and options.list:
        parser.error("argument --list: not allowed with argument --apply")
    before = chosen_before(folder_of(options))
    if options.recipe is None:
        wanted = implied(options)
        if before and wanted not in (None, before["recipe"]) and not (options.undo or options.list):
            raise Refused(f"the recipe {before['recipe']} is in force, and one of these options is for the recipe {wanted}. To "
                          f"replace what checks the mail, say so: --recipe {wanted}")
        if before:
            options = parser.parse_args(arguments, argparse.Namespace(**before))
        options.recipe = options.recipe or wanted or "none"
    return options


def run(options, make_setup):
    setup = make_setup(options)
    configuration = setup.configuration
    if options.list or options.undo:
        if not configuration.is_applied:
            say(options, "nothing to undo: nothing was applied here" if options.undo else "nothing is applied here", [])
            return 0
        if not options.undo:
            say(options, f"Added to the configuration in {configuration.folder}:", configuration.applied,
                operator.methodcaller("there"))
            return 0
    return undo(options, setup) if options.undo else plan(options, setup)


def say(options, title, pieces, words=operator.methodcaller("said"), **more):
    """words: piece -> what is said of it."""
    if options.json:
        put(json.dumps({"edits": [to_json(piece) for piece in pieces], **more}, indent=1))
        return
    put("\n".join([title, *(f"  {line}" for line in listed(pieces, words))]))


def planned(configuration, piece):
    return f"keeps {piece.there()}" if piece.there() and configuration.has(piece) else piece.said()


def listed(pieces, words):
    for piece in pieces:
        if words(piece):
            head = {"command": "then: ", "group": "", "folder": ""}.get(piece.kind, f"{piece.file}: ")
            yield head + words(piece)


def plan(options, setup):
    configuration = setup.configuration
    in_the_way = list(dict.fromkeys(map(str, setup.obstacles)))  # two files of one program want the same folder
    if fault := machine.fault_of_daemon(Path(options.etc) / "bloomgate/bloomgate-milter.conf"):
        in_the_way.append(f"bloomgate-milter could not start with its configuration: {fault}")
    difference = configuration.diff(setup.wanted)
    has_changes = bool(difference) or setup.pieces != configuration.applied
    if not has_changes and not in_the_way:
        if configuration.left:
            return finish_last(options, setup)
        say(options, f"nothing to change: the configuration is as the recipe {options.recipe} wants it", [])
        return 0
    setup.notes[:0] = checks_that_go(setup)
    title = (f"Only marks mail (recipe none), in {configuration.folder}:" if options.recipe == "none" else
             f"The recipe {options.recipe}, for the configuration in {configuration.folder}:")
    report = functools.partial(say, options, title, setup.pieces, functools.partial(planned, configuration), notes=setup.notes)
    # JSON is one object, which also says what is left to do: if files are changed, it is printed after that.
    if in_the_way or not (options.json and options.apply):
        report(in_the_way=in_the_way)
    if not options.json:
        show(setup.notes, in_the_way, difference)
    if in_the_way:
        raise Refused("\n".join(in_the_way))
    if not options.apply:
        if not options.json:
            put(f"\nNothing was changed. To do this: {shlex.join([*sys.argv, '--apply'])}")
        return 0
    with refusal_in_json(options, report):
        check_before(setup)
        configuration.apply(setup.wanted, setup.pieces, setup.check,
                            {name: value for name, value in vars(options).items() if name in CHOSEN})
    done = f"Done. But {setup.unchecked}." if setup.unchecked else "Done."
    return finish(options, report, done, setup, setup.pieces, machine.TO_MAKE, {})


def finish_last(options, setup):
    """The files are as they are to be, but a step after the last change of them failed."""
    left = setup.configuration.left
    title = (f"nothing to change in the files: they are as the recipe {options.recipe} wants them. Steps of the last --apply "
             "are left:")
    report = functools.partial(say, options, title, left)
    if not options.apply:
        report(**({"left_to_do": [{"step": step} for step in steps_of(left)]} if options.json else {}))
        if not options.json:
            put(f"\nTo do them: {shlex.join([*sys.argv, '--apply'])}")
        return 0
    if not options.json:
        report()
    return finish(options, report, "Done.", setup, left, machine.TO_MAKE, {})


def steps_of(pieces):
    doings = machine.TO_MAKE
    made = [shlex.join(doings[piece.kind].by_hand(piece)) for piece in pieces if piece.kind in doings]
    return made + [shlex.join(piece.command) for piece in pieces if piece.kind == "command"]


@contextlib.contextmanager
def refusal_in_json(options, report):
    """A refusal of the mail server is in the JSON, as everything else that is in the way."""
    try:
        yield
    except Refused as reason:
        if options.json:
            report(in_the_way=[str(reason)])
        raise


def checks_that_go(setup):
    stay = set(checks_in(setup.pieces))
    for program, place in dict.fromkeys(checks_in(setup.configuration.applied)):
        if (program, place) not in stay:
            yield (f"this takes {program} out of {place}, where an earlier --apply has put it: from then on it does not check "
                   "mail there. To keep it, leave --recipe out")


def checks_in(pieces):
    """(program, place) of each check that the pieces let mail go through."""
    for piece in pieces:
        if piece.kind == "item" and piece.parameter == "smtpd_milters" and CHECKERS.search(piece.identity):
            yield program_of(piece.identity), "smtpd_milters"
        elif piece.kind == "service-milters":
            yield from ((program_of(milter), f"the milters of {piece.service}") for milter in piece.identities
                        if CHECKERS.search(milter))
        elif piece.kind in ("item", "setting") and piece.parameter == "content_filter":
            yield "the deep check", "content_filter"
        elif piece.kind == "block" and "deep-check =" in piece.lines:
            yield "the checker that Bloomgate asks", piece.file
        elif piece.kind == "block":
            yield from ((name, piece.file) for name in re.findall(r"INPUT_MAIL_FILTER\(`([^']*)'", piece.lines)
                        if CHECKERS.search(name) or name == "spamassassin")


def show(notes, in_the_way, difference):
    lines = []
    if notes:
        lines += ["", "To know:", *(f"  - {note}" for note in notes)]
    if in_the_way:
        lines += ["", "In the way:", *(f"  {number}. {reason}" for number, reason in enumerate(in_the_way, 1))]
    if difference:
        lines += ["", difference.removesuffix("\n")]
    put("\n".join(lines))


def undo(options, setup):
    configuration = setup.configuration
    report = functools.partial(say, options, f"To be removed from the configuration in {configuration.folder}:",
                               configuration.applied, operator.methodcaller("removed"))
    if options.list or not options.json:
        report()
    if not options.json:
        show([], [], configuration.diff(configuration.original))
    if options.list:
        if not options.json:
            put("\nNothing was changed. To do this, leave --list out")
        return 0
    with refusal_in_json(options, report):
        configuration.apply(configuration.original, [], setup.check)
    return finish(options, report, "Removed.", setup, configuration.applied, machine.TO_LEAVE, machine.TO_DROP)


def finish(options, report, done, setup, pieces, before, after):
    """Does what is to be done beside the files: by kind, before the commands of the pieces and after them. A step that fails,
    or that --files-only leaves out, is left to do. Raises Unfinished if a step fails."""
    left = []
    # Until a check listens again, mail would go past it: so the mail server comes after it.
    listening = [place for place in setup.checks if machine.listens(place)]
    do_each(pieces, before, left, options.files_only)
    # Without its group or its folder, a program that starts again would not find its socket.
    is_held = options.apply and any(step.failed for step in left)
    only_list = options.files_only or is_held
    for command in dict.fromkeys(piece.command for piece in pieces if piece.kind == "command"):
        if only_list or not machine.can_run(command):
            left.append(LeftToDo(shlex.join(command)))
            continue
        try:
            machine.put_into_use(command)
            machine.wait_until_listening(listening)
        except Refused as reason:
            left.append(LeftToDo(shlex.join(command), str(reason)))
    do_each(pieces, after, left, only_list)
    if options.apply and not options.files_only:
        has_failed = any(step.failed for step in left)
        setup.configuration.remember_left([piece for piece in pieces if not piece.file] if has_failed else [])
    left += map(LeftToDo, setup.left_to_do)
    backup = f"The backup is in {setup.configuration.state}." if options.apply else ""
    report_end(options, report, done, backup, left, ", so no program was reloaded" if is_held else "")
    return 0


def do_each(pieces, doings, left, only_list):
    for piece in pieces:
        if piece.kind not in doings:
            continue
        step = shlex.join(doings[piece.kind].by_hand(piece))
        if only_list:
            left.append(LeftToDo(step))
            continue
        try:
            doings[piece.kind].run(piece)
        except Refused as reason:
            left.append(LeftToDo(step, str(reason)))


def report_end(options, report, done, backup, left, consequence):
    """Prints what is left to do. Raises Unfinished if a step has failed, or if that cannot be printed."""
    failures = "; ".join(step.failed for step in left if step.failed)
    try:
        if options.json:
            report(in_the_way=[], left_to_do=[to_json(step) for step in left])
        else:
            title = "The files are changed, but a step after that has failed." if failures else done
            put("\n".join(["", title, *([backup] if backup else []), *(["What is left to do:"] if left else []),
                           *(f"  {step}" for step in left)]))
    except NoOutput as reason:
        steps = "; ".join(map(str, left)) or "nothing"
        raise Unfinished(os.EX_IOERR, f"the files are changed, but {reason}. What is left to do: {steps}") from None
    if failures:
        back = ", or restore the files with --undo" if options.apply else ""
        raise Unfinished(os.EX_UNAVAILABLE, f"the files are changed, but {failures}{consequence}. Do the steps that are left to "
                                            f"do, in their order{back}")


def check_before(setup):
    """The mail server's own check, of what is there now."""
    try:
        setup.check()
    except Refused as reason:
        raise Refused(f"the configuration is not good even before the change: {reason}") from None
