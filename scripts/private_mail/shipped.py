"""The files of config/mta as an operator gets them, with the tests' ports, paths and names."""

import re

from .filter import REPOSITORY

SHIPPED_FILES = REPOSITORY / "config/mta"


def with_authenticators(main_cf):
    """The shipped main.cf of a recipe, with the milters of authentication/main.cf before Bloomgate's."""
    before = re.search(r"(?s)smtpd_milters =\n(.*?)[ ]+\{ unix:/run/bloomgate/", adapted("authentication/main.cf", {}))
    return main_cf.replace("smtpd_milters =\n", "smtpd_milters =\n" + before.group(1))


def adapted(name, replacements):
    """The shipped file without its comments. Each text to replace must be there once."""
    lines = (SHIPPED_FILES / name).read_text().splitlines()
    text = "".join(line + "\n" for line in lines if not line.startswith("#"))
    for shipped, ours in replacements.items():
        if text.count(shipped) != 1:
            raise RuntimeError(f"expected '{shipped}' once in {SHIPPED_FILES / name}, "
                               f"found it {text.count(shipped)} times")
        text = text.replace(shipped, ours)
    return text
