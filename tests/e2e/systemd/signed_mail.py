"""Messages from joe@example.org for a container, and a name server in it that has the key of their signatures."""

import json
import shutil
from email.utils import formatdate
from pathlib import Path

import dns
from private_mail.faulty_name_server import PROGRAM, Record
from private_mail.signing import SigningKey


def put(checks):
    """Into the folder: a file for each message, named by its subject, and what start_name_server of checking.sh needs."""
    messages, records = mails()
    for name, content in messages.items():
        (checks / name).write_bytes(content)
    (checks / "records.json").write_text(json.dumps(records))
    shutil.copy(PROGRAM, checks)
    shutil.copytree(Path(dns.__file__).parent, checks / "dns", ignore=shutil.ignore_patterns("__pycache__"))


def mails():
    """Name -> message, and the records that a name server has of the key."""
    key = SigningKey("example.org")

    def mail(subject, number):
        fields = ("From: Joe <joe@example.org>", "To: root@localhost", f"Subject: {subject}", f"Date: {formatdate()}",
                  f"Message-ID: <{number}@example.org>", "MIME-Version: 1.0", "Content-Type: text/plain; charset=us-ascii")
        return "\r\n".join([*fields, "", "Hello, this is Joe.", ""]).encode()

    found = {"signed": key.sign(mail("signed", 1)), "afterwards": key.sign(mail("afterwards", 2))}
    found["forged"] = SigningKey("example.org").sign(mail("forged", 3))  # with a key that is not the domain's
    return found, {key.record_name: Record((key.record,)).for_program()}
