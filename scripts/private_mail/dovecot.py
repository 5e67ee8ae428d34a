"""A private Dovecot on loopback, with the shipped files of config/mta/dovecot. Needs root.

Every mailbox is that of one user, as with virtual users; every password is right.
"""

import contextlib
import imaplib
import smtplib
import subprocess

from .daemon import USER
from .processes import Program, accepts_connections, free_port
from .shipped import SHIPPED_FILES, adapted

OWNER = "mail"  # of the mailboxes
SCRIPTS = ("moved-to-junk.sieve", "moved-to-inbox.sieve")

COMMON = """\
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {imap_port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service lmtp {{
  unix_listener lmtp {{
    mode = 0600
  }}
}}
service anvil {{
  chroot =
}}
"""

# Virtual users, whose mailboxes belong to one owner, in a folder.
OF_BOTH = """\
first_valid_uid = 1
first_valid_gid = 1
namespace inbox {{
  inbox = yes
  mailbox Junk {{
    auto = create
    special_use = \\Junk
  }}
  mailbox Trash {{
    auto = create
    special_use = \\Trash
  }}
}}
"""

OF_2_3 = OF_BOTH + """\
disable_plaintext_auth = no
mail_location = maildir:{folder}/%u
passdb {{
  driver = static
  args = nopassword=y
}}
userdb {{
  driver = static
  args = uid={owner} gid={owner} home={folder}/%u
}}
"""

OF_2_4 = OF_BOTH + """\
auth_allow_cleartext = yes
mail_driver = maildir
mail_path = {folder}/%{{user}}
mail_inbox_path =
passdb static {{
  fields {{
    nopassword = yes
  }}
}}
userdb static {{
  fields {{
    uid = {owner}
    gid = {owner}
    home = {folder}/%{{user}}
  }}
}}
"""

MAILBOXES = {"2.3": OF_2_3, "2.4": OF_2_4}


def version():
    """2.3, or 2.4."""
    said = subprocess.run(["dovecot", "--version"], capture_output=True, text=True, check=True).stdout
    return ".".join(said.split(".")[:2])


def first_lines():
    """That the version insists on."""
    return "" if version() == "2.3" else "dovecot_config_version = 2.4.0\ndovecot_storage_version = 2.4.0\n"


class Dovecot:
    """command: what the shipped service runs instead of `bloomgate-milter moved`, in words."""

    def __init__(self, folder, command):
        self.folder = folder
        self.command = command
        self.imap_port = free_port()

    def __enter__(self):
        self._prepare()
        self.program = Program(["dovecot", "-F", "-c", self.folder / "dovecot.conf"], self.folder / "output")
        self.program.wait_until_ready(lambda: accepts_connections(("127.0.0.1", self.imap_port)), "Dovecot", self.log)
        return self

    def __exit__(self, *_):
        self.program.stop()

    def log(self):
        path = self.folder / "log"
        return self.program.log() + (path.read_text(errors="replace") if path.exists() else "")

    def _prepare(self):
        for folder in (self.folder, self.folder / "mail", self.folder / "bloomgate"):
            folder.mkdir()
        subprocess.run(["chown", OWNER, self.folder / "mail"], check=True)
        of_version = MAILBOXES[version()].format(folder=self.folder / "mail", owner=OWNER)
        common = COMMON.format(folder=self.folder, imap_port=self.imap_port)
        (self.folder / "dovecot.conf").write_text(first_lines() + of_version + common + self._shipped())
        for name in SCRIPTS:
            script = self.folder / "bloomgate" / name
            script.write_text((SHIPPED_FILES / "dovecot" / name).read_text())
            subprocess.run(["sievec", "-c", self.folder / "dovecot.conf", script], check=True)

    def _shipped(self):
        return adapted(f"dovecot/dovecot-{version()}.conf", {
            "/usr/sbin/bloomgate-milter moved": " ".join(str(word) for word in self.command),
            "user = bloomgate\n": f"user = {USER}\n",
            "user = vmail\n": f"user = {OWNER}\n",
            **{f"/etc/dovecot/bloomgate/{name}": str(self.folder / "bloomgate" / name) for name in SCRIPTS}})

    def deliver(self, sender, user, message):
        """As a mail server delivers it."""
        with smtplib.LMTP(str(self.folder / "run/lmtp")) as client:
            client.sendmail(sender, [user], message)

    @contextlib.contextmanager
    def mailbox(self, user, name):
        with imaplib.IMAP4("127.0.0.1", self.imap_port) as client:
            client.login(user, "any")
            client.select(name)
            yield client

    def move(self, user, source, target):
        """All messages of a mailbox into another one. Returns how many there were."""
        with self.mailbox(user, source) as client:
            numbers = client.search(None, "ALL")[1][0].split()
            if numbers:
                status, said = client._simple_command("MOVE", b",".join(numbers).decode(), target)
                if status != "OK":
                    raise RuntimeError(f"Dovecot does not move messages: {said}\n{self.log()}")
        return len(numbers)
