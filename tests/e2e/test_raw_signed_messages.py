"""Signed messages whose bytes no mail server passes on unchanged, or that only look odd: by --explain, and byte by byte over
the milter protocol. SMTP ends each body with a line end (RFC 5321, section 4.1.1.4), so Postfix cannot show these."""

import json
import struct
import subprocess
from contextlib import ExitStack, closing

import pytest
from dkim_world import RSA, ZONE
from mail_world import content
from private_mail.daemon import Daemon, DaemonConfig
from private_mail.faulty_name_server import FaultyNameServer
from private_mail.filter import build_filter_of, built
from private_mail.processes import temporary_folder
from private_mail.signing import RELAXED, SIMPLE
from raw_connection import CONNECTION_STEPS, NEGOTIATION, QUIT, MilterConnection, frame, header_and_body

LISTED = "listed@example.org"
QUOTED = '"a b"@example.org'
STRANGER = "bounce@other.example"
LEADING_SPACE = 0x100000  # SMFIP_HDR_LEADSPC: the mail server leaves the space after a field's colon to the milter


class World:
    def __init__(self, stack, folder):
        names = stack.enter_context(FaultyNameServer(folder / "names", ZONE))
        self.whitelist = folder / "whitelist.bloom"
        build_filter_of(self.whitelist, [LISTED, QUOTED], "--bits-per-entry", "32")
        self.options = {"authentication": "required", "dns-servers": names.option, "mark-tells-why": "yes"}
        self.daemon = stack.enter_context(Daemon(folder / "daemon", DaemonConfig(self.whitelist, settings=self.options)))

    def explained(self, raw):
        """The mark that --explain shows for a message."""
        options = [word for name, value in self.options.items() for word in (f"--{name}", value)]
        done = subprocess.run([built("milter/bloomgate-milter"), "--config", "/dev/null", "--whitelist", self.whitelist,
                               "--explain", "--json", "--from", f"<{STRANGER}>", *options], input=raw, capture_output=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["mark"]

    def decided(self, raw, chunk_bytes=65535):
        """The mark that the daemon puts into a message that a mail server hands over as it is, the body in chunks."""
        lines, body = header_and_body(raw)
        with closing(MilterConnection(self.daemon.address)) as connection:
            connection.put(NEGOTIATION)
            command, options = connection.frame()
            assert command == b"O" and struct.unpack(">III", options[:12])[2] & LEADING_SPACE
            connection.put(b"".join([
                CONNECTION_STEPS, frame(b"M", f"<{STRANGER}>".encode() + b"\x00"), frame(b"R", b"<user@example.net>\x00"),
                lines, frame(b"N"),
                *(frame(b"B", body[at:at + chunk_bytes]) for at in range(0, len(body), chunk_bytes)),
                frame(b"D", b"Ei\x004XyZ1\x00"), frame(b"E"), QUIT]))
            [mark] = [content for command, content in iter(connection.frame, None) if command == b"i"]
        return mark[4:].split(b"\x00")[1].decode().strip()


@pytest.fixture(scope="module")
def world():
    with ExitStack() as stack:
        yield World(stack, stack.enter_context(temporary_folder("raw-signed")))


def is_delivered(mark):
    return mark.startswith("deliver; ") and "; authentication=dkim" in mark


BODIES = {
    "a line": b"Hello.\r\n",
    "several lines": b"Hello.\r\n\r\nYours\r\n",
    "spaces at the end": b"Hello. \t \r\n",
    "8 bits": "Grüße\r\n".encode(),
    "a dot": b".\r\n",
}


@pytest.mark.parametrize("body_form", [SIMPLE, RELAXED], ids=bytes.decode)
@pytest.mark.parametrize("header_form", [SIMPLE, RELAXED], ids=bytes.decode)
def test_a_body_without_a_line_end_at_its_end_is_verified_as_with_one(world, header_form, body_form):
    for name, body in BODIES.items():
        raw = RSA.sign(content(LISTED, body=body), canonicalization=(header_form, body_form))
        cut = raw.removesuffix(b"\r\n")
        for message in (raw, cut):
            assert is_delivered(world.explained(message)), (name, message)
            assert is_delivered(world.decided(message)), (name, message)
            assert is_delivered(world.decided(message, chunk_bytes=1)), (name, message)
        # Something else at the end is not forgiven.
        for end in (b"!", b"\r\nx", b"\r\n\r\nx"):
            assert "; dkim=body-changed" in world.explained(cut + end), (name, end)
            assert "; dkim=body-changed" in world.decided(cut + end), (name, end)


@pytest.mark.parametrize("body_form", [SIMPLE, RELAXED], ids=bytes.decode)
def test_an_empty_body_is_verified(world, body_form):
    raw = RSA.sign(content(LISTED, body=b""), canonicalization=(RELAXED, body_form))
    # The last two end with the header: a file may have no blank line, too.
    for message in (raw, raw + b"\r\n", raw + b"\r\n\r\n", raw.removesuffix(b"\r\n"), raw.removesuffix(b"\r\n\r\n")):
        assert is_delivered(world.explained(message)), message
    for message in (raw, raw + b"\r\n", raw + b"\r\n\r\n"):
        assert is_delivered(world.decided(message)), message
    for message in (raw + b"x", raw + b"x\r\n"):
        assert "; dkim=body-changed" in world.explained(message), message
        assert "; dkim=body-changed" in world.decided(message), message


# Others: dkim_cases.py.
ODD_BUT_VALID = {
    # python3-dkim folds at a space, after it has hashed the field.
    "a tab before the equals sign, to the letter": RSA.sign(
        content(LISTED), space=b"\t", canonicalization=(SIMPLE, SIMPLE)),
    "a quoted local part with a space": RSA.sign(content(QUOTED)),
}


def test_odd_signatures_that_are_valid_are_verified(world):
    for name, raw in ODD_BUT_VALID.items():
        assert is_delivered(world.explained(raw)), (name, world.explained(raw))
        assert is_delivered(world.decided(raw)), (name, world.decided(raw))


def test_a_tab_in_a_quoted_local_part_makes_another_mailbox(world):
    raw = RSA.sign(content(QUOTED.replace(" ", "\t")))
    for mark in (world.explained(raw), world.decided(raw)):
        assert mark.startswith("check; "), mark
