"""One OpenDKIM, with its shipped configuration. Public keys come from a file, or from the name server of a network."""

import re
import shutil
from dataclasses import dataclass

from .milter import USER_AND_GROUP, Milter
from .network import PrivateNetwork
from .processes import Program
from .shipped import SHIPPED_FILES, adapted

ALONE = """\
Background      no
TestPublicKeys  {public_keys}
"""

# The name server there signs no answer: the trust anchor would make it a liar.
IN_A_NETWORK = """\
Background      no
Nameservers     127.0.0.1
"""

SIGNING = """\
Mode             s
Socket           local:{socket}
Background       no
PidFile          {folder}/pid
RequireSafeKeys  no
KeyTable         {folder}/keys
SigningTable     refile:{folder}/senders
OversignHeaders  From
SignatureAlgorithm {algorithm}
Canonicalization {canonicalization}
"""


@dataclass(frozen=True)
class OpenDkimConfig:
    keys: tuple = ()  # of SigningKey
    signs: bool = False  # signs what comes in with them, as at the sender's, rather than verify it
    algorithm: str = "rsa-sha256"
    canonicalization: str = "relaxed/relaxed"  # of header and body
    network: PrivateNetwork = None  # where it asks 127.0.0.1, at port 53, instead of reading a file
    name = "opendkim"

    def part(self, folder):
        return OpenDkim(folder, self, self.network.start if self.network else Program)


class OpenDkim(Milter):
    def command(self):
        configuration = self.folder / "opendkim.conf"
        configuration.write_text(self._signing() if self.config.signs else self._verifying())
        return ["/usr/sbin/opendkim", "-f", "-x", configuration]

    def _verifying(self):
        # Its user may not be able to read the repository: a clone in /root, say.
        script = shutil.copy(SHIPPED_FILES / "authentication/whole_body.lua", self.folder)
        shipped = adapted("authentication/opendkim.conf", {
            "local:/run/opendkim/opendkim.sock": f"local:{self.socket}",
            "UserID              opendkim": f"UserID {USER_AND_GROUP}",
            "/run/opendkim/opendkim.pid": f"{self.folder}/pid",
            "/etc/opendkim/whole_body.lua": str(script),
        })
        if self.config.network:
            return re.sub(r"(?m)^TrustAnchorFile .*\n", "", shipped) + IN_A_NETWORK
        public_keys = self.folder / "public-keys"
        public_keys.write_text("".join(f"{key.record_name} {key.record}\n" for key in self.config.keys))
        return shipped + ALONE.format(public_keys=public_keys)

    def _signing(self):
        folder, keys = self.folder, self.config.keys
        for key in keys:
            (folder / f"{key.domain}.private").write_bytes(key.private)
        (folder / "keys").write_text("".join(
            f"{key.domain} {key.domain}:{key.selector}:{folder}/{key.domain}.private\n" for key in keys))
        (folder / "senders").write_text("".join(f"*@{key.domain} {key.domain}\n" for key in keys))
        return SIGNING.format(folder=folder, socket=self.socket, algorithm=self.config.algorithm,
                              canonicalization=self.config.canonicalization)
