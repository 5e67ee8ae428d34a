"""`cmake --install` and its undoing: for any prefix, and never over a file that was edited."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from private_mail.filter import build_folder, built

EDITED = ("bloomgate-milter.conf", "extra.txt", "free-mail-domains.txt", "opt-out.txt", "revoked.txt", "shared-signers.txt")


class Installation:
    """A folder that stands for /, and what is in it."""

    def __init__(self, root):
        self.root = Path(root)

    def install(self, prefix="/usr"):
        return self._run("cmake", "--install", build_folder(), "--prefix", prefix)

    def uninstall(self):
        return self._run("cmake", "--build", build_folder(), "--target", "uninstall")

    def path(self, name):
        return self.root / name.lstrip("/")

    def files(self):
        return {"/" + str(path.relative_to(self.root)) for path in self.root.rglob("*")
                if not path.is_dir() or path.is_symlink()}

    def _run(self, *words):
        environment = {**os.environ, "DESTDIR": str(self.root)}
        done = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module", autouse=True)
def everything_is_built():
    built("milter/bloomgate-milter")
    if not (build_folder() / "scripts/completions/bloomgate.bash").exists():
        pytest.skip("not all of the build folder is built")


@pytest.fixture
def installation(tmp_path):
    return Installation(tmp_path)


def test_it_installs_into_its_prefix_only(installation):
    installation.install("/opt/bloomgate")
    assert {name for name in installation.files() if not name.startswith("/opt/bloomgate/")} == \
        {f"/etc/opt/bloomgate/bloomgate/{name}" for name in EDITED}
    unit = installation.path("/opt/bloomgate/lib/systemd/system/bloomgate-milter.service").read_text()
    assert "ExecStart=/opt/bloomgate/sbin/bloomgate-milter --config /etc/opt/bloomgate/bloomgate/bloomgate-milter.conf\n" \
        in unit
    conf = installation.path("/etc/opt/bloomgate/bloomgate/bloomgate-milter.conf").read_text()
    assert "\nrevoked = /etc/opt/bloomgate/bloomgate/revoked.txt\n" in conf


def test_an_edited_file_is_kept_and_the_shipped_one_is_put_beside_it(installation):
    installation.install()
    conf = installation.path("/etc/bloomgate/bloomgate-milter.conf")
    shipped = conf.read_text()
    conf.write_text(shipped + "mode = observe\n")
    said = installation.install()
    assert conf.read_text() == shipped + "mode = observe\n"
    assert Path(f"{conf}.new").read_text() == shipped
    assert f"Kept: {conf}" in said
    assert not installation.path("/etc/bloomgate/revoked.txt.new").exists()


def test_uninstalling_leaves_nothing(installation):
    before = installation.files()
    installation.install()
    installation.uninstall()
    assert installation.files() == before
    assert not installation.path("/etc/bloomgate").exists()
    assert not installation.path("/usr/share/bloomgate").exists()


def test_uninstalling_leaves_what_was_edited(installation):
    installation.install()
    revoked = installation.path("/etc/bloomgate/revoked.txt")
    revoked.write_text("joe@example.org\n")
    installation.uninstall()
    assert installation.files() == {"/etc/bloomgate/revoked.txt"}


def test_the_completions_know_every_option(installation):
    installation.install()
    for program, folder in (("bloomgate", "bin"), ("bloomgate-milter", "sbin")):
        listed = subprocess.run([installation.path(f"/usr/{folder}/{program}"), "--list-options"], check=True,
                                capture_output=True, text=True).stdout
        options = {line.split("\t")[1] for line in listed.splitlines() if line.startswith("option\t")}
        assert len(options) > 20
        for file, form in ((f"/usr/share/bash-completion/completions/{program}", "--{}"),
                           (f"/usr/share/zsh/site-functions/_{program}", "--{}"),
                           (f"/usr/share/fish/vendor_completions.d/{program}.fish", "-l {}")):
            text = installation.path(file).read_text()
            missing = [option for option in options if form.format(option) not in text]
            assert not missing, file


def complete(program, *words):
    """What bash offers for the last word."""
    script = build_folder() / f"scripts/completions/{program}.bash"
    words = [program, *words]
    commands = f"""compopt() {{ :; }}
source '{script}'
COMP_WORDS=({' '.join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
_{program.replace('-', '_')}
printf '%s\\n' "${{COMPREPLY[@]}}" """
    return subprocess.run(["bash", "-c", commands], check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("words, offered", [
    (["bloomgate", "bu"], ["build"]),
    (["bloomgate", "build", "--tag"], ["--tag-separators"]),
    (["bloomgate", "info", "--j"], ["--json"]),
    (["bloomgate", "build", "--layout", "r"], ["ribbon"]),
    (["bloomgate", "build", "--hash", "m"], ["murmur3"]),
    (["bloomgate", "build", "--format", "c"], ["csv:"]),
    (["bloomgate", "learned", ""], ["list", "forget", "export"]),
    (["bloomgate", "learned", "--ne"], ["--newest"]),
    (["bloomgate", "pull", "--tru"], ["--trusted-key"]),
    (["bloomgate-milter", "suspended", "c"], ["clear"]),
    (["bloomgate-milter", "moved", "j"], ["junk"]),
    (["bloomgate-milter", "rel"], ["reload"]),
    (["bloomgate-milter", "--mode", "o"], ["observe"]),
    (["bloomgate-milter", "--mode", "=", "o"], ["observe"]),
    (["bloomgate-milter", "unr"], ["unrevoke"]),
    (["bloomgate-milter", "--config", "/etc/debian_v"], ["/etc/debian_version"]),
])
def test_bash_offers(words, offered):
    assert complete(*words) == offered


@pytest.mark.parametrize("shell, file", [("bash", "{}.bash"), ("zsh", "_{}"), ("fish", "{}.fish")])
@pytest.mark.parametrize("program", ["bloomgate", "bloomgate-milter"])
def test_each_shell_reads_its_completions(shell, file, program):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n", build_folder() / "scripts/completions" / file.format(program)], check=True)
