"""The command line that setup-postfix and setup-sendmail share, and what they do."""

import os
import re
import shlex
import sys

from .changes import Refused

EX_USAGE, EX_CONFIG = 64, 78

# These values go from the command line into the mail server's configuration, and must not break out of their
# place there.
ADDRESS = re.compile(r"[A-Za-z0-9.-]+:[0-9]{1,5}")
SOCKET = re.compile(r"unix:/[A-Za-z0-9._/+-]+|inet:[A-Za-z0-9.-]+:[0-9]{1,5}")


def checked(form, what):
    def check(text):
        if not form.fullmatch(text):
            raise ValueError
        return text

    check.__name__ = what  # argparse's messages name it
    return check


def add_common_options(parser, config_dir):
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--apply", action="store_true", help="make the changes, after a backup")
    action.add_argument("--undo", action="store_true", help="undo what --apply did")
    parser.add_argument("--config-dir", "-c", default=config_dir, metavar="FOLDER",
                        help=f"default: {config_dir}")
    parser.add_argument("--after-milter", metavar="TEXT",
                        help="put Bloomgate right after the milter whose entry contains TEXT ('': before all others)")


def main(parser, arguments, make_setup, before_apply):
    options = parser.parse_args(arguments)
    try:
        return run(options, make_setup, before_apply)
    except Refused as reason:
        print(f"{parser.prog}: nothing was changed: {reason}", file=sys.stderr)
        return EX_CONFIG
    except PermissionError as error:
        print(f"{parser.prog}: {error}: run it as root", file=sys.stderr)
        return os.EX_NOPERM


def run(options, make_setup, before_apply):
    setup = make_setup(options)
    configuration = setup.configuration
    if options.undo and not configuration.applied:
        print("nothing to undo: nothing was applied here")
        return 0
    difference = configuration.diff(setup.wanted)
    if not difference:
        print("nothing to change: the configuration is as it should be")
        return 0
    print(difference, end="")
    if not options.apply and not options.undo:
        print(f"\nNothing was changed. To do this: {shlex.join(sys.argv)} --apply")
        return 0
    if options.apply:
        before_apply(options, setup)
        check_before(setup)
    configuration.apply(setup.wanted, setup.check)
    print(f"\n{'Taken back' if options.undo else 'Done'}. What is left to do:")
    for step in setup.next_steps:
        print(f"  {step}")
    return 0


def check_before(setup):
    try:
        setup.check()
    except Refused as reason:
        raise Refused(f"the configuration is not good even before the change: {reason}") from None
