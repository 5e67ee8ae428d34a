#!/usr/bin/env python3
"""Follows filter/FORMAT.md, and nothing else, to write and read filter files, and compares with the golden ones.

An implementation of its own: where it and the library agree, the page describes the format.
"""
import bisect
import math
import pathlib
import struct
import unittest

import xxhash

GOLDEN = pathlib.Path(__file__).parent
MULTIPLIER = 0xF1357AEA2E62A9C5
MASK = 2**64 - 1
HEADER = struct.Struct("<8sIIIIIIQQIIQQIIQQQQQQ")
STORE_HEADER = struct.Struct("<8sIIIII12xQIIQ8xII48x")
FIELDS = (
    "magic version header_bytes layout hash_family hashes block_bytes block_count seed flags tag_separators"
    " expected_entries bits_set chunk_bytes section_count store_identity strangers stranger_entries strangers_by_domain"
    " store_seed saturated"
).split()
SECTION = struct.Struct("<IIQQQQ24x")
SECTION_TABLE = 128
BITS, DOMAINS, EXCLUDED, PAGES, INDEX, STORED_DOMAINS = 1, 2, 3, 4, 5, 6
SEPARATORS = "!#$%&'*+-/=?^_`{|}~"


PAGE, LINE, CLASSIC, PARTITIONED, RIBBON, COUNTING = 1, 2, 3, 4, 5, 6
XXH3, MURMUR3, FNV1A_MURMUR3 = 1, 2, 3


def rotate_left(x, n):
    return (x << n | x >> 64 - n) & MASK


def fnv1a(key, seed):
    h = 0xCBF29CE484222325 ^ seed
    for byte in key:
        h = (h ^ byte) * 0x100000001B3 & MASK
    return h


