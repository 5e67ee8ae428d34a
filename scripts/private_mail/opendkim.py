"""One OpenDKIM, with its shipped configuration. Public keys come from a file: it asks no name server."""

import shutil
from dataclasses import dataclass

from .milter import USER_AND_GROUP, Milter
from .shipped import SHIPPED_FILES, adapted

ALONE = """\
Background      no
TestPublicKeys  {public_keys}
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
"""


@dataclass(frozen=True)
class OpenDkimConfig:
    keys: tuple = ()  # of SigningKey
    signs: bool = False  # signs what comes in with them, as at the sender's, rather than verify it
    name = "opendkim"

    def part(self, folder):
        return OpenDkim(folder, self)


class OpenDkim(Milter):
    def command(self):
        configuration = self.folder / "opendkim.conf"
        configuration.write_text(self._signing() if self.config.signs else self._verifying())
        return ["/usr/sbin/opendkim", "-f", "-x", configuration]

    def _verifying(self):
        public_keys = self.folder / "public-keys"
        # Its user may not be able to read the repository: a clone in /root, say.
        script = shutil.copy(SHIPPED_FILES / "authentication/whole_body.lua", self.folder)
        public_keys.write_text("".join(f"{key.record_name} {key.record}\n" for key in self.config.keys))
        return adapted("authentication/opendkim.conf", {
            "local:/run/opendkim/opendkim.sock": f"local:{self.socket}",
            "UserID              opendkim": f"UserID {USER_AND_GROUP}",
            "/run/opendkim/opendkim.pid": f"{self.folder}/pid",
            "/etc/opendkim/whole_body.lua": str(script),
        }) + ALONE.format(public_keys=public_keys)

    def _signing(self):
        folder, keys = self.folder, self.config.keys
        for key in keys:
            (folder / f"{key.domain}.private").write_bytes(key.private)
        (folder / "keys").write_text("".join(
            f"{key.domain} {key.domain}:{key.selector}:{folder}/{key.domain}.private\n" for key in keys))
        (folder / "senders").write_text("".join(f"*@{key.domain} {key.domain}\n" for key in keys))
        return SIGNING.format(folder=folder, socket=self.socket)
