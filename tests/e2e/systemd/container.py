"""A minimal Debian with a real systemd, made by mmdebstrap (once) and booted by systemd-nspawn; and scripts of checks
that run in it (checking.sh)."""

import ctypes
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from private_mail.filter import build_folder, built
from private_mail.own_mounts import own_mounts
from private_mail.processes import Program, temporary_folder, wait_until

# postfix: Debian's own configuration of it, which an operator starts from. python3: what bloomgate-milter's package
# depends on. The libraries of the programs come beside.
BARE_PACKAGES = ("systemd", "systemd-sysv", "python3")
PACKAGES = (*BARE_PACKAGES, "postfix")
# The same with the checks of the recipes: name of the root -> its packages.
RECIPE_PACKAGES = {
    "recipe-root-rspamd": (*PACKAGES, "rspamd"),
    "recipe-root-clamav": (*PACKAGES, "rspamd", "clamav-daemon", "clamav-milter"),
    "recipe-root-spamassassin": (*PACKAGES, "spamassassin", "spamd", "spampd", "spamass-milter", "opendkim",
                                 "opendmarc", "clamav-daemon", "clamav-milter"),
    "recipe-root-sendmail": (*BARE_PACKAGES, "sendmail", "rspamd", "spamassassin", "spamd", "spamass-milter",
                             "clamav-daemon", "clamav-milter"),
    "recipe-root-dovecot": (*BARE_PACKAGES, "dovecot-imapd", "dovecot-sieve"),
    "recipe-root-exim": (*BARE_PACKAGES, "exim4-daemon-light", "rspamd"),
}
HERE = Path(__file__).parent
BOOT_SECONDS = 700  # more than the checks' own limit, in checks.service
MAKING_SECONDS = 600


@dataclass(frozen=True)
class Archive:
    uri: str
    suite: str
    keyring: str = ""


def apt_archives(text, one_line):
    """The archives of one file of apt: sources.list and *.list have one a line, *.sources have paragraphs."""
    if one_line:
        entries = re.findall(r"(?m)^deb\s+(?:\[(.*?)\]\s+)?(\S+)\s+(\S+)\s+(.*)$", text)
        for options, uri, suite, components in entries:
            if "main" in components.split():
                yield Archive(uri, suite, option_of(options, "signed-by"))
        return
    for paragraph in re.split(r"\n\s*\n", re.sub(r"(?m)^#.*\n?", "", text)):
        fields = {name.lower(): value.split() for name, value in
                  re.findall(r"(?m)^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", paragraph)}
        if "deb" in fields.get("types", ()) and "main" in fields.get("components", ()):
            for uri in fields.get("uris", ()):
                for suite in fields.get("suites", ()):
                    yield Archive(uri, suite, (fields.get("signed-by") or [""])[0])


def option_of(options, name):
    found = re.search(rf"(?i)\b{name}=(\S+)", options)
    return found.group(1) if found else ""


def own_archive(apt=Path("/etc/apt")):
    """Where this machine gets its own release from."""
    release = re.search(r"(?m)^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text()).group(1)
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]
    for file in files:
        if file.is_file():
            for archive in apt_archives(file.read_text(), file.suffix == ".list"):
                if archive.suite == release:
                    return archive
    raise RuntimeError(f"no line in {apt} names the archive of {release}")


def library_packages(*programs):
    """The packages that the programs' libraries come from."""
    output = subprocess.run(["ldd", *map(str, programs)], check=True, capture_output=True, text=True).stdout
    libraries = {re.sub("^/usr/", "/", library) for library in re.findall(r"=> (/\S+)", output)}
    # dpkg knows each by one name or the other: /lib is /usr/lib. It reads the files of all packages at each start.
    names = sorted(name for library in libraries for name in (library, f"/usr{library}"))
    found = subprocess.run(["dpkg", "-S", *names], capture_output=True, text=True).stdout
    return set(re.findall(r"(?m)^([\w.+-]+)(?::\w+)?: ", found))


@dataclass(frozen=True)
class Root:
    """What a container sees as its root: a folder of its own over the base, which no container changes."""

    top: Path  # what is put in before the boot, and what the container has written
    base: Path

    def mounting(self):
        """The words before a command, in a mount namespace of its own, that shows the root as the folder `merged`."""
        for name in ("merged", "work"):
            (self.top.parent / name).mkdir()
        options = f"lowerdir={self.base},upperdir={self.top},workdir={self.top.parent}/work"
        return ["sh", "-c", 'mount -t overlay overlay -o "$0" "$1" && shift && exec "$@"', options, self.merged()]

    def merged(self):
        return self.top.parent / "merged"


