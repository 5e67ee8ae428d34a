"""SpamAssassin on loopback: spamd and its milter, and spampd, with the shipped files of config/mta."""

import shlex
import shutil
from pathlib import Path

from .checker import USER, Checker
from .processes import free_port
from .shipped import adapted

SITE = Path("/etc/spamassassin")  # Debian's

# SpamAssassin treats every message with this text as spam (spamassassin.apache.org/gtube). It is in two pieces,
# so that these sources can be sent by mail.
GTUBE = b"XJS*C4JDBQADN1.NSBN3*2IDNEN*" + b"GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"


class Spamd(Checker):
    """name_server: (host, port); without one, it runs local tests only."""

    name = "spamd"

    def __init__(self, folder, name_server=None):
        super().__init__(folder)
        self.name_server = name_server
        self.address = ("127.0.0.1", free_port())

    def prepare(self):
        site = self.folder / "site"
        shutil.copytree(SITE, site, ignore=shutil.ignore_patterns("sa-update-hooks.d"))
        (site / "bloomgate.cf").write_text(adapted("spamassassin/bloomgate.cf", {}))
        if self.name_server:
            host, port = self.name_server
            (site / "own.cf").write_text(f"dns_available yes\ndns_server {host}:{port}\nrbl_timeout 2\n")

    def command(self):
        host, port = self.address
        return ["/usr/sbin/spamd", f"--listen={host}:{port}", f"--siteconfigpath={self.folder}/site",
                "--nouser-config", f"--helper-home-dir={self.folder}", "--syslog=stderr", "--max-children=2",
                f"--pidfile={self.folder}/pid", *(() if self.name_server else ("--local",))]


class SpamassMilter(Checker):
    name = "spamass-milter"

    # What the recipe's page adds for those who let mail wait.
    WAITING = " -- --no-safe-fallback --connect-retries=30 --retry-sleep=5"

    def __init__(self, folder, spamd, waits=False):
        super().__init__(folder)
        self.waits = waits
        self.spamd = spamd
        self.address = self.folder / "milter.sock"
        self.mta_socket = f"unix:{self.address}"

    def start(self):
        super().start()
        self.address.chmod(0o666)  # as Debian's script does, for Postfix

    def command(self):
        host, port = self.spamd.address
        shipped = adapted("postfix-spamass-milter/spamass-milter", {"-u spamass-milter": f"-u {USER}"})
        options = shlex.split(shlex.split(shipped.partition("=")[2])[0])
        waiting = self.WAITING.split() if self.waits else ["--"]
        return ["/usr/sbin/spamass-milter", "-p", self.address, *options, *waiting, "-d", host, "-p", port]


class Spampd(Checker):
    """It listens on port, hands mail on to next_port, and runs local tests only."""

    name = "spampd"

    def __init__(self, folder, port, next_port):
        super().__init__(folder)
        self.next_port = next_port
        self.port = port
        self.address = ("127.0.0.1", self.port)

    def command(self):
        unit = adapted("postfix-spampd/spampd.conf", {
            "127.0.0.1:10024": f"127.0.0.1:{self.port}", "127.0.0.1:10025": f"127.0.0.1:{self.next_port}",
            "/run/spampd/spampd.pid": f"{self.folder}/pid", "--user=spampd --group=spampd": ""})
        program, *options = shlex.split(unit.rpartition("ExecStart=")[2].replace("\\\n", ""))
        # Its user may not look into the repository, which may be root's.
        starter = shutil.copy(Path(__file__).with_name("spampd.pl"), self.folder)
        return ["perl", "-T", starter, program, *options, "--local-only",
                f"--homedir={self.folder}"]
