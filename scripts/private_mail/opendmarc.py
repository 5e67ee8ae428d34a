"""One OpenDMARC, with its shipped configuration. It asks a name server for the policies of domains."""

from dataclasses import dataclass

from .milter import USER_AND_GROUP, Milter
from .network import PrivateNetwork
from .shipped import adapted


@dataclass(frozen=True)
class OpenDmarcConfig:
    network: PrivateNetwork
    name = "opendmarc"

    def part(self, folder):
        return OpenDmarc(folder, self, self.network.start)


class OpenDmarc(Milter):
    def command(self):
        configuration = self.folder / "opendmarc.conf"
        configuration.write_text(adapted("authentication/opendmarc.conf", {
            "local:/run/opendmarc/opendmarc.sock": f"local:{self.socket}",
            "UserID            opendmarc": f"UserID {USER_AND_GROUP}",
            "/run/opendmarc/opendmarc.pid": f"{self.folder}/pid",
        }) + "Background no\n")
        return ["/usr/sbin/opendmarc", "-f", "-c", configuration]
