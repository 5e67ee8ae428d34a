"""The pages of config/mta as their tests in a container take them: the lines to run, and what has to be there first."""

import re
import shutil
import sys
from pathlib import Path

from private_mail.clamav import EICAR, SIGNATURE
from private_mail.filter import REPOSITORY

sys.path.insert(0, str(Path(__file__).parent.parent / "systemd"))
import container  # noqa: E402


def lines_of(page, title):
    """The indented lines of that section: the commands, and nothing else."""
    found = re.search(rf"(?ms)^## {title}$(.*?)(?=^## |\Z)", page)
    return "".join(line[4:] + "\n" for line in (found.group(1) if found else "").splitlines()
                   if line.startswith("    "))


def steps_of(folder, title="Setting it up"):
    return lines_of((REPOSITORY / "config/mta" / folder / "README.md").read_text(), title)


def put_recipes(root):
    """Bloomgate, and the folders of its tree in which an operator takes the steps."""
    container.install_as_a_package_would(root)
    ours = root / "root/bloomgate"
    shutil.copytree(REPOSITORY / "config/mta", ours / "config/mta")
    shutil.copytree(REPOSITORY / "scripts", ours / "scripts")
    (root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")


def put_signature(root):
    """Debian's clamd waits for the database of the Internet. Here it gets a signature of our own."""
    folder = root / "var/lib/clamav"
    folder.mkdir(parents=True)
    (folder / "own.ndb").write_text(f"{SIGNATURE}:0:*:{EICAR.hex()}\n")
    for unit in ("clamav-daemon.service", "clamav-daemon.socket"):
        drop_ins = root / f"etc/systemd/system/{unit}.d"
        drop_ins.mkdir(parents=True, exist_ok=True)
        (drop_ins / "test.conf").write_text("[Unit]\nConditionPathExistsGlob=\n")
