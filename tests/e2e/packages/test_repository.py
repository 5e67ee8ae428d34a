"""scripts/build-repository: real apt, with a configuration of its own, reads what it makes of small packages, from a folder
and from a web server. The machine's own apt is not touched."""

import gzip
import os
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import first_of
from private_mail.filter import REPOSITORY

SCRIPT = REPOSITORY / "scripts/build-repository"
LACKS_KEY = re.compile("NO_PUBKEY|Missing key")  # as apt of Debian 12 and of 13 says it
OLD, NEW = "0.1.0-1~deb12u1", "0.1.1-1~deb12u1"
NAMES = ("bloomgate", "bloomgate-milter", "bloomgate-dbgsym")

if shutil.which("apt-ftparchive") is None or shutil.which("gpg") is None:
    pytest.skip("it needs apt-utils and gnupg: scripts/install-dependencies repository", allow_module_level=True)


def make_package(folder, name, version, content="", architecture="amd64"):
    """One with a single file."""
    tree = folder / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: A <a@example.org>\nDescription: {name}\n")
    (tree / "usr/share").mkdir(parents=True)
    (tree / "usr/share" / name).write_text(f"{version} {content}\n")
    output = folder / "debugging-symbols" if name.endswith("-dbgsym") else folder
    output.mkdir(exist_ok=True)
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, output], check=True, capture_output=True)
    shutil.rmtree(tree)


def packages_folder(parent, version=OLD, names=NAMES, content=""):
    """A folder as scripts/build-packages leaves one."""
    folder = parent / f"packages {version} {content}"
    folder.mkdir()
    for name in names:
        make_package(folder, name, version, content)
    return folder


class Keys:
    """Keys of gpg in a folder of their own: no key of the user is seen."""

    def __init__(self, folder):
        folder.mkdir(mode=0o700)
        self.environment = {**os.environ, "GNUPGHOME": str(folder)}

    def make(self, user, *options, expires="never"):
        """Returns the key's fingerprint."""
        self._gpg(*options, "--passphrase", "", "--quick-generate-key", user, "ed25519", "sign", expires)
        return re.search(r"(?m)^fpr:+(\w+):", self._gpg("--with-colons", "--list-secret-keys", f"={user}")).group(1)

    def end(self):
        subprocess.run(["gpgconf", "--kill", "all"], env=self.environment, check=True)

    def _gpg(self, *words):
        return subprocess.run(["gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", *words], env=self.environment,
                              check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    made = Keys(tmp_path_factory.mktemp("gnupg") / "home")
    made.main = made.make("Packages <packages@example.org>")
    made.other = made.make("Another <another@example.org>")
    yield made
    made.end()


class Publisher:
    """Who makes the repository."""

    def __init__(self, keys, output):
        self.keys = keys
        self.output = output

    def run(self, *words, key=None, path=""):
        key = key or self.keys.main
        environment = self.keys.environment | {"PATH": f"{path}{os.pathsep if path else ''}{os.environ['PATH']}"}
        return subprocess.run([SCRIPT, *(word for each in key.split() for word in ("--key", each)), "--output", self.output,
                               *words], env=environment, capture_output=True, text=True)

    def publish(self, *words, **how):
        done = self.run(*words, **how)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *words, **how):
        done = self.run(*words, **how)
        assert done.returncode not in (0, 1), done.stdout + done.stderr
        assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("build-repository: "), done.stderr
        return done.returncode, done.stderr

    def state(self):
        return {path.relative_to(self.output): path.read_bytes() for path in self.output.rglob("*") if path.is_file()}

    def index(self, architecture):
        """Which packages are there."""
        return gzip.decompress((self.output / f"dists/bookworm/main/binary-{architecture}/Packages.gz").read_bytes()).decode()

    @property
    def sources(self):
        return (self.output / "bookworm.sources").read_text()


@pytest.fixture
def publisher(keys, tmp_path):
    return Publisher(keys, tmp_path / "repository")


