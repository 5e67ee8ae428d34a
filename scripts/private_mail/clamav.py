"""ClamAV on loopback: clamd with a single signature of our own, and its milter with the shipped lines."""

from .checker import Checker
from .shipped import adapted

# The test string that every virus checker treats as a virus (eicar.org). It is nowhere in one piece, or this file
# itself would count as infected.
EICAR = b"".join((rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$", b"EICAR-STANDARD-", b"ANTIVIRUS-TEST-FILE!", b"$H+H*"))

SIGNATURE = "Bloomgate.Test"

CLAMD = """\
LocalSocket {folder}/clamd.ctl
LocalSocketMode 666
DatabaseDirectory {folder}/signatures
TemporaryDirectory {folder}
Foreground yes
LogClean yes
"""

MILTER = """\
MilterSocket unix:{folder}/milter.sock
MilterSocketMode 666
ClamdSocket unix:{clamd}
TemporaryDirectory {folder}
Foreground yes
LogClean Full
"""


class Clamd(Checker):
    name = "clamd"

    def prepare(self):
        self.address = self.folder / "clamd.ctl"
        signatures = self.folder / "signatures"
        signatures.mkdir()
        (signatures / "own.ndb").write_text(f"{SIGNATURE}:0:*:{EICAR.hex()}\n")
        (self.folder / "clamd.conf").write_text(CLAMD.format(folder=self.folder))

    def command(self):
        return ["/usr/sbin/clamd", "--config-file", self.folder / "clamd.conf"]


class ClamavMilter(Checker):
    name = "clamav-milter"

    def __init__(self, folder, clamd, waits=False):
        """waits: mail waits while clamd is down, by the line that the recipes' pages give."""
        super().__init__(folder)
        self.waits = waits
        self.clamd = clamd
        self.mta_socket = f"unix:{self.folder}/milter.sock"

    def prepare(self):
        self.address = self.folder / "milter.sock"
        shipped = adapted("clamav/clamav-milter.conf", {
            "LogSyslog true": "LogSyslog false", **({"OnFail Accept": "OnFail Defer"} if self.waits else {})})
        (self.folder / "clamav-milter.conf").write_text(
            MILTER.format(folder=self.folder, clamd=self.clamd.address) + shipped)

    def command(self):
        return ["/usr/sbin/clamav-milter", "--config-file", self.folder / "clamav-milter.conf"]
