"""config/databases: the lines of the page as a user types them, with the real PostgreSQL and SQLite."""

import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from private_mail.filter import REPOSITORY, built
from private_mail.processes import Program, run_as, temporary_folder, wait_until

PAGE = (REPOSITORY / "config/databases/README.md").read_text()
TABLES = """\
CREATE TABLE customers (address text, blocked boolean);
INSERT INTO customers VALUES ('Joe@Example.org', false), ('o''neil@example.org', false), ('eve@example.net', true), (NULL, false),
  ('"a,b"@example.com', false);
CREATE TABLE address_books (contact text, owner text);
INSERT INTO address_books VALUES ('ann@example.org', 'bob@ours.example'), ('@corp.example', 'pam@ours.example');
"""


def lines_of(section):
    """The commands of a section of the page, each until its last line."""
    text = re.search(rf"(?ms)^## {section}$(.*?)(?=^## )", PAGE).group(1)
    typed = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))
    return re.findall(r"(?s)(\S.*?\.zst)(?:\n|$)", typed.replace("set -o pipefail\n", ""))


class Shell:
    """bash, in a folder of its own."""

    def __init__(self, folder, **environment):
        self.folder = folder
        self.environment = {**os.environ, **environment,
                            "PATH": f"{built('filter/cli/bloomgate').parent}:{os.environ['PATH']}"}

    def type(self, command, status=0):
        done = subprocess.run(["bash", "-c", f"set -o pipefail\n{command}"], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def listed(self, name, *entries):
        done = subprocess.run([built("filter/cli/bloomgate"), "query", self.folder / name, *entries], capture_output=True,
                              text=True)
        return [line.split("\t")[0] == "listed" for line in done.stdout.splitlines()]


@contextmanager
def postgres(folder):
    """A server of its own, which listens at a socket in the folder only. PostgreSQL does not run as root."""
    user = "postgres" if os.geteuid() == 0 else None
    binaries = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)
    if binaries is None:
        pytest.fail("PostgreSQL is not here; scripts/install-dependencies installs it")
    data = folder / "data"
    data.mkdir()
    if user:
        shutil.chown(data, user)
        shutil.chown(folder, user)
    made = run_as(user, binaries / "initdb", "--auth=trust", "--no-sync", "--username=postgres", "-D", data)
    assert made.returncode == 0, made.stderr
    server = Program([binaries / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
                     folder / "postgres.log", user=user)
    try:
        server.wait_until_ready((folder / ".s.PGSQL.5432").exists, "PostgreSQL")
        yield
    finally:
        server.stop()


@pytest.fixture(scope="module")
def psql_shell():
    with temporary_folder("postgres") as folder, temporary_folder("lists") as lists, postgres(folder):
        shell = Shell(lists, PGHOST=str(folder), PGUSER="postgres", PGDATABASE="postgres")
        wait_until(lambda: subprocess.run(["psql", "-X", "-c", "SELECT 1"], env=shell.environment,
                                          capture_output=True).returncode == 0, "PostgreSQL to answer")
        subprocess.run(["psql", "-X", "-v", "ON_ERROR_STOP=1"], input=TABLES, env=shell.environment, text=True, check=True,
                       capture_output=True)
        yield shell


CUSTOMERS = ("joe@example.org", "o'neil@example.org", '"a,b"@example.com', "eve@example.net", "ann@example.org")


def test_postgresql_gives_addresses_and_pairs(psql_shell):
    customers, contacts, streamed = lines_of("PostgreSQL")
    for command in (customers, streamed):
        assert "eve" not in psql_shell.type(command)
        assert psql_shell.listed("customers.bloom", *CUSTOMERS) == [True, True, True, False, False]
        (psql_shell.folder / "customers.bloom").unlink()
    psql_shell.type(contacts)
    assert psql_shell.listed("contacts.bloom", "ann@example.org > bob@ours.example", "ann@example.org > pam@ours.example",
                             "x@corp.example > pam@ours.example", "ann@example.org") == [True, False, True, False]


def test_a_query_that_breaks_off_leaves_the_old_whitelist(psql_shell):
    customers, _, streamed = lines_of("PostgreSQL")
    psql_shell.type(customers)
    before = (psql_shell.folder / "customers.bloom").read_bytes()
    for command in (customers, streamed):
        # The last row cannot be read.
        broken = command.replace("NOT blocked", "NOT blocked AND 1 / (length(address) - 17) < 9")
        assert broken != command
        assert "division by zero" in psql_shell.type(broken, status=1)
        assert (psql_shell.folder / "customers.bloom").read_bytes() == before


def test_sqlite_gives_addresses(tmp_path):
    shell = Shell(tmp_path)
    subprocess.run(["sqlite3", tmp_path / "mail.db"], input=TABLES, text=True, check=True)
    [command] = lines_of("SQLite")
    shell.type(command.replace("FROM customers", "FROM customers WHERE NOT blocked"))
    assert shell.listed("customers.bloom", *CUSTOMERS) == [True, True, True, False, False]
    before = (tmp_path / "customers.bloom").read_bytes()
    shell.type(command.replace("customers\"", "nowhere\""), status=1)
    assert (tmp_path / "customers.bloom").read_bytes() == before


def test_what_clickhouse_writes_gives_pairs(tmp_path):
    [command] = lines_of("ClickHouse")
    _, rest = command.split("FORMAT CSVWithNames\" | ")
    (tmp_path / "written.csv").write_text('"contact","owner"\n"Joe@Example.org","ann@ours.example"\n"@corp.example","bob@ours.example"\n')
    shell = Shell(tmp_path)
    shell.type(f"cat written.csv | {rest}")
    assert shell.listed("contacts.bloom", "joe@example.org > ann@ours.example", "joe@example.org > bob@ours.example",
                        "x@corp.example > bob@ours.example") == [True, False, True]
