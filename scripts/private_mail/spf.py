"""One pyspf-milter, with its shipped configuration. It asks a name server who may send for a domain."""

from dataclasses import dataclass

from .milter import USER_AND_GROUP, Milter
from .network import PrivateNetwork
from .shipped import adapted


@dataclass(frozen=True)
class SpfConfig:
    network: PrivateNetwork
    host_name: str = "mx.example.net"
    name = "pyspf-milter"

    def part(self, folder):
        return Spf(folder, self, self.network.start)


class Spf(Milter):
    def command(self):
        configuration = self.folder / "pyspf-milter.conf"
        configuration.write_text(adapted("authentication/pyspf-milter.conf", {
            "local:/run/pyspf-milter/pyspf-milter.sock": f"local:{self.socket}",
            "UserID = pyspf-milter": f"UserID = {USER_AND_GROUP}",
            "/run/pyspf-milter/pyspf-milter.pid": f"{self.folder}/pid",
            "mx.example.org": self.config.host_name,
        }))
        return ["/usr/bin/pyspf-milter", configuration]
