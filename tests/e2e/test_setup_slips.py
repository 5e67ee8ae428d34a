"""Slips on the command line of setup-postfix and setup-sendmail: refused in one line that leads on, before anything is read."""
import os
import subprocess

import pytest
from private_mail.filter import REPOSITORY

NOT_THERE = ["--config-dir", "/nonexistent"]

# The script, its words, the exit code, and what is said.
SLIPS = {
    "an option mistyped": ("postfix", ["--aply"], os.EX_USAGE, "unrecognized arguments: --aply (did you mean --apply?)"),
    "an option mistyped, with its value": ("postfix", ["--recipee=none"], os.EX_USAGE, "(did you mean --recipe?)"),
    "a recipe mistyped": ("postfix", ["--recipe", "rspamdd"], os.EX_USAGE, "(did you mean rspamd?)"),
    "an option without dashes": ("postfix", ["apply"], os.EX_USAGE, "(did you mean --apply?)"),
    "one dash for two": ("postfix", ["-undo"], os.EX_USAGE, "'setup-postfix --help' lists the options"),
    "a recipe that is not there": ("postfix", ["--recipe", "amavis"], os.EX_USAGE, "content-filter"),
    "a value for --undo": ("postfix", ["--undo", "rspamd"], os.EX_USAGE, "unrecognized arguments: rspamd"),
    "two things at once": ("postfix", ["--undo", "--apply"], os.EX_USAGE, "--apply: not allowed with argument --undo"),
    "a list of what is being applied": ("postfix", ["--apply", "--list"], os.EX_USAGE, "--list: not allowed with argument --apply"),
    "a socket as elsewhere": ("postfix", ["--socket", "/run/x"], os.EX_USAGE, "--socket: invalid SOCKET value: '/run/x'"),
    "two sockets in one": ("postfix", ["--socket", "unix:/x, inet:y:1"], os.EX_USAGE, "--socket: invalid SOCKET value: 'unix:/x, inet:y:1'"),
    "a space in a host": ("postfix", ["--light-path", "a b:1"], os.EX_USAGE, "--light-path: invalid HOST:PORT value: 'a b:1'"),
    "no port": ("postfix", ["--deep-check", "127.0.0.1"], os.EX_USAGE, "--deep-check: invalid HOST:PORT value: '127.0.0.1'"),
    "more behind the port": ("postfix", ["--reinjection", "127.0.0.1:1 inet"], os.EX_USAGE, "--reinjection: invalid HOST:PORT value"),
    "a socket that ends m4's quotes": ("sendmail", ["--socket", "unix:/x', `F=R"], os.EX_USAGE, "--socket: invalid SOCKET value: "),
    "no Postfix": ("postfix", NOT_THERE, 78, "there is no /nonexistent/main.cf: is Postfix installed?"),
    "no Sendmail": ("sendmail", NOT_THERE, 78, "there is no /nonexistent/sendmail.mc: is Sendmail installed?"),
    "a file for the folder": ("postfix", ["--config-dir", __file__], 78, "is a file: name the folder that it is in"),
}


@pytest.mark.parametrize("case", SLIPS)
def test_a_slip_is_refused_in_one_line_that_leads_on(case):
    program, words, status, says = SLIPS[case]
    done = subprocess.run([REPOSITORY / "scripts" / f"setup-{program}", *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"setup-{program}: nothing was changed: ")
