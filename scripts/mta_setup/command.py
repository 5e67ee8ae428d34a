"""The command line that setup-postfix and setup-sendmail share, and what they do."""

import argparse
import difflib
import functools
import json
import os
import re
import shlex
import sys
from pathlib import Path

from . import machine
from .changes import Refused, chosen_before, folder_of
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


def checked(form, what):
    def check(text):
        if not form.fullmatch(text):
            raise ValueError
        return text

    check.__name__ = what  # argparse's messages name it
    return check


def add_common_options(parser, config_dir, recipes, when_default, when_socket):
    """when_default: what --help says of the recipe where none is named and none is in force; when_socket: of the socket."""
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--apply", action="store_true", help="make the changes, after a backup")
    action.add_argument("--undo", action="store_true", help="take out what --apply put in")
    action.add_argument("--list", action="store_true", help="list what --apply has put in, for a configuration "
                                                            "management that is to do the same")
    parser.add_argument("--json", action="store_true", help="say it as JSON")
    parser.add_argument("--recipe", choices=recipes,
                        help=f"what checks the mail; config/mta/README.md compares them. Without this option, the recipe in "
                             f"force stays, with all options of the last --apply (at first: {when_default}). With it, "
                             "only the options of this run count, and 'none' takes out a check that --apply has put in")
    parser.add_argument("--when-down", choices=["accept", "tempfail"], default="accept",
                        help="what happens to mail while a check that this script puts in is down: it goes on without "
                             "that check (accept, the default), or its sender is asked to try again later (tempfail: "
                             "nothing comes in unchecked, and nothing comes in at all until the check is back)")
    parser.add_argument("--with-clamav", action="store_true",
                        help="the recipes rspamd and spamassassin: also a virus check by the ClamAV that runs here")
    parser.add_argument("--socket", metavar="SOCKET", type=checked(SOCKET, "SOCKET"),
                        help=f"where bloomgate-milter listens: unix:/PATH or inet:HOST:PORT (default: {when_socket})")
    parser.add_argument("--config-dir", "-c", default=config_dir, metavar="FOLDER",
                        help=f"default: {config_dir}")
    parser.add_argument("--etc", default="/etc", metavar="FOLDER",
                        help="where the configurations of rspamd, SpamAssassin and Bloomgate are (default: /etc)")
    parser.add_argument("--after-milter", metavar="TEXT",
                        help="put Bloomgate right after the milter whose entry contains TEXT ('': before all others)")
    parser.add_argument("--parts-come-later", action="store_true",
                        help="do not refuse because a check does not listen yet for which mail would wait")
    parser.add_argument("--files-only", action="store_true",
                        help="change files only: put no user into a group, and reload nothing; both are listed as left "
                             "to do")


def main(parser, arguments, make_setup, implied=lambda options: None):
    """implied(options): the recipe that options without --recipe ask for; None if any recipe would do."""
    parser.error = functools.partial(refuse, parser)
    try:
        return run(chosen(parser, arguments, implied), make_setup)
    except Refused as reason:
        print(f"{parser.prog}: nothing was changed: {reason}", file=sys.stderr)
        return EX_CONFIG
    except PermissionError as error:
        print(f"{parser.prog}: {error}: run it as root", file=sys.stderr)
        return os.EX_NOPERM
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"{parser.prog}: the reader of the output has gone, so this stopped; run it again without a pipe: it shows what "
              "is done, and does the rest", file=sys.stderr)
        return os.EX_IOERR


def refuse(parser, message):
    """Instead of argparse's own: one line, and the exit code of sysexits(3)."""
    options = [name for action in parser._actions for name in action.option_strings]
    typed = message.removeprefix("unrecognized arguments: ").split()[0]
    near = [] if message.startswith("argument ") else difflib.get_close_matches(f"--{typed.lstrip('-')}", options, 1, 0.7)
    hint = f" (did you mean {near[0]}?)" if near else ""
    print(f"{parser.prog}: nothing was changed: {message}{hint}; '{parser.prog} --help' lists the options", file=sys.stderr)
    sys.exit(os.EX_USAGE)