def finish(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def murmur3(key, seed):
    def stir_a(x):
        return rotate_left(x * 0x87C37B91114253D5 & MASK, 31) * 0x4CF5AD432745937F & MASK

    def stir_b(x):
        return rotate_left(x * 0x4CF5AD432745937F & MASK, 33) * 0x87C37B91114253D5 & MASK

    a = b = seed
    whole = len(key) // 16 * 16
    for at in range(0, whole, 16):
        first, second = struct.unpack_from("<QQ", key, at)
        a = ((rotate_left(a ^ stir_a(first), 27) + b) * 5 + 0x52DCE729) & MASK
        b = ((rotate_left(b ^ stir_b(second), 31) + a) * 5 + 0x38495AB5) & MASK
    first, second = struct.unpack("<QQ", key[whole:].ljust(16, b"\0"))
    a ^= stir_a(first) ^ len(key)
    b ^= stir_b(second) ^ len(key)
    a = (a + b) & MASK
    b = (b + a) & MASK
    a, b = finish(a), finish(b)
    a = (a + b) & MASK
    return a, (b + a) & MASK


def hash_pair(family, key, seed):
    if family == XXH3:
        both = xxhash.xxh3_128_intdigest(key, seed=seed)
        return both & MASK, both >> 64
    if family == MURMUR3:
        return murmur3(key, seed)
    return fnv1a(key, seed), murmur3(key, seed)[0]


def hash_of(family, key, seed):
    if family == XXH3:
        return xxhash.xxh3_64_intdigest(key, seed=seed)
    a, b = hash_pair(family, key, seed)
    return a if family == MURMUR3 else (a + b) & MASK


def multiply_high(a, b):
    return a * b >> 64


def mix(x, seed):
    return x ^ xxhash.xxh3_64_intdigest(struct.pack("<I", x >> 32), seed=seed) % 2**32


def address_hash(family, key, seed, store_seed):
    """`store_seed` is None in a filter that is not made from a store."""
    return hash_of(family, key, seed) if store_seed is None else mix(hash_of(family, key, store_seed), seed)


def probes(key, shape, store_seed=None):
    layout, family, hashes, block_bytes, block_count, seed = shape
    if layout in (PAGE, LINE, COUNTING):
        block_bits = 8 * block_bytes
        x = address_hash(family, key, seed, store_seed)
        block = multiply_high(x, block_count)
        for _ in range(hashes):
            x = x * MULTIPLIER & MASK
            yield block * block_bits + multiply_high(x, block_bits)
        return
    x, step = hash_pair(family, key, seed)
    for i in range(hashes):
        x = (x + step) & MASK
        if layout == CLASSIC:
            yield multiply_high(x, 64 * block_count)
        else:
            yield i * 64 * block_count + multiply_high(x - x % 32, 64 * block_count)


class RibbonGroups:
    def __init__(self, count):
        self.count, self.columns, self.wide = count, 511 // count, 511 % count

    def columns_of(self, i):
        return self.columns + (i < self.wide)

    def word(self, i, column):
        return 1 + i * self.columns + min(i, self.wide) + column

    def row(self, x):
        """Where the row of a place starts, and its coefficients: bit s is that of slot s."""
        starts = 64 * (self.count - 2)
        start = min(multiply_high(x, starts + 32), starts - 1)
        y = finish(x) * MULTIPLIER & MASK
        return start, ((y ^ y >> 32) << 64 | finish(x) | 1) << start


def place_rows(rows, slots, allow_crowded):
    """The row that begins in each slot that has one; None if they are crowded."""
    rows = sorted(rows, reverse=True)
    taken, open_rows = {}, []
    for slot in range(slots):
        if slot > 0 and slot % 64 == 0 and not allow_crowded and len(open_rows) > min(96, slots - slot - 24):
            return None
        while rows and rows[-1][0] == slot:
            open_rows.append(rows.pop()[1])
        having = [row for row in open_rows if row >> slot & 1]
        if having:
            taken[slot] = having[0]
            added = [row ^ having[0] for row in having[1:]]
            open_rows = [row for row in open_rows if not row >> slot & 1] + [row for row in added if row]
    return taken


def ribbon_random(x):
    x = (x + 1) * 0x9E3779B97F4A7C15 & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def ribbon_block(hashes, salt):
    places = {x * MULTIPLIER & MASK for x in hashes}
    if not places:
        return bytes(4096)
    count = next(g for g in range(16, 513) if len(places) <= 64 * g * 1024 // 1050 or g == 512)
    if count == 512:
        return struct.pack("<Q", len(places) << 16 | 511).ljust(4096, b"\0")
    last = min(count + 7, 511)
    while True:
        groups = RibbonGroups(count)
        rows = [groups.row(x) for x in places]
        taken = place_rows(rows, 64 * count, count == last)
        taken_wide = {}
        if groups.wide >= 3:
            early = [row for row in rows if row[0] < 64 * (groups.wide - 2)]
            taken_wide = place_rows(early, 64 * groups.wide, count == last)
        if taken is not None and taken_wide is not None:
            break
        count += 1
    words = [0] * 512
    words[0] = len(places) << 16 | count

    def choose(column, slots, beginning):
        bits = 0
        for slot in range(slots - 1, -1, -1):
            if slot in beginning:
                bit = (beginning[slot] & bits).bit_count() & 1
            else:
                word = groups.word(slot // 64, column)
                bit = ribbon_random((salt + word - 1) & MASK) >> slot % 64 & 1
            bits |= bit << slot
        for i in range(slots // 64):
            words[groups.word(i, column)] = bits >> 64 * i & MASK

    for column in range(groups.columns):
        choose(column, 64 * count, taken)
    if groups.wide >= 3:
        choose(groups.columns, 64 * groups.wide, taken_wide)
    return struct.pack("<512Q", *words)


def ribbon_body(hashes, block_count, seed):
    blocks = [[] for _ in range(block_count)]
    for x in hashes:
        blocks[multiply_high(x, block_count)].append(x)
    return b"".join(ribbon_block(block, (seed * MULTIPLIER + 512 * i) & MASK) for i, block in enumerate(blocks))


def ribbon_test(body, block_count, x):
    words = struct.unpack_from("<512Q", body, 4096 * multiply_high(x, block_count))
    if not 16 <= words[0] & 0xFFFF <= 511:
        return False
    groups = RibbonGroups(words[0] & 0xFFFF)
    start, row = groups.row(x * MULTIPLIER & MASK)
    first = start // 64
    for column in range(groups.columns_of(first + 2)):
        ones = sum((words[groups.word(i, column)] & row >> 64 * i & MASK).bit_count() for i in range(first, first + 3))
        if ones % 2:
            return False
    return True


def place_sections(sections):
    """The section table, and all that follows the header."""
    entries, content = b"", b""
    for kind, items, data in sections:
        content += bytes(-len(content) % 4096)
        table = b"".join(
            struct.pack("<Q", xxhash.xxh3_64_intdigest(data[at : at + 2**20])) for at in range(0, len(data), 2**20)
        )
        entries += SECTION.pack(kind, 0, 4096 + len(content), len(data), items, xxhash.xxh3_64_intdigest(table))
        content += data + table
    return entries, content


def values(key, shape, store_seed):
    layout, family, hashes, _, _, seed = shape
    if layout not in (CLASSIC, PARTITIONED):
        return [address_hash(family, key, seed, store_seed)]
    first, step = hash_pair(family, key, seed)
    numbers = [(first + (i + 1) * step) & MASK for i in range(hashes)]
    if layout == CLASSIC:
        return numbers
    width = (hashes - 1).bit_length()
    return [(i << 64 - width) + (x >> width) for i, x in enumerate(numbers)]


def has_bits(body, key, shape, store_seed):
    if shape[0] == COUNTING:
        return all(body[p // 2] >> p % 2 * 4 & 15 for p in probes(key, shape, None))
    if shape[0] == RIBBON:
        return ribbon_test(body, shape[4], address_hash(shape[1], key, shape[5], store_seed))
    return all(body[p // 8] >> p % 8 & 1 for p in probes(key, shape, store_seed))


def counting_body(addresses, shape):
    """Counters of four bits for the probes of the layout page; each key counts once."""
    counters = bytearray(2 * shape[3] * shape[4] * 4)
    for key in set(addresses):
        for p in probes(key, shape, None):
            counters[p] = min(counters[p] + 1, 15)
    return bytes(low | high << 4 for low, high in zip(counters[::2], counters[1::2]))


def counters_of(body):
    return [half for byte in body for half in (byte & 15, byte >> 4)]


def export(image):
    """The filter of a counting one, as a file."""
    fields = dict(zip(FIELDS, HEADER.unpack_from(image)))
    fields.update(layout=PAGE, saturated=0)
    bits, *others = [SECTION.unpack_from(image, SECTION_TABLE + 64 * i) for i in range(fields["section_count"])]
    used = [count > 0 for count in counters_of(image[bits[2] : bits[2] + bits[3]])]
    body = bytes(sum(bit << i for i, bit in enumerate(used[at : at + 8])) for at in range(0, len(used), 8))
    sections = [(BITS, bits[4], body)] + [(kind, items, image[at : at + size]) for kind, _, at, size, items, _ in others]
    entries, content = place_sections(sections)
    header = (HEADER.pack(*fields.values()).ljust(SECTION_TABLE, b"\0") + entries).ljust(4088, b"\0")
    return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(header)) + content


def levels_of(key):
    """The domain entries that could list an address, the most specific one first."""
    domain = key[key.rindex(b"@") + 1 :]
    levels = [domain] if domain.startswith(b"[") else [domain.split(b".", i)[i] for i in range(domain.count(b".") + 1)]
    return [b"@" + domain] + [b"@." + level for level in levels]


def is_kept_exactly(key):
    """Whether an entry has a domain in place of an address: a pair may have it on either side."""
    return any(side.startswith(b"@") for side in key.split(b"\n"))


def forms_of(key):
    """One side of the pairs that could list an address, the most specific one first."""
    levels = levels_of(key)
    return [key] + [level for level in levels if level.startswith(b"@[") or level.lstrip(b"@.").count(b".") < 16]


def pairs_of(keys):
    """The field `pairs`, and flag bit 2."""
    pairs = [key for key in keys if b"\n" in key]
    exact = [key for key in pairs if is_kept_exactly(key)]
    return len(pairs) - len(exact), 4 if exact else 0


def known_strangers(addresses, domains, strangers, body, shape, store_seed):
    """The section `excluded`, and the three numbers of the header."""
    of_entries = {value for key in addresses for value in values(key, shape, store_seed)} if strangers else set()
    marks = {values(key, shape, store_seed)[0]: key for key in strangers}
    domain_seed = shape[5] if store_seed is None else store_seed
    others = {mark: key for mark, key in marks.items() if mark not in of_entries}
    by_domain = [key for key in others.values() if any(hash_of(shape[1], e, domain_seed) in domains for e in levels_of(key))]
    excluded = sorted(mark for mark, key in others.items() if has_bits(body, key, shape, store_seed))
    return excluded, (len(marks), len(marks) - len(others), len(by_domain))


def build(keys, seed, layout=PAGE, family=XXH3, hashes=6, bits_per_entry=8, block_bytes=None, expected_entries=None, flags=0,
          separators="", store_identity=0, strangers=(), store_seed=None):  # fmt: skip
    addresses = [key for key in keys if not is_kept_exactly(key)]
    key_seed = seed if store_seed is None else store_seed
    domains = sorted({hash_of(family, key, key_seed) for key in keys if is_kept_exactly(key)})
    pairs, pair_flag = pairs_of(keys)
    flags |= pair_flag
    expected = expected_entries or max(1, len(addresses))
    block_bytes = block_bytes or {LINE: 64, CLASSIC: 8, PARTITIONED: 8 * hashes}.get(layout, 4096)
    block_count = max(1, math.ceil(expected * bits_per_entry / (8 * block_bytes)))
    body = bytearray(block_count * block_bytes)
    if layout == RIBBON:
        body = ribbon_body([address_hash(family, key, seed, store_seed) for key in addresses], block_count, seed)
    shape = (layout, family, hashes, block_bytes, block_count, seed)
    if layout == COUNTING:
        body = counting_body(addresses, shape)
    for key in addresses if layout not in (RIBBON, COUNTING) else []:
        for p in probes(key, shape, store_seed):
            body[p // 8] |= 1 << p % 8
    sections = [(BITS, len(set(addresses)) if layout == COUNTING else len(addresses), bytes(body))]
    counters = counters_of(body) if layout == COUNTING else []
    if domains:
        sections.append((DOMAINS, len(domains), struct.pack(f"<{len(domains)}Q", *domains)))
    excluded, counts = known_strangers(addresses, domains, set(strangers), bytes(body), shape, store_seed)
    if excluded:
        sections.append((EXCLUDED, len(excluded), struct.pack(f"<{len(excluded)}Q", *excluded)))
    entries, content = place_sections(sections)
    header = HEADER.pack(
        bytes.fromhex("89424C4D0D0A1A0A"), 1, 4096, layout, family, hashes, block_bytes, block_count, seed,
        flags if store_seed is None else flags | 2,
        sum(1 << SEPARATORS.index(character) for character in separators), expected,
        sum(map(bool, counters)) or sum(byte.bit_count() for byte in body), 2**20, len(sections), store_identity, *counts,
        store_seed or 0, counters.count(15),
    )  # fmt: skip
    header = header.ljust(SECTION_TABLE, b"\0") + entries
    header = header.ljust(4080, b"\0") + struct.pack("<Q", pairs)
    return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(header)) + content


def store_page(hashes, low_bits, number):
    bits = 0
    high_bits = (hashes[-1] - hashes[0] >> low_bits) + len(hashes)
    for i, x in enumerate(hashes):
        distance = x - hashes[0]
        bits |= 1 << (distance >> low_bits) + i
        bits |= distance % (1 << low_bits) << high_bits + i * low_bits
    page = struct.pack("<QII", hashes[0], len(hashes), high_bits) + bits.to_bytes(4072, "little")
    return page + struct.pack("<Q", xxhash.xxh3_64_intdigest(page, seed=number))


def build_store(keys, seed, family=XXH3):
    """The store of these keys, and its identity."""
    count = sum(not is_kept_exactly(key) for key in keys)
    addresses, domains = (
        sorted({hash_of(family, key, seed) for key in keys if is_kept_exactly(key) == is_domain}) for is_domain in (False, True)
    )
    low_bits = min(63, (2**64 // max(1, count)).bit_length() - 1)
    pages, index, at = b"", [], 0
    while at < len(addresses):
        end = at + 1
        while end < len(addresses) and (
            (end + 1 - at) * (low_bits + 1) + (addresses[end] - addresses[at] >> low_bits) <= 32576
        ):
            end += 1
        pages += store_page(addresses[at:end], low_bits, len(index))
        index.append(addresses[at])
        at = end
    sections = [(PAGES, len(addresses), pages), (INDEX, len(index), struct.pack(f"<{len(index)}Q", *index))] if index else []
    if domains:
        sections.append((STORED_DOMAINS, len(domains), struct.pack(f"<{len(domains)}Q", *domains)))
    entries, content = place_sections(sections)
    pairs, flags = pairs_of(keys)
    pairs = min(pairs, len(addresses))
    magic = bytes.fromhex("89424C530D0A1A0A")

    def header(identity):
        packed = STORE_HEADER.pack(magic, 1, 4096, 4096, family, low_bits, seed, flags, 0, identity, 2**20, len(sections))
        return (packed + entries).ljust(4080, b"\0") + struct.pack("<Q", pairs)

    identity = max(1, xxhash.xxh3_64_intdigest(header(0)))
    image = header(identity)
    return image + struct.pack("<Q", xxhash.xxh3_64_intdigest(image)) + content, identity


def parts_of(image):
    header = dict(zip(FIELDS, HEADER.unpack_from(image)))
    shape = tuple(header[name] for name in "layout hash_family hashes block_bytes block_count seed".split())
    sections = {}
    for i in range(header["section_count"]):
        kind, _, offset, size, items, _ = SECTION.unpack_from(image, SECTION_TABLE + 64 * i)
        sections[kind] = (items, image[offset : offset + size])
    return shape, header["store_seed"] if header["flags"] & 2 else None, sections


def find_in_bits(image, key):
    shape, store_seed, sections = parts_of(image)
    excluded = struct.unpack(f"<{sections[EXCLUDED][0]}Q", sections[EXCLUDED][1]) if EXCLUDED in sections else ()
    return has_bits(sections[BITS][1], key, shape, store_seed) and values(key, shape, store_seed)[0] not in excluded


def has_domain(image, key):
    """Whether the section `domains` has the key."""
    shape, store_seed, sections = parts_of(image)
    if DOMAINS not in sections:
        return False
    items, data = sections[DOMAINS]
    hashes = struct.unpack(f"<{items}Q", data)
    x = hash_of(shape[1], key, shape[5] if store_seed is None else store_seed)
    at = bisect.bisect_left(hashes, x)
    return at < items and hashes[at] == x


def find(image, key):
    """The entry by which the file lists an address, as FORMAT.md says it; None where there is none."""
    if find_in_bits(image, key):
        return key
    return next((candidate for candidate in levels_of(key) if has_domain(image, candidate)), None)


def find_for(image, sender, recipient):
    """The entry by which the file lists a sender for a recipient; None where there is none."""
    if (entry := find(image, sender)) is not None:
        return entry
    header = dict(zip(FIELDS, HEADER.unpack_from(image)))
    if struct.unpack_from("<Q", image, 4080)[0] and find_in_bits(image, sender + b"\n" + recipient):
        return sender + b"\n" + recipient
    if not header["flags"] & 4:
        return None
    for a in forms_of(sender):
        for b in forms_of(recipient):
            if (a, b) != (sender, recipient) and has_domain(image, a + b"\n" + b):
                return a + b"\n" + b
    return None


def untagged(content, separators):
    lower = content.lower()
    if lower in ("mailer-daemon", "double-bounce"):
        return content
    if "-" in separators and (lower.startswith("owner-") or lower[1:].endswith("-request")):
        return content
    for i, character in enumerate(content):
        if i > 0 and character in separators:
            return content[:i]
    return content


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

    def test_many(self):
        keys = [f"user{i}@example.org".encode() for i in range(50_000)]
        # The same number stands in tests/filter/file/golden_test.cpp.
        self.assertEqual(xxhash.xxh3_64_intdigest(build(keys, seed=7)), 0x870AC23943F0752F)

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
                0x7E738544DD0AC392, 0x5866EDB79F38A617, 0x0FDD61D26B865611,
                0xBB39C150FFB053BF, 0xB08A514F847322CF, 0xD2FA93A8DFB0E88C,
                0x16D30E65BFD15C22, 0xCBA1AE473C0C8D68, 0xB330BD85F75F90D7,
                0x3786FBF538D15060, 0xF43950E83608FC11, 0x5AD4361963657644,
                0x138BB13A1408DB82, 0x5539C1D9097DE9AB, 0xADE57FCA4667C7D9,
                0xD289487E85EE5FFA, 0x3C14A28DCC602174, 0x7B5FAB2AF1E097C5,
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
        self.assertEqual(xxhash.xxh3_64_intdigest(build_store(keys, seed=7)[0]), 0x68443684442B02A2)

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
                0x8B2D82227076DAF2, 0x348499676350144D, 0xA825EB684F300D61,
                0xFA1F2EF0F4C111BB, 0x2860EF466D4125A7,
            ],
        )

    def test_header_table(self):
        header = dict(zip(FIELDS, HEADER.unpack_from(self.golden("addresses"))))
        self.assertEqual((HEADER.size, STORE_HEADER.size, SECTION.size), (128, 128, 64))
        self.assertEqual((header["seed"], header["section_count"], header["block_count"]), (42, 1, 1))


if __name__ == "__main__":
    unittest.main()