class Apt:
    """A machine's apt: its sources, its lists, and no package installed."""

    def __init__(self, folder, sources):
        self.folder = folder
        for name in ("etc/apt/sources.list.d", "etc/apt/trusted.gpg.d", "state/lists/partial", "cache/archives/partial", "log"):
            (folder / name).mkdir(parents=True)
        (folder / "state/status").touch()
        (folder / "etc/apt/sources.list.d/bloomgate.sources").write_text(sources)
        configuration = folder / "apt.conf"
        configuration.write_text(
            f'Dir "{folder}";\nDir::State "{folder}/state";\nDir::State::status "{folder}/state/status";\n'
            f'Dir::Cache "{folder}/cache";\nDir::Etc "{folder}/etc/apt";\nDir::Log "{folder}/log";\n'
            f'Dir::Bin::methods "/usr/lib/apt/methods";\nAPT::Architecture "amd64";\nAPT::Architectures {{ "amd64"; }};\n'
            'APT::Sandbox::User "root";\nAcquire::http::Proxy "DIRECT";\nAcquire::Retries "0";\n'
            'Acquire::Languages "none";\nAPT::Update::Error-Mode "any";\n')
        self.environment = {**os.environ, "APT_CONFIG": str(configuration), "LC_ALL": "C"}

    def run(self, *words):
        return subprocess.run(["apt-get", "-q", "-y", *words], env=self.environment, cwd=self.folder, capture_output=True,
                              text=True)

    def get(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def fails(self, *words):
        done = self.run(*words)
        assert done.returncode != 0, done.stdout
        return done.stdout + done.stderr

    def downloaded(self):
        return {file.name.replace("%7e", "~") for file in [*self.folder.glob("*.deb"), *self.folder.glob("cache/archives/*.deb")]}


@contextmanager
def web_server(folder):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.fixture(params=first_of(["http", "file"]))
def url(request, publisher):
    publisher.output.mkdir()
    if request.param == "http":
        with web_server(publisher.output) as address:
            yield address
    else:
        yield f"{request.param}:{publisher.output}"


def test_apt_downloads_every_package_and_those_with_debugging_symbols(publisher, url, tmp_path):
    publisher.publish("--url", url, packages_folder(tmp_path))
    apt = Apt(tmp_path / "apt", publisher.sources)
    apt.get("update")
    apt.get("download", *NAMES)
    assert apt.downloaded() == {f"{name}_{OLD}_amd64.deb" for name in NAMES}


def test_apt_installs_from_it_until_dpkg_would_unpack(publisher, url, tmp_path):
    publisher.publish("--url", url, packages_folder(tmp_path))
    apt = Apt(tmp_path / "apt", publisher.sources)
    apt.get("update")
    assert f"Inst bloomgate-milter ({OLD} Bloomgate:bookworm [amd64])" in apt.get("--simulate", "install", "bloomgate-milter")
    apt.get("install", "--download-only", "bloomgate-milter")


def test_a_newer_version_is_seen_and_the_older_one_stays(publisher, url, tmp_path):
    publisher.publish("--url", url, packages_folder(tmp_path))
    apt = Apt(tmp_path / "apt", publisher.sources)
    apt.get("update")
    publisher.publish("--url", url, packages_folder(tmp_path, NEW))
    apt.get("update")
    assert f"Inst bloomgate ({NEW} " in apt.get("--simulate", "install", "bloomgate")
    apt.get("download", "bloomgate", f"bloomgate-milter={OLD}")
    assert apt.downloaded() == {f"bloomgate_{NEW}_amd64.deb", f"bloomgate-milter_{OLD}_amd64.deb"}


def test_a_changed_package_is_refused(publisher, url, tmp_path):
    publisher.publish("--url", url, packages_folder(tmp_path))
    apt = Apt(tmp_path / "apt", publisher.sources)
    apt.get("update")
    file = publisher.output / f"pool/bookworm/bloomgate_{OLD}_amd64.deb"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert "Hash Sum mismatch" in apt.fails("download", "bloomgate")


def test_a_changed_index_is_refused(publisher, url, tmp_path):
    publisher.publish("--url", url, packages_folder(tmp_path))
    for index in (publisher.output / "dists/bookworm/main/binary-amd64").glob("**/*"):
        if index.is_file():
            index.write_bytes(index.read_bytes() + b"\n")
    apt = Apt(tmp_path / "apt", publisher.sources)
    apt.fails("update")
    assert "Unable to locate package bloomgate" in apt.fails("install", "--download-only", "bloomgate")


def test_a_repository_that_another_key_has_signed_is_refused(publisher, url, tmp_path):
    publisher.publish("--url", url, packages_folder(tmp_path))
    apt = Apt(tmp_path / "apt", publisher.sources)
    (publisher.output / "bloomgate.asc").unlink()
    publisher.publish("--url", url, key=publisher.keys.other)
    assert LACKS_KEY.search(apt.fails("update"))


def test_a_signature_over_another_state_is_refused(publisher, url, tmp_path):
    publisher.publish("--url", url, packages_folder(tmp_path))
    suite = publisher.output / "dists/bookworm"
    (suite / "InRelease").write_text((suite / "InRelease").read_text().replace("Bloomgate", "Doomgate!", 1))
    apt = Apt(tmp_path / "apt", publisher.sources)
    apt.fails("update")


def test_packages_of_both_releases_go_into_suites_of_their_own(publisher, tmp_path):
    trixie = "0.1.0-1~deb13u1"
    publisher.publish(packages_folder(tmp_path), packages_folder(tmp_path, trixie))
    apt = Apt(tmp_path / "apt", (publisher.output / "trixie.sources").read_text())
    apt.get("update")
    assert f"Inst bloomgate ({trixie} Bloomgate:trixie [amd64])" in apt.get("--simulate", "install", "bloomgate")
    assert "deb12" not in apt.get("--simulate", "install", "bloomgate")


def test_packages_of_several_architectures_have_indices_of_their_own_and_those_for_all_are_in_each(publisher, tmp_path):
    folder = tmp_path / "packages"
    for architecture in ("amd64", "arm64", "all"):
        make_package(folder, f"for-{architecture}", OLD, architecture=architecture)
    publisher.publish(folder)
    for architecture in ("amd64", "arm64"):
        index = publisher.index(architecture)
        assert re.findall(r"(?m)^Package: (.*)$", index) == ["for-all", f"for-{architecture}"]


def test_the_printed_commands_are_those_that_a_mail_server_runs(publisher, tmp_path):
    with web_server(tmp_path) as address:
        printed = publisher.publish("--url", f"{address}/repository", packages_folder(tmp_path))
        fetch, install = re.findall(r"(?m)^    (.*)$", printed)
        apt = Apt(tmp_path / "apt", "")
        target = apt.folder / "etc/apt/sources.list.d/bloomgate.sources"
        subprocess.run(fetch.replace("/etc/apt/sources.list.d/bloomgate.sources", str(target)), shell=True, check=True,
                       env=apt.environment, capture_output=True)
        assert install == "apt update && apt install bloomgate bloomgate-milter"
        apt.get("update")
        apt.get("install", "--download-only", "bloomgate", "bloomgate-milter")


def test_a_package_of_a_known_version_with_other_content_is_refused_and_nothing_is_changed(publisher, tmp_path):
    publisher.publish(packages_folder(tmp_path))
    before = publisher.state()
    status, text = publisher.refused(packages_folder(tmp_path, NEW), packages_folder(tmp_path, content="changed"))
    assert status == 65 and "are two packages of one version; give the new one a higher version" in text
    assert publisher.state() == before


def test_the_same_packages_again_are_no_fault(publisher, tmp_path):
    folder = packages_folder(tmp_path)
    publisher.publish(folder)
    publisher.publish(folder)
    assert len(list((publisher.output / "pool").rglob("*.deb"))) == len(NAMES)


def test_a_version_whose_files_are_deleted_is_gone_after_a_run_without_a_folder(publisher, tmp_path):
    publisher.publish(packages_folder(tmp_path), packages_folder(tmp_path, NEW))
    for file in publisher.output.glob(f"pool/bookworm/*_{OLD}_*.deb"):
        file.unlink()
    publisher.publish()
    assert OLD not in publisher.index("amd64")


@pytest.mark.parametrize("words, status, said", [
    pytest.param([], 64, "name the key to sign with: --key KEY", id="no key"),
    pytest.param(["--key", "nobody@example.org"], 78, "gpg has no secret key 'nobody@example.org'", id="an unknown key"),
    pytest.param(["--key", "example.org"], 78, "gpg has 2 secret keys 'example.org'; name one of them by its", id="two keys"),
])
def test_without_a_key_that_can_sign_nothing_is_made(keys, tmp_path, words, status, said):
    done = subprocess.run([SCRIPT, *words, "--output", tmp_path / "repository", packages_folder(tmp_path)],
                          env=keys.environment, capture_output=True, text=True)
    assert (done.returncode, len(done.stderr.splitlines())) == (status, 1)
    assert said in done.stderr
    assert not (tmp_path / "repository").exists()


def test_a_key_that_has_expired_is_refused(tmp_path):
    keys = Keys(tmp_path / "home")
    try:
        key = keys.make("Old <old@example.org>", "--faked-system-time", "20200101T000000", expires="1d")
        status, text = Publisher(keys, tmp_path / "repository").refused(packages_folder(tmp_path), key=key)
        assert status == 78 and "cannot sign now" in text
    finally:
        keys.end()


def test_a_change_of_the_key_needs_the_old_one_too_and_readers_of_either_can_read(publisher, tmp_path):
    publisher.publish(packages_folder(tmp_path))
    old = publisher.sources
    status, text = publisher.refused(key=publisher.keys.other)
    assert status == 78 and f"sign with that one too: --key {publisher.keys.main} --key {publisher.keys.other}" in text
    publisher.publish(key=f"{publisher.keys.main} {publisher.keys.other}")
    both = publisher.sources
    Apt(tmp_path / "apt-old", old).get("update")
    Apt(tmp_path / "apt-both", both).get("update")
    publisher.publish(key=publisher.keys.other)
    assert LACKS_KEY.search(Apt(tmp_path / "apt-too-old", old).fails("update"))
    Apt(tmp_path / "apt-both-later", both).get("update")


@pytest.mark.parametrize("name, version, said", [
    ("no-release", "0.1.0-1", "names neither Debian 12 (~deb12u1) nor Debian 13 (~deb13u1)"),
    ("unknown-release", "0.1.0-1~deb99u1", "names neither Debian 12"),
])
def test_a_package_of_an_unknown_release_is_refused(publisher, tmp_path, name, version, said):
    status, text = publisher.refused(packages_folder(tmp_path, version, [name]))
    assert status == 65 and said in text


def test_what_is_no_package_is_refused(publisher, tmp_path):
    folder = packages_folder(tmp_path)
    (folder / "bloomgate.deb").write_text("no package\n")
    status, text = publisher.refused(folder)
    assert status == 65 and "is no package" in text


def test_a_folder_without_a_package_is_refused(publisher, tmp_path):
    assert publisher.refused(tmp_path)[0] == 66
    assert publisher.refused()[0] == 66


def failing(folder, program, call, does):
    """A folder for PATH, whose program fails at that call of it, and is the real one otherwise."""
    folder.mkdir()
    script = folder / program
    script.write_text(f'#!/bin/sh\nif [ "$(echo >>{folder}/calls; wc -l <{folder}/calls)" = {call} ]; then\n{does}\nfi\n'
                      f'exec {shutil.which(program)} "$@"\n')
    script.chmod(0o755)
    return str(folder)


# The last call of gpg signs the new state of the suite: only the exchange follows it.
CALLS = [("gpg", 6), *(("gpg", call) for call in range(1, 6)), ("apt-ftparchive", 1), ("apt-ftparchive", 2)]


@pytest.mark.parametrize("program, call", first_of(CALLS))
@pytest.mark.parametrize("does", ["echo no >&2; exit 2", "kill -9 $PPID; exit 2"], ids=["fails", "kills the script"])
def test_where_a_run_ends_early_readers_have_the_state_before_and_the_next_run_goes_well(publisher, tmp_path, program, call,
                                                                                      does):
    publisher.publish(packages_folder(tmp_path))
    newer = packages_folder(tmp_path, NEW)
    done = publisher.run(newer, path=failing(tmp_path / "bin", program, call, does))
    assert done.returncode != 0
    apt = Apt(tmp_path / "apt", publisher.sources)
    apt.get("update")
    assert f"Inst bloomgate ({OLD} " in apt.get("--simulate", "install", "bloomgate")
    publisher.publish(newer)
    apt.get("update")
    apt.get("download", "bloomgate", "bloomgate-milter")
    assert f"bloomgate_{NEW}_amd64.deb" in apt.downloaded()
    assert not [path for path in publisher.output.rglob(".*")]


def test_readers_during_many_runs_always_get_a_whole_state(publisher, tmp_path):
    publisher.publish(packages_folder(tmp_path))
    apt = Apt(tmp_path / "apt", publisher.sources)
    ended, failures, reads = threading.Event(), [], []

    def read():
        while not ended.is_set():
            shutil.rmtree(apt.folder / "state/lists")
            (apt.folder / "state/lists/partial").mkdir(parents=True)
            done = apt.run("update")
            reads.append(done)
            if done.returncode != 0 or f"Inst bloomgate (0.1." not in apt.run("--simulate", "install", "bloomgate").stdout:
                failures.append(done.stdout + done.stderr)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(2, 7):
            publisher.publish(packages_folder(tmp_path, f"0.1.{number}-1~deb12u1"))
    finally:
        ended.set()
        reader.join()
    assert len(reads) > 1 and not failures