def chosen(parser, arguments, implied):
    """The options of this run, and where it names no recipe, those of the last --apply."""
    options = parser.parse_args(arguments)
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
        if options.list:
            say(options, f"What setup has put in ({configuration.folder}):", configuration.applied)
            return 0
    return undo(options, setup) if options.undo else plan(options, setup)


def say(options, title, pieces, **more):
    if options.json:
        print(json.dumps({"edits": [to_json(piece) for piece in pieces], **more}, indent=1))
        return
    print(title)
    for line in listed(pieces):
        print(f"  {line}")


def listed(pieces):
    for piece in pieces:
        if piece.said():
            head = {"command": "then: ", "group": "", "folder": ""}.get(piece.kind, f"{piece.file}: ")
            yield head + piece.said()


def plan(options, setup):
    configuration = setup.configuration
    in_the_way = [str(reason) for reason in setup.obstacles]
    if fault := machine.fault_of_daemon(Path(options.etc) / "bloomgate/bloomgate-milter.conf"):
        in_the_way.append(f"bloomgate-milter could not start with its configuration: {fault}")
    difference = configuration.diff(setup.wanted)
    has_changes = bool(difference) or setup.pieces != configuration.applied
    if not has_changes and not in_the_way:
        say(options, f"nothing to change: the configuration is as the recipe {options.recipe} wants it", [])
        return 0
    setup.notes[:0] = checks_that_go(setup)
    say(options, f"The recipe {options.recipe}, for the configuration in {configuration.folder}:", setup.pieces,
        notes=setup.notes, in_the_way=in_the_way)
    if not options.json:
        show(setup.notes, in_the_way, difference)
    if in_the_way:
        raise Refused("\n".join(in_the_way))
    if not options.apply:
        if not options.json:
            print(f"\nNothing was changed. To do this: {shlex.join([*sys.argv, '--apply'])}")
        return 0
    check_before(setup)
    configuration.apply(setup.wanted, setup.pieces, setup.check,
                        {name: value for name, value in vars(options).items() if name in CHOSEN})
    done = f"Done. But {setup.unchecked}." if setup.unchecked else "Done."
    finish(options, done, setup, setup.pieces, machine.TO_MAKE, {})
    return 0


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
    if notes:
        print("\nTo know:")
    for note in notes:
        print(f"  - {note}")
    if in_the_way:
        print("\nIn the way:")
    for number, reason in enumerate(in_the_way, 1):
        print(f"  {number}. {reason}")
    print(f"\n{difference}", end="")


def undo(options, setup):
    configuration = setup.configuration
    say(options, f"Taken out again, in {configuration.folder}:", configuration.applied)
    if not options.json:
        show([], [], configuration.diff(configuration.original))
    configuration.apply(configuration.original, [], setup.check)
    finish(options, "Taken back.", setup, configuration.applied, machine.TO_LEAVE, machine.TO_DROP)
    return 0


def finish(options, done, setup, pieces, before, after):
    """What is to be done beside the files: by kind, before the commands of the pieces and after them. What cannot be done, or
    is not wanted, is left to do."""
    left = []
    # Until a check listens again, mail would go past it: so the mail server comes after it.
    listening = [place for place in setup.checks if machine.listens(place)]
    do_each(options, pieces, before, left)
    for command in dict.fromkeys(piece.command for piece in pieces if piece.kind == "command"):
        if options.files_only or not machine.can_run(command):
            left.append(" ".join(command))
            continue
        try:
            machine.put_into_use(command)
            machine.wait_until_listening(listening)
        except Refused as reason:
            left.append(f"{' '.join(command)}  ({reason})")
    do_each(options, pieces, after, left)
    left += setup.left_to_do
    if options.json:
        return
    print(f"\n{done}" + (" What is left to do:" if left else ""))
    for step in left:
        print(f"  {step}")


def do_each(options, pieces, doings, left):
    for piece in pieces:
        if piece.kind in doings and options.files_only:
            left.append(shlex.join(doings[piece.kind].by_hand(piece)))
        elif piece.kind in doings:
            doings[piece.kind].run(piece)


def check_before(setup):
    """The mail server's own check, of what is there now."""
    try:
        setup.check()
    except Refused as reason:
        raise Refused(f"the configuration is not good even before the change: {reason}") from None