@contextmanager
def new_root(folder, build, programs, wanted=PACKAGES, name="debian-root"):
    """A root with the wanted packages. Tests may run at the same time: one makes the base, and none replaces it while
    another uses it. name: what sets its folder in build apart from others."""
    with open(build / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        packages = sorted({*wanted, *library_packages(*programs)})
        base = base_folder(build, packages, name)
        while not base.exists():
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not base.exists():
                make_base(build, packages, name)
            fcntl.flock(lock, fcntl.LOCK_SH)  # another may come in between
        top = folder / "top"
        top.mkdir()
        # Debian's /bin, /lib and /sbin lead to /usr: what is installed there must not become a folder.
        for link in base.iterdir():
            if link.is_symlink():
                (top / link.name).symlink_to(link.readlink())
        yield Root(top, base)


def base_folder(build, packages, name):
    key = hashlib.sha256(" ".join([own_archive().suite, *packages]).encode()).hexdigest()[:12]
    return build / f"{name}-{key}"


def make_base(build, packages, name):
    """Takes half a minute, or some."""
    for old in build.glob(f"{name}-*"):
        subprocess.run(["rm", "-rf", "--one-file-system", old], check=True)
    growing = build / f"{name}-growing"
    make_debian(own_archive(), packages, growing)
    growing.rename(base_folder(build, packages, name))


def make_debian(archive, packages, root):
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", f"--include={','.join(packages)}"]
    if archive.keyring.startswith("/"):
        command.append(f"--keyring={archive.keyring}")
    with own_mounts() as words:
        program = Program([*words, *command, archive.suite, root, archive.uri], f"{root}.log")
        try:
            exit_code = program.wait(MAKING_SECONDS)
        finally:
            program.kill()
    if exit_code != 0:
        raise RuntimeError(f"mmdebstrap failed:\n{program.log()[-5000:]}")


@contextmanager
def nspawn(root, *options, before=()):
    """Without machined, with no network but its own loopback, and allowed to lock memory as services are. before: words
    that go before the command, in its mount namespace."""
    command = [*before, "systemd-nspawn", "-q", "-D", root, *options, "--register=no", "--keep-unit",
               "--private-network", "--system-call-filter=@memlock"]
    # In a PID namespace that ends with the command: what a container has started outlives a systemd-nspawn that is
    # killed, and keeps the cgroups that the next container needs.
    with own_mounts("--pid", "--fork", "--kill-child", "--mount-proc") as words:
        yield [*words, *command]


@contextmanager
def only_one():
    """No other container on this machine: without a systemd outside, all share one tree of cgroups."""
    with open(shutil.which("systemd-nspawn"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@functools.cache
def can_start():
    """Empty, or why no container with a loopback of its own starts on this machine. Tried with the machine's own
    programs: a minimal Debian takes minutes to make."""
    # In a container that may not set up networks, one inside it starts, and its loopback stays down.
    with only_one(), nspawn("/", "--volatile=yes") as command:
        done = subprocess.run([*command, "bash", "-c", ": >/dev/udp/127.0.0.1/9"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return f"systemd-nspawn cannot start a container: {done.stderr.strip().splitlines()[0]}"


def may_lock_memory():
    """Whether this machine lets root do so, and so a container on it. One of systemd-nspawn does not."""
    page = ctypes.create_string_buffer(1)
    return ctypes.CDLL(None).mlock(page, len(page)) == 0


def boot(root, log_file):
    """Boots the root. Returns what its console showed, when it has powered itself off."""
    with only_one(), nspawn(root.merged(), before=root.mounting()) as command:
        program = Program([*command, "--console=pipe", "--boot", "--", "--unit=multi-user.target"], log_file)
        try:
            wait_until(lambda: not program.alive(), "the container to power off", BOOT_SECONDS)
        finally:
            program.kill()
    return program.log()


def names_of_checks(script):
    return re.findall(r"(?m)^check_(\w+)\(\)", script.read_text())


@dataclass(frozen=True)
class Outcome:
    """What the checks of a script have found."""

    folder: Path  # /checks
    codes: dict  # name -> exit code
    console: str

    def text(self, name):
        file = self.folder / name
        return file.read_text(errors="replace") if file.exists() else ""

    def require(self, check):
        """Fails the test that asks, or skips it, as the check has done."""
        assert check in self.codes, f"the container powered off before it came to this check: {sorted(self.codes)}"
        log = self.text(f"log-{check}")
        if self.codes[check] == 77:
            pytest.skip(re.search("(?m)^skipped: (.*)", log).group(1))
        assert self.codes[check] == 0, f"{log[-8000:]}\n--- journal\n{self.journal()}"

    def journal(self):
        lines = (self.text("journal") or self.console).splitlines()
        ours = "\n".join(line for line in lines if re.search("bloomgate|warning|error|[Ff]ailed|spamass-milter", line))
        return "\n".join([ours[-16000:], "--- its end", *lines[-40:]])


@contextmanager
def checked(script, prepare, wanted=PACKAGES, name="debian-root"):
    """Runs the script as root in a new container, and yields its outcome. prepare(top) puts in what it needs, beside what
    is there: checking.sh, and the script as checks.sh, in the folder /checks. It sees no file of the base. Skips the test where no container
    can be started."""
    if os.geteuid() != 0:
        pytest.skip("booting a container needs root")
    if reason := can_start():
        pytest.skip(reason)
    build = build_folder()
    programs = [built("milter/bloomgate-milter"), built("filter/cli/bloomgate")]
    with temporary_folder("container", build) as folder, new_root(folder, build, programs, wanted, name) as root:
        checks = root.top / "checks"
        checks.mkdir()
        shutil.copy(HERE / "checking.sh", checks)
        shutil.copy(script, checks / "checks.sh")
        units = root.top / "etc/systemd/system"
        (units / "multi-user.target.wants").mkdir(parents=True)
        shutil.copy(HERE / "checks.service", units)
        (units / "multi-user.target.wants/checks.service").symlink_to("../checks.service")
        prepare(root.top)
        console = boot(root, folder / "console.log")
        yield Outcome(checks, codes(checks, console), console)


def codes(checks, console):
    if not (checks / "results").exists():
        raise RuntimeError(f"the container did not come as far as the checks:\n{console}")
    return {name: int(code) for code, name in map(str.split, (checks / "results").read_text().splitlines())}


def install_as_a_package_would(root):
    """The programs, the unit, user and folder."""
    subprocess.run(["cmake", "--install", build_folder(), "--prefix", "/usr"], check=True, capture_output=True,
                   env={**os.environ, "DESTDIR": str(root)})
