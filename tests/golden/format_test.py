#!/usr/bin/python3
"""The golden files, and those that a reader must refuse, beside an implementation that follows filter/FORMAT.md alone."""

import datetime
import pathlib
import struct
import unittest

import xxhash
from format_from_page import (
    BadFile, CLASSIC, COUNTING, FIELDS, FNV1A_MURMUR3, HEADER, LINE, MURMUR3, PAGE, PARTITIONED, RIBBON, SECTION,
    STORE_HEADER, XXH3, build, build_store, check, content_of, export, find, find_for, find_list,
    find_with_signer, fnv1a, hash_of, mix, murmur3, sign, untagged, write_manifest,
)

GOLDEN = pathlib.Path(__file__).parent
BAD = GOLDEN.parent / "bad"


class FormatTest(unittest.TestCase):
    def golden(self, name):
        return (GOLDEN / f"{name}.bloom").read_bytes()

    addresses = [
        key.encode()
        for key in (
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
        )
    ]

    def test_addresses(self):
        self.assertEqual(build(self.addresses, seed=42), self.golden("addresses"))

    def test_layouts_and_hash_families(self):
        for name, options in {
            "page-8192": {"block_bytes": 8192},
            "line": {"layout": LINE},
            "line-256": {"layout": LINE, "block_bytes": 256, "hashes": 3},
            "classic": {"layout": CLASSIC},
            "partitioned": {"layout": PARTITIONED},
            "murmur3": {"family": MURMUR3},
            "fnv1a-murmur3": {"family": FNV1A_MURMUR3},
            "classic-murmur3": {"layout": CLASSIC, "family": MURMUR3, "bits_per_entry": 64, "hashes": 32},
            "partitioned-fnv1a-murmur3": {"layout": PARTITIONED, "family": FNV1A_MURMUR3, "hashes": 5},
        }.items():
            with self.subTest(name=name):
                self.assertEqual(build(self.addresses, seed=42, **options), self.golden(name))

    def test_hashes_have_their_published_values(self):
        self.assertEqual(fnv1a(b"foobar", 0), 0x85944171F73967E8)
        hashes = b"".join(struct.pack("<QQ", *murmur3(bytes(range(i)), 256 - i)) for i in range(256))
        self.assertEqual(murmur3(hashes, 0)[0] & 0xFFFFFFFF, 0x6384BA69)

    def test_domains(self):
        keys = [b"joe@example.org", b"@example.net", b"@.example.com", b"@.xn--strae-oqa.example"]
        built = build(keys, seed=0x0123456789ABCDEF, hashes=11, bits_per_entry=16)
        self.assertEqual(built, self.golden("domains"))

    def test_look_ups(self):
        image = self.golden("domains")
        for key, entry in {
            b"joe@example.org": b"joe@example.org",
            b"ann@example.org": None,
            b"ann@example.net": b"@example.net",
            b"ann@mail.example.net": None,
            b"ann@example.com": b"@.example.com",
            b"ann@a.b.c.example.com": b"@.example.com",
            b"ann@notexample.com": None,
            b"ann@[192.0.2.1]": None,
        }.items():
            with self.subTest(key=key):
                self.assertEqual(find(image, key), entry)
        self.assertEqual(find(self.golden("addresses"), b"root@[192.0.2.1]"), b"root@[192.0.2.1]")

    pairs = [
        b"joe@example.net", b"ann.smith@example.net", b"@partner.example", b"joe@example.org\nann@ours.example",
        b"joe@example.org\nann@ours.example", b'"a > b"@example.org\nbob@ours.example',
        b"@example.org\nann@ours.example", b"joe@example.org\n@ours.example",
        b"@.xn--mller-kva.example\n@.ours.example",
    ]  # fmt: skip

    def test_pairs(self):
        self.assertEqual(build(self.pairs, seed=42), self.golden("pairs"))
        store, identity = build_store(self.pairs, seed=42)
        self.assertEqual(store, (GOLDEN / "pairs.store").read_bytes())
        built = build(self.pairs, seed=7, store_seed=42, store_identity=identity)
        self.assertEqual(built, self.golden("stored-pairs"))

    def test_look_ups_of_pairs(self):
        ann, bob, jim = b"ann@ours.example", b"bob@ours.example", b"jim@mail.ours.example"
        deep = b"@" + b"a." * 100 + b"xn--mller-kva.example"
        for name in "pairs", "stored-pairs":
            image = self.golden(name)
            self.assertIsNone(find(image, b"joe@example.org"))
            for sender, recipient, entry in (
                (b"joe@example.net", ann, b"joe@example.net"),
                (b"jim@partner.example", jim, b"@partner.example"),
                (b"joe@example.org", ann, b"joe@example.org\n" + ann),
                (b"joe@example.org", bob, b"joe@example.org\n@ours.example"),
                (b"joe@example.org", jim, None),
                (b"jim@example.org", ann, b"@example.org\n" + ann),
                (b"jim@example.org", bob, None),
                (b"jim@mail.example.org", ann, None),
                (b'"a > b"@example.org', bob, b'"a > b"@example.org\n' + bob),
                (b"jim@a.xn--mller-kva.example", jim, b"@.xn--mller-kva.example\n@.ours.example"),
                (b"jim" + deep, jim, b"@.xn--mller-kva.example\n@.ours.example"),
                (ann, b"joe@example.org", None),
            ):
                with self.subTest(name=name, sender=sender, recipient=recipient):
                    self.assertEqual(find_for(image, sender, recipient), entry)

    lists = [
        b"joe@example.net", b"list:announce.lists.example.org", b"list:announce.lists.example.org",
        b"list:*.lists.example.org", b"list:xn--ankndigung-ceb.xn--mller-kva.example",
        b"list:announce.lists.example.org\nann@ours.example", b"list:*.example.com\n@.ours.example",
        b"billing@bank.example signed-by esp.example", b"billing@bank.example signed-by esp.example",
        b'"a signed-by b"@example.org', b'"a signed-by b"@example.org signed-by esp.example',
        b"@bank.example signed-by other.example", b"@.shop.example signed-by mg.xn--mller-kva.example",
        b"list:*.lists.example.net signed-by esp.example",
    ]  # fmt: skip

    def test_mailing_lists_and_signers(self):
        self.assertEqual(build(self.lists, seed=42), self.golden("lists"))
        store, identity = build_store(self.lists, seed=42)
        self.assertEqual(store, (GOLDEN / "lists.store").read_bytes())
        built = build(self.lists, seed=7, store_seed=42, store_identity=identity)
        self.assertEqual(built, self.golden("stored-lists"))

    def test_look_ups_of_mailing_lists(self):
        for name in "lists", "stored-lists":
            image = self.golden(name)
            for key, entry in {
                b"list:announce.lists.example.org": b"list:announce.lists.example.org",
                b"list:a.b.lists.example.org": b"list:*.lists.example.org",
                b"list:lists.example.org": None,
                b"list:a.example.com": None,
                b"list:a.lists.example.net": None,
                b"list:" + b"a." * 100 + b"lists.example.org": b"list:*.lists.example.org",
            }.items():
                with self.subTest(name=name, key=key):
                    self.assertEqual(find_list(image, key), entry)
            for sender, entry in {
                b"list:announce.lists.example.org": b"list:announce.lists.example.org",
                b"list:a.example.com": b"list:*.example.com\n@.ours.example",
                b"list:example.com": None,
            }.items():
                with self.subTest(name=name, sender=sender):
                    self.assertEqual(find_for(image, sender, b"ann@ours.example"), entry)

    def test_look_ups_with_a_signer(self):
        for name in "lists", "stored-lists":
            image = self.golden(name)
            self.assertIsNone(find(image, b"billing@bank.example"))
            for key, signer, by in (
                (b"billing@bank.example", b"esp.example", b"billing@bank.example"),
                (b"joe@bank.example", b"esp.example", None),
                (b"joe@bank.example", b"other.example", b"@bank.example"),
                (b"joe@mail.bank.example", b"other.example", None),
                (b"joe@a.b.shop.example", b"mg.xn--mller-kva.example", b"@.shop.example"),
                (b"joe@shop.example", b"xn--mller-kva.example", None),
                (b'"a signed-by b"@example.org', b"esp.example", b'"a signed-by b"@example.org'),
                (b"list:x.lists.example.net", b"esp.example", b"list:*.lists.example.net"),
                (b"list:x.lists.example.org", b"lists.example.org", None),
                (b"joe@example.net", b"example.net", None),
            ):
                with self.subTest(name=name, key=key, signer=signer):
                    self.assertEqual(find_with_signer(image, key, signer), by and by + b" signed-by " + signer)
        self.assertIsNone(find_with_signer(self.golden("pairs"), b"joe@bank.example", b"other.example"))

    def test_keep_case(self):
        keys = ["Joe@example.org", "JÜRGEN@example.de", '"Quoted Case"@example.org']
        built = build([key.encode() for key in keys], seed=1, expected_entries=5000, flags=0b001)
        self.assertEqual(built, self.golden("keep-case"))

    def test_tag_separators(self):
        # Each address once with quotes only where its content needs them, as the canonical key has them.
        contents = [
            ("joe", "example.org"), ("ann.smith+a+b", "example.org"), ("sales-2024", "example.org"),
            ("+plus+tag", "example.org"), ("jürgen+x", "example.de"), ("MAILER-DAEMON", "example.org"),
            ("owner-list", "lists.example"), ("list-request", "lists.example"),
            ("list-bounces+joe=example.org", "lists.example"),
        ]  # fmt: skip
        keys = [f"{untagged(content.lower(), '+-')}@{domain}" for content, domain in contents]
        keys += ['"quoted name"@example.org', '"ends."@example.org', "@corp-x.example"]
        built = build([key.encode() for key in keys], seed=1, separators="+-")
        self.assertEqual(built, self.golden("tag-separators"))

    def test_sender_domains(self):
        image = self.golden("sender-domains")
        self.assertEqual(build(self.addresses, seed=42, with_sender_domains=True), image)
        for key in self.addresses:
            self.assertEqual(find(image, key), key)
        store, identity = build_store(self.pairs, seed=42, with_sender_domains=True)
        self.assertEqual(store, (GOLDEN / "sender-domains.store").read_bytes())
        built = build(self.pairs, seed=7, store_seed=42, store_identity=identity, with_sender_domains=True)
        self.assertEqual(built, self.golden("stored-sender-domains"))
        self.assertEqual(build(self.lists, seed=42, with_sender_domains=True), self.golden("neighbours"))

    def test_many_sender_domains(self):
        keys = [f"user@d{i}.example".encode() for i in range(3_000)]
        image = build(keys, seed=7, with_sender_domains=True)
        # The same number stands in tests/filter/file/golden_test.cpp.
        self.assertEqual(xxhash.xxh3_64_intdigest(image), 0x26DF714F26AF23AB)
        without = build(keys, seed=7)
        strangers = [f"user{i}@other.example".encode() for i in range(300)]
        self.assertTrue(any(find(without, key) for key in strangers))
        self.assertFalse(any(find(image, key) for key in strangers))
        self.assertTrue(all(find(image, key) for key in keys[:50]))

    def test_many(self):
        keys = [f"user{i}@example.org".encode() for i in range(50_000)]
        # The same number stands in tests/filter/file/golden_test.cpp.
        self.assertEqual(xxhash.xxh3_64_intdigest(build(keys, seed=7)), 0x73A946E610E8D3EB)

    def test_many_in_every_layout_and_hash_family(self):
        keys = [f"user{i}@example.org".encode() for i in range(5_000)]
        checksums = [
            xxhash.xxh3_64_intdigest(build(keys, seed=7, layout=layout, family=family, hashes=1 if layout == RIBBON else 6))
            for layout in (PAGE, LINE, CLASSIC, PARTITIONED, RIBBON, COUNTING)
            for family in (XXH3, MURMUR3, FNV1A_MURMUR3)
        ]
        # The same numbers stand in tests/filter/file/golden_test.cpp.
        self.assertEqual(
            checksums,
            [
                0x89C6CE7F8B33AC63, 0xC43B9A6FC4523AFC, 0xE4B4553CD857E5B0,
                0xF9D88DF1ADB68084, 0x2AC5CDE1DDB91726, 0x94B3E6D86FBD7E17,
                0xF4D6611D6174DD3C, 0x00BAE5EDB1192E51, 0x0210DB470506EDFE,
                0xE6931B6B79F50997, 0x80D507A01A6EACE3, 0xF97ECE8D441AEA7F,
                0x3B35F95BBA05C3CE, 0x7A25A7DA253A04FD, 0xDDC7B02123538783,
                0x0A163D756FBA42B3, 0x2E9DD5FD47A7B411, 0x074DC5EFF58D432B,
            ],
        )

    def test_ribbon(self):
        image = self.golden("ribbon")
        self.assertEqual(build(self.addresses, seed=42, layout=RIBBON, hashes=1), image)
        self.assertEqual(struct.unpack_from("<Q", image, 4096)[0], 0xA0010)
        for key in self.addresses:
            self.assertEqual(find(image, key), key)
        self.assertIsNone(find(image, b"nobody@example.org"))

    def test_counting(self):
        image = self.golden("counting")
        self.assertEqual(build(self.addresses, seed=42, layout=COUNTING), image)
        for key in self.addresses:
            self.assertEqual(find(image, key), key)
        self.assertIsNone(find(image, b"nobody@example.org"))
        # Without its duplicate it is, to the byte, what a build of the layout page makes of the same list.
        self.assertEqual(export(image), build(sorted(set(self.addresses)), seed=42, expected_entries=11))

    def test_a_filter_and_its_store(self):
        keys = [b"joe@example.org", b"@example.net", b"@.example.com", b"@.xn--strae-oqa.example"]
        store, identity = build_store(keys, seed=42)
        self.assertEqual(store, (GOLDEN / "stored.store").read_bytes())
        self.assertEqual(build(keys, seed=7, store_seed=42, store_identity=identity), self.golden("stored"))
        self.assertEqual(mix(hash_of(XXH3, keys[0], 42), 7), 0x23ED5BF76C37C692)
        self.assertEqual(store[4096:4113].hex(), "b91baa3ef75bed23" "01000000" "01000000" "01")

    def test_a_large_store(self):
        keys = [f"user{i}@example.org".encode() for i in range(5_000)]
        # The same number stands in tests/filter/file/golden_test.cpp.
        self.assertEqual(xxhash.xxh3_64_intdigest(build_store(keys, seed=7)[0]), 0x5DD697FEBA8A26C9)

    def test_known_strangers(self):
        keys = self.addresses + [b"@mail.example"]
        strangers = [f"user{i}@{'mail.example' if i % 10 == 0 else 'example.org'}".encode() for i in range(100)]
        strangers += [b"joe@example.org", b"ann.smith@example.net"]
        image = self.golden("excluded")
        self.assertEqual(build(keys, seed=42, layout=LINE, hashes=1, strangers=strangers), image)
        self.assertEqual(find(image, b"joe@example.org"), b"joe@example.org")
        for key in strangers[:-2]:
            self.assertEqual(find(image, key), b"@mail.example" if key.endswith(b"@mail.example") else None)

    def test_known_strangers_in_every_layout(self):
        keys = [f"user{i}@example.org".encode() for i in range(5_000)]
        strangers = [f"user{i}@example.org".encode() for i in range(4_990, 6_000)]
        checksums = [
            xxhash.xxh3_64_intdigest(build(keys, 7, layout, XXH3, 1 if layout == RIBBON else 3, strangers=strangers))
            for layout in (PAGE, LINE, CLASSIC, PARTITIONED, RIBBON)
        ]
        # The same numbers stand in tests/filter/file/golden_test.cpp.
        self.assertEqual(
            checksums,
            [
                0x194CB5A22FB036EF, 0x677087316B1378FB, 0x07AF5E270063249E,
                0x0B3CD5D500442996, 0x8227558EDEC14A3E,
            ],
        )

    def test_every_golden_file_is_sound(self):
        files = sorted(GOLDEN.glob("*.bloom"))
        self.assertGreater(len(files), 15)
        for path in files:
            with self.subTest(name=path.name):
                check(path.read_bytes())

    def test_a_malformed_file_is_refused_with_its_code(self):
        expected = dict(line.split("\t") for line in (BAD / "expected.tsv").read_text(encoding="ascii").splitlines())
        self.assertEqual(sorted(expected), sorted(path.name for path in BAD.glob("*.bloom")))
        for name, code in expected.items():
            with self.subTest(name=name), self.assertRaises(BadFile) as refused:
                check((BAD / name).read_bytes())
            with self.subTest(name=name):
                self.assertEqual(refused.exception.code, code)

    # The first key pair of RFC 8032, section 7.1.
    secret = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")

    def test_a_signed_file(self):
        image = self.golden("signed")
        self.assertEqual(sign(self.golden("addresses"), self.secret), image)
        self.assertEqual(image[3936:3968], self.public)
        self.assertEqual(content_of(image), content_of(self.golden("addresses")))
        check(image, trusted=[self.public])
        for name, trusted in ("addresses", self.public), ("signed", self.secret):
            with self.subTest(name=name), self.assertRaises(BadFile) as refused:
                check(self.golden(name), trusted=[trusted])
            self.assertEqual(refused.exception.code, "bad_signature")

    def test_signed_files_are_taken_and_refused_without_a_key_and_with_one(self):
        lines = (BAD / "signed" / "expected.tsv").read_text(encoding="ascii").splitlines()
        expected = {name: codes for name, *codes in (line.split("\t") for line in lines)}
        self.assertEqual(sorted(expected), sorted(path.name for path in (BAD / "signed").glob("*.bloom")))
        for name, codes in expected.items():
            for want, trusted in zip(codes, ((), [self.public])):
                got = "sound"
                try:
                    check((BAD / "signed" / name).read_bytes(), trusted)
                except BadFile as refused:
                    got = refused.code
                with self.subTest(name=name, trusted=bool(trusted)):
                    self.assertEqual(got, want)

    def test_a_manifest(self):
        files = {name: (GOLDEN / name).read_bytes() for name in ("signed.bloom", "revoked")}
        made = datetime.datetime(2026, 11, 29, 4, 33)
        other = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        text = write_manifest("whitelist", 1795926780, made, made + datetime.timedelta(days=14), files, self.secret, other)
        self.assertEqual(text, (GOLDEN / "manifest").read_text())
        # The worked example of the page.
        example = "".join(f"    {line}\n" for line in text.splitlines())
        self.assertIn(example, (GOLDEN.parents[1] / "filter" / "FORMAT.md").read_text())

    def test_header_table(self):
        header = dict(zip(FIELDS, HEADER.unpack_from(self.golden("addresses"))))
        self.assertEqual((HEADER.size, STORE_HEADER.size, SECTION.size), (128, 128, 64))
        self.assertEqual((header["seed"], header["section_count"], header["block_count"]), (42, 1, 1))


if __name__ == "__main__":
    unittest.main()
