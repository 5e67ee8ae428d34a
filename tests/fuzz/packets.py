"""Sessions of the milter protocol by its grammar, and what may be done to them. Used by milter_client.py."""

import struct

from raw_connection import CONNECTION_STEPS, NEGOTIATION, QUIT, frame

LISTED = b"listed@example.org"
COMMANDS = b"ABCDEHKLMNOQRTU"
# Those that a mail server may send macros for.
STAGES = b"CHMRTNE"
MACROS = (b"j", b"{daemon_name}", b"i", b"{auth_authen}", b"{auth_type}", b"{mail_addr}", b"{rcpt_addr}", b"_", b"{i}")
VALUES = (b"mx.example.net", b"ORIGINATING", b"4XyZ1", b"ann@example.net", b"", b"x" * 300, b"\xff\x01\r\n")
ADDRESSES = (LISTED, b"unlisted@example.org", b"any@listed.example", b"ann@example.net", b"", b"@", b"a" * 400 + b"@b",
             b'"a b"@example.org', b"x@" + b"d." * 120 + b"example")
FIELDS = (b"From", b"To", b"Subject", b"DKIM-Signature", b"Authentication-Results", b"X-Bloomgate", b"Received", b"Date",
          b"Content-Type", b"Reply-To", b"Auto-Submitted", b"", b"X" * 2000)
FIELD_VALUES = (b"Listed <" + LISTED + b">", LISTED, b"ann@example.net, bob@example.net", b"deliver; reason=listed",
                b"v=1; a=rsa-sha256; c=relaxed/simple; d=example.org; s=test;\n\th=From:To;\n\tbh=Zm9v; b=" + b"Z" * 344,
                b"v=1; a=ed25519-sha256; d=example.org; s=test; h=from; l=99999999999; bh=; b=", b"",
                b"mx.example.net; dkim=pass header.d=example.org", b"multipart/mixed; boundary=b", b"y" * 60000, b"\x00\xff")
CLIENTS = (b"client.example\x004" + struct.pack(">H", 25) + b"192.0.2.1\x00",
           b"client.example\x006" + struct.pack(">H", 25) + b"IPv6:2001:db8::1\x00", b"localhost\x00U",
           b"localhost\x00L\x00\x00/run/socket\x00", b"client.example\x004\x00\x00no address\x00", b"x\x00X\x00\x00y\x00",
           b"\x00")
