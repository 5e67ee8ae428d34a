#!/usr/bin/env python3
"""Follows filter/FORMAT.md, and nothing else, to write and read filter files, and compares with the golden ones.

An implementation of its own: where it and the library agree, the page describes the format.
"""
import math
import pathlib
import struct
import unittest

import xxhash

GOLDEN = pathlib.Path(__file__).parent
MULTIPLIER = 0xF1357AEA2E62A9C5
MASK = 2**64 - 1
HEADER = struct.Struct("<8sIIIIIIQQIIQQQQ")
FIELDS = (
    "magic version header_bytes layout hash_family hashes block_bytes block_count seed flags chunk_bytes"
    " expected_entries entries bits_set table_checksum"
).split()


def probes(key, seed, hashes, block_count):
    h = xxhash.xxh3_64_intdigest(key, seed=seed)
    block = h * block_count >> 64
    x = h
    for _ in range(hashes):
        x = x * MULTIPLIER & MASK
        yield block * 32768 + (x >> 49)


def build(keys, seed, hashes=6, bits_per_entry=8, expected_entries=None, flags=0):
    expected = expected_entries or len(keys)
    block_count = max(1, math.ceil(expected * bits_per_entry / 32768))
    body = bytearray(block_count * 4096)
    for key in keys:
        for p in probes(key, seed, hashes, block_count):
            body[p // 8] |= 1 << p % 8
    chunks = [body[at : at + 2**20] for at in range(0, len(body), 2**20)]
    table = b"".join(struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(chunk))) for chunk in chunks)
    ones = sum(byte.bit_count() for byte in body)
    header = HEADER.pack(
        bytes.fromhex("89424C4D0D0A1A0A"), 1, 4096, 1, 1, hashes, 4096, block_count, seed, flags, 2**20,
        expected, len(keys), ones, xxhash.xxh3_64_intdigest(table),
    )  # fmt: skip
    header += bytes(4088 - len(header))
    return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(header)) + bytes(body) + table


class FormatTest(unittest.TestCase):
    def golden(self, name):
        return (GOLDEN / f"{name}.bloom").read_bytes()

    def test_addresses(self):
        keys = [
            "joe@example.org",
            "ann.smith@example.net",
            "news+list@mail.example.com",
            '"quoted string"@example.org',
            "needless.quotes@example.org",
            "info@xn--mller-kva.example",
            "info@xn--mller-kva.example",
            "jürgen@example.de",
            "root@[192.0.2.1]",
            "root@[ipv6:2001:db8::1]",
            "trailing.dot@example.org",
        ]
        self.assertEqual(build([key.encode() for key in keys], seed=42), self.golden("addresses"))

    def test_domains(self):
        keys = [b"joe@example.org", b"@example.net", b"@.example.com", b"@.xn--strae-oqa.example"]
        built = build(keys, seed=0x0123456789ABCDEF, hashes=11, bits_per_entry=16, flags=0b110)
        self.assertEqual(built, self.golden("domains"))

    def test_keep_case(self):
        keys = ["Joe@example.org", "JÜRGEN@example.de", '"Quoted Case"@example.org']
        built = build([key.encode() for key in keys], seed=1, expected_entries=5000, flags=0b001)
        self.assertEqual(built, self.golden("keep-case"))

    def test_many(self):
        keys = [f"user{i}@example.org".encode() for i in range(50_000)]
        # The same number stands in tests/filter/golden_test.cpp.
        self.assertEqual(xxhash.xxh3_64_intdigest(build(keys, seed=7)), 0x88FFAF7D39FA6810)

    def test_header_table(self):
        header = dict(zip(FIELDS, HEADER.unpack_from(self.golden("addresses"))))
        self.assertEqual(HEADER.size, 88)
        self.assertEqual((header["seed"], header["entries"], header["block_count"]), (42, 11, 1))


if __name__ == "__main__":
    unittest.main()
