"""Holds the includes of the tree against the arrows of ARCHITECTURE.md: which room may use which.

`scripts/test` runs it. CMake refuses an include of a room that is not linked. It cannot refuse one of a room that is seen
through another, nor one of libmilter: this does, and says all arrows in one place. It also says which room has too many
units (a header with its source is one), and which files the pages at the top name that are not there.
"""
import pathlib
import re
import sys

# Room, then the rooms that it may include beside itself. These stand above it in this table, so there is no circle.
ARROWS = {
    "filter/base": [],
    "filter/address": ["filter/base"],
    "filter/broad": ["filter/base", "filter/address"],
    "filter/hash": ["filter/base"],
    "filter/domains": ["filter/base", "filter/address", "filter/hash"],
    "filter/html": [],
    "filter/layout": ["filter/base", "filter/address", "filter/hash", "filter/domains"],
    "filter/mail": ["filter/base", "filter/address"],
    "filter/system": ["filter/base"],
    "filter/file": ["filter/base", "filter/address", "filter/hash", "filter/domains", "filter/layout", "filter/system"],
    "filter/learned": ["filter/base", "filter/address", "filter/hash", "filter/system"],
    "filter/log": ["filter/base", "filter/mail", "filter/system"],
    "filter/store": ["filter/base", "filter/address", "filter/hash", "filter/layout", "filter/system", "filter/file"],
    "filter/gather": ["filter/base", "filter/address", "filter/hash", "filter/domains", "filter/system", "filter/file",
                      "filter/store"],
    "filter/ingest": ["filter/base", "filter/broad", "filter/address", "filter/layout", "filter/system", "filter/file", "filter/store"],
    "filter/foreign": ["filter/base", "filter/broad", "filter/address", "filter/ingest"],
    "filter/contacts": ["filter/base", "filter/address", "filter/hash", "filter/mail", "filter/system", "filter/learned",
                        "filter/log", "filter/ingest"],
    "filter/keep": ["filter/base", "filter/hash", "filter/system", "filter/file", "filter/store"],
    "filter/share": ["filter/base", "filter/address", "filter/system", "filter/file", "filter/learned", "filter/keep"],
    "filter/engine": ["filter/base", "filter/address", "filter/hash", "filter/domains", "filter/layout", "filter/system",
                      "filter/file", "filter/store", "filter/gather", "filter/keep"],
    "filter/inputs": ["filter/base", "filter/broad", "filter/address", "filter/layout", "filter/file", "filter/store", "filter/gather",
                      "filter/ingest", "filter/engine"],
    "filter/jobs": ["filter/base", "filter/broad", "filter/domains", "filter/layout", "filter/system", "filter/file", "filter/learned",
                    "filter/store", "filter/gather", "filter/ingest", "filter/keep", "filter/share", "filter/engine",
                    "filter/inputs"],
    "filter/pull": ["filter/base", "filter/system", "filter/file", "filter/keep", "filter/share", "filter/jobs"],
    "filter/cli": ["filter/base", "filter/broad", "filter/system", "filter/ingest", "filter/jobs"],
    "filter/library": ["filter/base", "filter/layout", "filter/system", "filter/file", "filter/engine"],
    "filter/mpi": ["filter/base", "filter/broad", "filter/address", "filter/hash", "filter/domains", "filter/layout", "filter/system",
                   "filter/file", "filter/store", "filter/gather", "filter/ingest", "filter/keep", "filter/engine",
                   "filter/inputs", "filter/jobs"],
    "filter/report": ["filter/base", "filter/html", "filter/log", "filter/ingest"],
    "filter/cli/commands": ["filter/base", "filter/address", "filter/domains", "filter/layout", "filter/system", "filter/file",
                            "filter/learned", "filter/log", "filter/store", "filter/ingest", "filter/foreign", "filter/contacts", "filter/keep",
                            "filter/engine", "filter/inputs", "filter/jobs", "filter/cli", "filter/report"],
    "filter/cli/mpi": ["filter/base", "filter/cli", "filter/mpi", "filter/cli/commands"],
    "filter/cli/pull": ["filter/base", "filter/keep", "filter/jobs", "filter/pull", "filter/cli", "filter/cli/commands"],
    "config": ["filter/base", "filter/system"],
    "milter/fields": ["filter/base", "filter/address", "config"],
    "milter/names": ["filter/base", "filter/system", "config"],
    "milter/dkim": ["filter/base", "filter/address", "filter/mail", "filter/system", "milter/fields", "milter/names"],
    "milter/policy": ["filter/base", "filter/address", "filter/hash", "filter/domains", "filter/layout", "config",
                      "milter/fields"],
    "milter/lists": ["filter/base", "filter/address", "filter/layout", "filter/system", "config", "filter/file",
                     "filter/store", "filter/keep", "milter/policy"],
    "milter/learning": ["filter/base", "filter/address", "filter/hash", "filter/mail", "filter/system", "config",
                        "filter/learned", "filter/keep", "filter/share", "milter/policy", "milter/lists"],
    "milter/brake": ["filter/base", "filter/address", "filter/hash", "filter/system", "milter/policy", "milter/learning"],
    "milter/health": ["filter/base", "config", "filter/file", "filter/keep", "milter/fields", "milter/lists"],
    "milter/message": ["filter/base", "filter/mail", "filter/system", "config", "milter/fields", "milter/policy"],
    "milter/deep_check": ["filter/base", "filter/system", "config", "filter/log", "milter/policy", "milter/message"],
    "milter/doctor": ["filter/base", "filter/mail", "filter/system", "config", "filter/file", "filter/learned", "filter/store",
                      "filter/keep", "milter/names", "milter/lists", "milter/health", "milter/deep_check"],
    "milter/serving": ["filter/base", "filter/system", "config"],
    "milter/lookup": ["filter/base", "filter/mail", "config", "filter/file", "milter/serving"],
    "milter/monitoring": ["filter/base", "filter/hash", "filter/html", "filter/layout", "config", "filter/log", "milter/names",
                          "milter/policy", "milter/learning", "milter/brake", "milter/lists", "milter/health",
                          "milter/deep_check", "milter/serving"],
    "milter/record": ["filter/base", "filter/system", "config", "filter/log", "milter/policy", "milter/learning",
                      "milter/message", "milter/deep_check", "milter/monitoring"],
    "milter/judge": ["filter/base", "filter/address", "config", "milter/dkim", "milter/policy", "milter/learning", "milter/brake",
                     "milter/lists", "milter/message", "milter/deep_check", "milter/record"],
    "milter/glue": ["filter/base", "filter/system", "config", "milter/fields", "milter/policy", "milter/learning",
                    "milter/lists", "milter/message", "milter/monitoring", "milter/judge"],
    "milter/why": ["filter/base", "filter/address", "filter/log", "milter/fields", "milter/policy"],
    "milter/daemon": ["filter/base", "filter/system", "config", "filter/keep", "milter/dkim", "milter/policy",
                      "milter/learning", "milter/lists", "milter/deep_check", "milter/serving", "milter/lookup",
                      "milter/monitoring", "milter/record", "milter/judge", "milter/glue", "milter/why"],
    "milter/commands": ["filter/base", "filter/address", "filter/broad", "filter/mail", "config", "filter/log", "milter/fields",
                        "milter/names", "milter/dkim", "milter/policy", "milter/learning", "milter/brake", "milter/lists",
                        "milter/health", "milter/message", "milter/serving", "milter/lookup", "milter/judge", "milter/glue", "milter/daemon",
                        "milter/why", "milter/doctor"],
}
# main() stands above all of its program.
PROGRAMS = {"filter/cli/main.cpp", "filter/cli/mpi/main.cpp", "milter/main.cpp"}
MOST_UNITS = 20
# Of one unit: a header, its source, and the sources for processors with more instructions.
INSTRUCTION_SET = re.compile(r"_(sse2|avx2|avx512|vbmi2)$")
OF_COMMANDS = {"filter/cli/commands"}
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")
# In backticks, or the target of a link.
NAMED_FILE = re.compile(r"(?:`|\]\()([\w.][\w./-]*\.(?:cpp|hpp|py|md|svg|conf|txt|[158]))[`)]")
KNOW_LIBMILTER = {"milter/glue/callbacks", "milter/glue/libmilter_context", "milter/glue/message_edits", "milter/glue/milter_server",
                  "milter/glue/negotiation"}
