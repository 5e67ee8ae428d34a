"""Holds the includes of the tree against the arrows of ARCHITECTURE.md: which room may use which.

`scripts/test` runs it. CMake refuses an include of a room that is not linked. It cannot refuse one of a room that is seen
through another, nor one of libmilter: this does, and says all arrows in one place. It also says which files the pages
at the top name that are not there.
"""
import pathlib
import re
import sys

# Room, then the rooms that it may include beside itself.
FILTER = ["filter/base", "filter/address", "filter/hash", "filter/domains", "filter/layout", "filter/file"]
ARROWS = {
    "filter/base": [],
    "filter/html": ["filter/base"],
    "filter/address": ["filter/base"],
    "filter/hash": ["filter/base"],
    "filter/domains": ["filter/base", "filter/address", "filter/hash"],
    "filter/layout": ["filter/base", "filter/address", "filter/hash", "filter/domains"],
    "filter/file": ["filter/base", "filter/address", "filter/hash", "filter/domains", "filter/layout"],
    "filter/build": FILTER,
    "filter/library": [*FILTER, "filter/build"],
    "filter/learned": ["filter/base", "filter/address", "filter/hash"],
    "filter/log": ["filter/base"],
    "filter/cli": ["filter/base", "filter/log"],
    "filter/cli/lists": [*FILTER, "filter/build", "filter/cli"],
    "filter/cli/forgotten": ["filter/base", "filter/address", "filter/hash", "filter/learned", "filter/cli", "filter/cli/lists"],
    "filter/cli/harvest": ["filter/base", "filter/address", "filter/log", "filter/cli", "filter/cli/lists", "filter/cli/forgotten"],
    "filter/cli/report": ["filter/base", "filter/html", "filter/log", "filter/cli", "filter/cli/lists"],
    "filter/cli/commands": [*FILTER, "filter/build", "filter/learned", "filter/log", "filter/cli", "filter/cli/lists", "filter/cli/forgotten", "filter/cli/harvest",
                            "filter/cli/report"],
    "filter/mpi": [*FILTER, "filter/build", "filter/cli", "filter/cli/lists", "filter/cli/commands"],
    "config": ["filter/base"],
    "milter/fields": ["filter/base", "filter/address"],
    "milter/policy": [*FILTER, "config", "milter/fields"],
    "milter/message": ["filter/base", "filter/address", "config", "milter/fields", "milter/policy"],
    "milter/deep_check": ["filter/base", "config", "milter/policy", "milter/message"],
    "milter/names": ["filter/base", "config"],
    "milter/dkim": ["filter/base", "filter/address", "config", "milter/fields", "milter/policy", "milter/names"],
    "milter/lists": [*FILTER, "config", "milter/policy"],
    "milter/health": ["filter/base", "filter/file", "config", "milter/policy", "milter/lists"],
    "milter/learning": ["filter/base", "filter/address", "filter/hash", "filter/learned", "config", "milter/policy"],
    "milter/monitoring": ["filter/base", "filter/html", "filter/log", "filter/hash", "filter/layout", "filter/file", "config",
                          "milter/policy", "milter/health", "milter/learning", "milter/lists", "milter/deep_check", "milter/names",
                          "milter/serving"],
    "milter/serving": ["filter/base", "config"],
    "milter/lookup": ["filter/base", "config", "milter/serving"],
    "milter/why": ["filter/base", "filter/address", "filter/log", "milter/policy"],
    "milter/doctor": ["filter/base", "filter/layout", "filter/file", "filter/learned", "config", "milter/policy", "milter/health", "milter/lists",
                      "milter/deep_check", "milter/dkim", "milter/names"],
    "milter": [*FILTER, "filter/learned", "filter/log", "config", "milter/fields", "milter/policy", "milter/health", "milter/message", "milter/learning", "milter/lists", "milter/deep_check", "milter/dkim", "milter/names",
               "milter/doctor", "milter/monitoring", "milter/lookup", "milter/serving", "milter/why"],
}
# main() stands above all of its program.
ABOVE_ALL = {"filter/cli/main.cpp": ["filter/cli/commands"]}
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")
# In backticks, or the target of a link.
NAMED_FILE = re.compile(r"(?:`|\]\()([\w.][\w./-]*\.(?:cpp|hpp|py|md|svg|conf|txt|[158]))[`)]")
KNOW_LIBMILTER = {"milter/callbacks", "milter/libmilter_context", "milter/message_edits", "milter/milter_server",
                  "milter/negotiation"}
INCLUDE = re.compile(r'^#include "((?:filter|config|milter|tests)/[^"]+)"|^#include [<"](libmilter)/', re.MULTILINE)


def wrong_includes(root: pathlib.Path):
    for path in sorted(p for top in ("filter", "config", "milter") for p in (root / top).rglob("*.[ch]pp")):
        place = path.relative_to(root)
        room = str(place.parent)
        if room not in ARROWS:
            yield f"{place}: the folder {room} is no room of the table in scripts/check_arrows.py"
            continue
        allowed = [room, *ARROWS[room], *ABOVE_ALL.get(str(place), [])]
        for header, libmilter in INCLUDE.findall(path.read_text()):
            if libmilter and str(place.with_suffix("")) not in KNOW_LIBMILTER:
                yield f"{place} includes libmilter; only its glue may"
            if header and str(pathlib.PurePath(header).parent) not in allowed:
                yield f"{place} includes {header}; {room} may use {', '.join(ARROWS[room]) or 'no other room'}"


def missing_files(root: pathlib.Path):
    folders = (".github", "config", "filter", "milter", "scripts", "systemd", "tests")
    files = [*root.glob("*.md"), *(path for folder in folders for path in (root / folder).rglob("*"))]
    known = [f"/{path.relative_to(root)}" for path in files]
    for page in PAGES:
        for name in NAMED_FILE.findall((root / page).read_text()):
            if not any(path.endswith(f"/{name}") for path in known):
                yield f"{page} names {name}, which is not there"


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    wrong = [*wrong_includes(root), *missing_files(root)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
