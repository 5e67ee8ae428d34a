"""The mail that tests every recipe: listed, unlisted and forged mail, and mail with a virus in it."""

from contextlib import contextmanager

from conftest import LISTED, UNLISTED, skip_without_root
from private_mail.clamav import EICAR
from private_mail.filter import build_filter_of
from private_mail.processes import temporary_folder
from private_mail.recipe import Mail, RecipeConfig

OWN_MEMBER = "member@example.net"

# How most tests take senders, forged ones too: what is tested is the way of their mail.
AT_THEIR_WORD = {"authentication": "off"}

FORGED_MARK = b"X-Bloomgate: deliver; reason=listed; host=mx.example.net"
FORGED_RESULT = (b"Authentication-Results: mx.example.net; dkim=pass header.d=example.org;"
                 b" spf=pass smtp.mailfrom=example.org; dmarc=pass header.from=example.org")


def listed():
    return Mail(LISTED)


def unlisted():
    """Mail that Bloomgate must never deliver, by how it tries to be delivered."""
    return {
        "an unlisted sender": Mail(UNLISTED),
        "a forged mark": Mail(UNLISTED, (FORGED_MARK,)),
        "a forged mark in other letters, twice": Mail(UNLISTED, (FORGED_MARK.lower(), FORGED_MARK.upper())),
        "a forged mark, folded": Mail(UNLISTED, (FORGED_MARK.replace(b": ", b":\r\n "),)),
        "forged results": Mail(UNLISTED, (FORGED_RESULT,)),
        "the null sender with a forged mark": Mail("", (FORGED_MARK,)),
    }


def honest():
    """Of senders who are not listed, and claim nothing."""
    return [Mail(UNLISTED), Mail("")]


def forged():
    """Those of unlisted() that claim something in a field."""
    return [mail for mail in unlisted().values() if mail.headers]


def infected(sender):
    return Mail(sender, body=EICAR + b"\r\n")


@contextmanager
def started(recipe_class, settings=AT_THEIR_WORD, milters=(), when_down="accept", **options):
    """A recipe with its servers. settings: of Bloomgate; milters: those that take part before it; when_down: as of
    RecipeConfig."""
    skip_without_root()
    with temporary_folder("recipe") as folder:
        whitelist = folder / "whitelist.bloom"
        build_filter_of(whitelist, [LISTED, OWN_MEMBER])
        with recipe_class(folder, RecipeConfig(whitelist, settings, milters, when_down), **options) as recipe:
            yield recipe


def places(outcomes):
    return [outcome.place for outcome in outcomes]