LENGTHS = (0, 1, 2, 5, 65535, 65536, 65537, 1 << 20, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
LONGEST_FLOOD = 3000


def session_of(raw, sender):
    """The writes of a well-formed session with one message. The first one is answered."""
    header, _, body = raw.partition(b"\r\n\r\n")
    fields = [field.partition(b":") for field in header.replace(b"\r\n\t", b"\n\t").replace(b"\r\n ", b"\n ").split(b"\r\n")]
    return [NEGOTIATION, CONNECTION_STEPS, frame(b"D", b"Mi\x004XyZ1\x00") + frame(b"M", b"<" + sender + b">\x00"),
            frame(b"R", b"<user@example.net>\x00"),
            *(frame(b"L", name + b"\x00" + value + b"\x00") for name, _, value in fields), frame(b"N"), frame(b"B", body),
            frame(b"D", b"Ei\x004XyZ1\x00"), frame(b"E"), QUIT]


class Grammar:
    """chooser: a random.Random, on which alone all depends. signed: a message with a valid signature of LISTED."""

    def __init__(self, chooser, signed):
        self._chooser = chooser
        self._signed = signed

    def writes(self):
        """A session as [bytes or None, seconds to wait first]."""
        choose = self._chooser
        if choose.random() < 0.1:
            packets = self._session() + self._session()  # the second one negotiates anew in the midst of the first
        else:
            packets = self._session()
        for _ in range(choose.choice((0, 1, 1, 2, 3, 6))):
            packets = self._mutated(packets)
        stream = b"".join(packets)
        if choose.random() < 0.3:
            stream = stream[:choose.randrange(len(stream) + 1)]  # cut in the midst
        pieces = self._pieces(packets, stream)
        slow = choose.random() < 0.03
        writes = [(piece, choose.random() / 50 if slow and at < 50 else 0) for at, piece in enumerate(pieces)]
        return writes + ([(None, 0)] if choose.random() < 0.2 else [])

    def _pieces(self, packets, stream):
        kind = self._chooser.randrange(4)
        if kind == 0 or not stream:
            return [stream]
        if kind == 1:
            return packets
        cuts = sorted(self._chooser.randrange(len(stream)) for _ in range(self._chooser.randrange(1, 12)))
        return [stream[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(stream)])]

    def _session(self):
        choose = self._chooser
        packets = [self._negotiation()] if choose.random() < 0.95 else []
        for _ in range(choose.choice((1, 1, 1, 2, 3))):
            client = choose.choice(CLIENTS) if choose.random() < 0.3 else CLIENTS[0]
            packets += self._some_macros(b"C") + [frame(b"C", client)]
            packets += self._some_macros(b"H") + [frame(b"H", choose.choice((b"client.example\x00", b"\x00", b"no end")))]
            for _ in range(choose.choice((0, 1, 1, 1, 2, 3))):
                packets += self._message()
            packets.append(choose.choice((QUIT, frame(b"K"), frame(b"K"))))
        return packets

    def _negotiation(self):
        choose = self._chooser
        if choose.random() < 0.6:
            return NEGOTIATION
        version = choose.choice((0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 0xFFFFFFFF))
        actions = choose.choice((0, 0x1FF, 0x3F, choose.getrandbits(32), 0xFFFFFFFF))
        steps = choose.choice((0, 0x7F, 0x1FFFFF, 0x1FFFFF & ~(1 << choose.randrange(21)), choose.getrandbits(32), 0xFFFFFFFF))
        return frame(b"O", struct.pack(">III", version, actions, steps) + choose.choice((b"", b"", b"\x00" * 7)))

    def _some_macros(self, stage):
        return [self._macros(stage) for _ in range(self._chooser.choice((0, 0, 1, 1, 1, 2)))]

    def _macros(self, stage=None):
        choose = self._chooser
        stage = stage or bytes([choose.choice(STAGES + COMMANDS + b"\x00\xff")])
        parts = [part for _ in range(choose.choice((0, 1, 2, 2, 3, 5, 40)))
                 for part in (choose.choice(MACROS), choose.choice(VALUES))]
        if parts and choose.random() < 0.3:
            parts.pop(choose.randrange(len(parts)))  # a name without its value, or a value without its name
        content = b"".join(part + b"\x00" for part in parts)
        return frame(b"D", stage + (content[:-1] if choose.random() < 0.1 else content))

    def _message(self):
        choose = self._chooser
        packets = self._some_macros(b"M")
        sender = choose.choice(ADDRESSES)
        packets.append(frame(b"M", b"<" + sender + b">\x00" + choose.choice((b"", b"SIZE=100\x00BODY=8BITMIME\x00"))))
        for _ in range(choose.choice((0, 1, 1, 2, 30))):
            packets += self._some_macros(b"R") + [frame(b"R", b"<" + choose.choice(ADDRESSES) + b">\x00")]
        if choose.random() < 0.5:
            packets += self._some_macros(b"T") + [frame(b"T")]
        if choose.random() < 0.3:
            packets += session_of(self._signed, sender)[4:-3]
        else:
            fields = choose.choice((0, 3, 8, 8, 20, LONGEST_FLOOD if choose.random() < 0.05 else 8))
            packets += [frame(b"L", choose.choice(FIELDS) + b"\x00" + choose.choice(FIELD_VALUES) + b"\x00")
                        for _ in range(fields)]
            packets += self._some_macros(b"N") + [frame(b"N")]
            packets += [frame(b"B", choose.choice((b"Hello.\r\n", b"\x00", b"z" * 65535, b"--b\r\n\r\n")))
                        for _ in range(choose.choice((0, 1, 1, 2, 40 if choose.random() < 0.1 else 1)))]
        packets += self._some_macros(b"E") + [frame(b"E", choose.choice((b"", b"", b"the last of it\r\n")))]
        if choose.random() < 0.15:
            packets.insert(choose.randrange(len(packets) + 1), frame(b"A"))
        return packets

    def _mutated(self, packets):
        choose = self._chooser
        packets = list(packets)
        if not packets:
            return [self._any_packet()]
        at = choose.randrange(len(packets))
        packet = packets[at]
        kind = choose.randrange(14)
        if kind == 0:
            del packets[at]
        elif kind == 1:
            packets.insert(at, packet)
        elif kind == 2:
            other = choose.randrange(len(packets))
            packets[at], packets[other] = packets[other], packet
        elif kind == 3:
            packets[at:at] = [packet] * choose.randrange(2, 60)
        elif kind == 4:
            packets[at] = packet[:4] + bytes([choose.choice((*COMMANDS, choose.randrange(256)))]) + packet[5:]
        elif kind == 5:
            packets[at] = frame(packet[4:5], packet[5:5 + choose.randrange(len(packet) - 4)])
        elif kind == 6:
            packets[at] = frame(packet[4:5], packet[5:] + choose.randbytes(choose.choice((1, 2, 100, 5000))))
        elif kind == 7:
            packets[at] = frame(packet[4:5], packet[5:].replace(b"\x00", b"", choose.choice((1, -1))))
        elif kind == 8:
            where = choose.randrange(5, len(packet) + 1)
            packets[at] = frame(packet[4:5], packet[5:where] + b"\x00" * choose.choice((1, 2, 300)) + packet[where:])
        elif kind == 9:
            where = choose.randrange(len(packet))
            packets[at] = packet[:where] + bytes([packet[where] ^ 1 << choose.randrange(8)]) + packet[where + 1:]
        elif kind == 10:
            length = choose.choice((*LENGTHS, len(packet) - 5, len(packet) - 3))
            packets[at] = struct.pack(">I", length) + packet[4:]
        elif kind == 11:
            packets[at:at] = [self._any_packet() for _ in range(choose.choice((1, 1, 3, 20)))]
        elif kind == 12:
            packets[at:at] = [self._macros() for _ in range(choose.choice((1, 3, 20)))]
        else:
            packets = packets[at:] + packets[:at]
        return packets

    def _any_packet(self):
        choose = self._chooser
        content = choose.choice((b"", b"\x00", b"x\x00", b"x\x00y\x00", choose.randbytes(20)))
        return frame(bytes([choose.choice((*COMMANDS, choose.randrange(256)))]), content)