INCLUDE = re.compile(r'^#include "((?:filter|config|milter|tests)/[^"]+)"|^#include [<"](libmilter)/', re.MULTILINE)


def wrong_includes(root: pathlib.Path):
    for path in sorted(p for top in ("filter", "config", "milter") for p in (root / top).rglob("*.[ch]pp")):
        place = path.relative_to(root)
        room = str(place.parent)
        if str(place) in PROGRAMS:
            continue
        if room not in ARROWS:
            yield f"{place}: the folder {room} is no room of the table in scripts/check_arrows.py"
            continue
        allowed = [room, *ARROWS[room]]
        for header, libmilter in INCLUDE.findall(path.read_text()):
            if libmilter and str(place.with_suffix("")) not in KNOW_LIBMILTER:
                yield f"{place} includes libmilter; only its glue may"
            if header and str(pathlib.PurePath(header).parent) not in allowed:
                yield f"{place} includes {header}; {room} may use {', '.join(ARROWS[room]) or 'no other room'}"


def wrong_rooms(root: pathlib.Path):
    above = set()
    for room, used in ARROWS.items():
        for other in used:
            if other not in above:
                yield f"{room} may use {other}, which stands below it in the table: there could be a circle"
        above.add(room)
        units = {INSTRUCTION_SET.sub("", path.stem) for path in (root / room).glob("*.[ch]pp")}
        if len(units) > MOST_UNITS and room not in OF_COMMANDS:
            yield f"{room} has {len(units)} units, more than {MOST_UNITS}: it is two rooms"


def wrong_names_of_catch2(root: pathlib.Path):
    for path in sorted((root / "tests").rglob("*.[ch]pp")):
        if path.name not in ("catch.hpp", "catch_main.cpp") and re.search(r"Catch::Matchers::|#include <catch2", path.read_text()):
            yield f"{path.relative_to(root)} uses Catch2's own names, of which Debian 12 and 13 have others; tests/support/catch.hpp has ours"


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
    wrong = [*wrong_includes(root), *wrong_rooms(root), *wrong_names_of_catch2(root), *missing_files(root)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
