"""Filters and stores written, read and checked as filter/FORMAT.md says, and nothing else: an implementation of its own.

Where it and the library agree, the page describes the format. It is short, not fast.
"""

import base64
import bisect
import collections
import hashlib
import math
import struct

import xxhash
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

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
SIGNER, CONTENT, SIGNATURE, SIGNATURE_END = 3936, 3968, 4000, 4064
BITS, DOMAINS, EXCLUDED, PAGES, INDEX, STORED_DOMAINS, SENDER_DOMAINS, STORED_SENDER_DOMAINS = 1, 2, 3, 4, 5, 6, 7, 8
KEY_FORM = 1  # the fourth byte of the flags
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


def has_signer(key):
    """Whether it is the key of an entry with a signer: no `@` comes behind the last sign."""
    return b"\n" not in key and b" signed-by " in key[key.rfind(b"@") + 1 :]


def is_kept_exactly(key):
    """Whether an entry is not an address or a pair of two: it has a domain or a mailing list in place of one, or a signer."""
    return has_signer(key) or any(side.startswith((b"@", b"list:")) for side in key.split(b"\n"))


def forms_of(key):
    """The keys by which an address or a mailing list may be listed, the most specific one first."""
    if key.startswith(b"list:"):
        hosts = [key[5:].split(b".", i)[i] for i in range(1, key.count(b".") + 1)]
        return [key] + [b"list:*." + host for host in hosts if host.count(b".") < 16]
    levels = levels_of(key)
    return [key] + [level for level in levels if level.startswith(b"@[") or level.lstrip(b"@.").count(b".") < 16]


def pairs_and_flags_of(keys):
    """The field `pairs`, and flag bits 2 and 3."""
    pairs = [key for key in keys if b"\n" in key]
    exact = [key for key in pairs if is_kept_exactly(key)]
    return len(pairs) - len(exact), (4 if exact else 0) | (8 if any(map(has_signer, keys)) else 0)


def known_strangers(addresses, domains, strangers, body, shape, store_seed):
    """The section `excluded`, and the three numbers of the header."""
    of_entries = {value for key in addresses for value in values(key, shape, store_seed)} if strangers else set()
    marks = {values(key, shape, store_seed)[0]: key for key in strangers}
    domain_seed = shape[5] if store_seed is None else store_seed
    others = {mark: key for mark, key in marks.items() if mark not in of_entries}
    by_domain = [key for key in others.values() if any(hash_of(shape[1], e, domain_seed) in domains for e in levels_of(key))]
    excluded = sorted(mark for mark, key in others.items() if has_bits(body, key, shape, store_seed))
    return excluded, (len(marks), len(marks) - len(others), len(by_domain))


def sender_domain(key):
    sender = key.split(b"\n")[0]
    return sender[sender.rindex(b"@") :]


def neighbours(key):
    """What an entry of the section `domains` shares with its neighbours; None where there is nothing."""
    sender, pair, _ = key.partition(b"\n")
    if pair and sender.startswith(b"@"):
        return sender + pair
    if sender.startswith((b"@", b"list:*.")):
        return sender if pair else None
    if sender.startswith(b"list:"):
        return b"list:*." + sender.partition(b".")[2]
    return sender[sender.rindex(b"@") :]


def hashes_of_senders(family, keys, seed):
    """The hashes of which the section `sender-domains` has the numbers."""
    shared = (neighbours(key) if is_kept_exactly(key) else sender_domain(key) for key in keys)
    return {hash_of(family, key, seed) for key in shared if key is not None}


def sender_coding(count):
    """The number of buckets, and of low bits, of the section `sender-domains`."""
    buckets = 1 << max(count - 1, 0).bit_length()
    return buckets, 61 - buckets.bit_length()


def size_of_sender_domains(count):
    buckets, low_bits = sender_coding(count)
    return 8 * -(-(buckets + count * (low_bits + 1)) // 64) + 8 * -(-buckets // 256)


def sender_domains(numbers):
    numbers = sorted(set(numbers))
    buckets, low_bits = sender_coding(len(numbers))
    bits, table, done = "", [], 0  # the first bit first
    for first in range(0, buckets, 256):
        table.append(done)
        group = [number for number in numbers[done:] if number >> low_bits < first + 256]
        done += len(group)
        for bucket in range(first, min(first + 256, buckets)):
            domains = sum(number >> low_bits == bucket for number in group)
            assert domains <= 64, "the page has no coding of these domains"
            bits += "1" * domains + "0"
        bits += "".join(f"{number % 2**low_bits:0{low_bits}b}"[::-1] for number in group)
    bits += "0" * (-len(bits) % 64)
    return int(bits[::-1], 2).to_bytes(len(bits) // 8, "little") + struct.pack(f"<{len(table)}Q", *table)


def numbers_of(count, data):
    """The numbers of a section `sender-domains`; raises BadFile where it is not as the page has it."""
    buckets, low_bits = sender_coding(count)
    groups = -(-buckets // 256)
    table = [*struct.unpack_from(f"<{groups}Q", data, len(data) - 8 * groups), count]
    require(table[0] == 0 and all(a <= b for a, b in zip(table, table[1:])), "bad_section")
    stream, numbers = int.from_bytes(data[: -8 * groups], "little"), []
    require(stream >> buckets + count * (low_bits + 1) == 0, "bad_section")
    for group in range(groups):
        at = 256 * group + table[group] * (low_bits + 1)
        domains, unary = table[group + 1] - table[group], min(256, buckets) + table[group + 1] - table[group]
        bits = stream >> at & 2 ** (unary + domains * low_bits) - 1
        ones = [i for i in range(unary) if bits >> i & 1]
        require(len(ones) == domains and unary - 1 not in ones, "bad_section")
        require(all(n <= 64 for n in collections.Counter(one - i for i, one in enumerate(ones)).values()), "bad_section")
        for i, one in enumerate(ones):
            low = bits >> unary + i * low_bits & 2**low_bits - 1
            numbers.append(256 * group + one - i << low_bits | low)
    require(all(a < b for a, b in zip(numbers, numbers[1:])), "bad_section")
    return numbers


def build(keys, seed, layout=PAGE, family=XXH3, hashes=6, bits_per_entry=8, block_bytes=None, expected_entries=None, flags=0,
          separators="", store_identity=0, strangers=(), store_seed=None, with_sender_domains=False):  # fmt: skip
    addresses = [key for key in keys if not is_kept_exactly(key)]
    key_seed = seed if store_seed is None else store_seed
    domains = sorted({hash_of(family, key, key_seed) for key in keys if is_kept_exactly(key)})
    pairs, flags_of_keys = pairs_and_flags_of(keys)
    flags |= flags_of_keys
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
    if with_sender_domains:
        numbers = {each >> 4 for each in hashes_of_senders(family, keys, key_seed)}
        sections.append((SENDER_DOMAINS, len(numbers), sender_domains(numbers)))
    entries, content = place_sections(sections)
    header = HEADER.pack(
        bytes.fromhex("89424C4D0D0A1A0A"), 1, 4096, layout, family, hashes, block_bytes, block_count, seed,
        (flags if store_seed is None else flags | 2) | KEY_FORM << 24,
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


def build_store(keys, seed, family=XXH3, with_sender_domains=False):
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
    if with_sender_domains and (of_senders := sorted(hashes_of_senders(family, keys, seed))):
        sections.append((STORED_SENDER_DOMAINS, len(of_senders), struct.pack(f"<{len(of_senders)}Q", *of_senders)))
    entries, content = place_sections(sections)
    pairs, flags = pairs_and_flags_of(keys)
    pairs = min(pairs, len(addresses))
    magic = bytes.fromhex("89424C530D0A1A0A")

    def header(identity):
        packed = STORE_HEADER.pack(magic, 1, 4096, 4096, family, low_bits, seed, flags | KEY_FORM << 24, 0, identity, 2**20, len(sections))
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
    if SENDER_DOMAINS in sections:
        number = hash_of(shape[1], sender_domain(key), shape[5] if store_seed is None else store_seed) >> 4
        if number not in numbers_of(*sections[SENDER_DOMAINS]):
            return False
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


def find_list(image, mailing_list):
    """The entry by which the file lists a mailing list; None where there is none."""
    return next((form for form in forms_of(mailing_list) if has_domain(image, form)), None)


def find_with_signer(image, key, signer):
    """The entry by which the file lists an address or a mailing list with that signer; None where there is none."""
    if not dict(zip(FIELDS, HEADER.unpack_from(image)))["flags"] & 8:
        return None
    entries = [form + b" signed-by " + signer for form in forms_of(key)]
    return next((entry for entry in entries if has_domain(image, entry)), None)


def find_for(image, sender, recipient):
    """The entry by which the file lists a sender or a mailing list for a recipient; None where there is none."""
    is_list = sender.startswith(b"list:")
    if (entry := (find_list if is_list else find)(image, sender)) is not None:
        return entry
    header = dict(zip(FIELDS, HEADER.unpack_from(image)))
    if not is_list and struct.unpack_from("<Q", image, 4080)[0] and find_in_bits(image, sender + b"\n" + recipient):
        return sender + b"\n" + recipient
    if not header["flags"] & 4:
        return None
    for a in forms_of(sender):
        for b in forms_of(recipient):
            if (is_list or (a, b) != (sender, recipient)) and has_domain(image, a + b"\n" + b):
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


class BadFile(Exception):
    """What a reader refuses, with the code that tests/bad/expected.tsv gives it."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def require(holds, code):
    if not holds:
        raise BadFile(code)


def is_power_of_two(number, least, most):
    return least <= number <= most and number & number - 1 == 0


def blake2b(piece):
    return hashlib.blake2b(piece, digest_size=32).digest()


def content_of(image):
    return blake2b(b"".join(blake2b(image[at : at + 2**20]) for at in range(4096, len(image), 2**20)))


def signed_text(header):
    return b"bloomgate filter signature 1\n" + header[:SIGNATURE] + bytes(64) + header[SIGNATURE_END:4088] + bytes(8)


def sign(image, secret):
    key = Ed25519PrivateKey.from_private_bytes(secret)
    signer = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    header = image[:SIGNER] + signer + content_of(image) + bytes(64) + image[SIGNATURE_END:4088]
    header = header[:SIGNATURE] + key.sign(signed_text(header)) + header[SIGNATURE_END:]
    return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(header)) + image[4096:]


def check_signer(image, trusted):
    signer = image[SIGNER:CONTENT]
    require(signer in trusted, "bad_signature")
    try:
        Ed25519PublicKey.from_public_bytes(signer).verify(image[SIGNATURE:SIGNATURE_END], signed_text(image[:4096]))
    except InvalidSignature:
        raise BadFile("bad_signature") from None


def published(name, content):
    """What the manifest says of a file: its line."""
    is_filter = len(content) >= 4096 and content.startswith(bytes.fromhex("89424c4d0d0a1a0a"))
    digest = blake2b(content[:4096] if is_filter else content)
    return f"file {name} {len(content)} {digest.hex()}\n"


def write_manifest(name, number, made, holds_until, files, secret, next_key=None):
    """The times are datetimes in UTC, and the files are given as a dictionary of their contents."""
    key = Ed25519PrivateKey.from_private_bytes(secret)
    times = [time.strftime("%Y-%m-%dT%H:%M:%SZ") for time in (made, holds_until)]
    text = f"bloomgate-manifest 1\nlist {name}\nnumber {number}\nmade {times[0]}\nholds-until {times[1]}\n"
    text += "".join(published(name, files[name]) for name in sorted(files))
    if next_key:
        text += f"next-key {base64.b64encode(next_key).decode()}\n"
    signer = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    text += f"signer {base64.b64encode(signer).decode()}\n"
    return text + f"signature {base64.b64encode(key.sign(text.encode())).decode()}\n"


def check_signature_fields(image):
    fields = image[SIGNER:CONTENT], image[CONTENT:SIGNATURE], image[SIGNATURE:SIGNATURE_END]
    require(not any(map(any, fields)) or all(map(any, fields)), "bad_header_field")
    require(not any(image[SIGNATURE_END:4080]), "bad_header_field")


def check_shape(header):
    layout, hashes, block_bytes = header["layout"], header["hashes"], header["block_bytes"]
    require(PAGE <= layout <= COUNTING, "unsupported_layout")
    require(XXH3 <= header["hash_family"] <= FNV1A_MURMUR3, "unsupported_hash")
    require(1 <= hashes <= (1 if layout == RIBBON else 32), "bad_header_field")
    allowed = {
        PAGE: is_power_of_two(block_bytes, 4096, 2**20),
        LINE: is_power_of_two(block_bytes, 64, 512),
        CLASSIC: block_bytes == 8,
        PARTITIONED: block_bytes == 8 * hashes,
        RIBBON: block_bytes == 4096,
        COUNTING: is_power_of_two(block_bytes, 4096, 2**20),
    }
    require(allowed[layout] and header["block_count"] >= 1, "bad_header_field")
    # What is kept for a block of the layout counting is four times as long.
    array_bytes = block_bytes * header["block_count"] * (4 if layout == COUNTING else 1)
    require(array_bytes < 2**61, "size_overflow")
    return array_bytes


def check_header(header, pairs, sections, array_bytes):
    layout, flags, strangers = header["layout"], header["flags"], header["strangers"]
    items = {kind: count for kind, _, _, _, count, _, _ in sections}
    inserted, excluded = items[BITS], items.get(EXCLUDED, 0)
    units = 2 if layout == COUNTING else 8
    for holds in (
        header["header_bytes"] == 4096,
        flags & 0xFFFFF0 == 0,
        not flags & 2 or layout in (PAGE, LINE, RIBBON),
        not flags & 12 or DOMAINS in items,
        header["tag_separators"] >> len(SEPARATORS) == 0,
        header["expected_entries"] >= 1,
        header["bits_set"] <= units * array_bytes,
        header["bits_set"] <= inserted * (32768 if layout == RIBBON else header["hashes"]),
        header["chunk_bytes"] == 2**20,
        strangers >= excluded,
        strangers == 0 or layout != COUNTING,
        header["stranger_entries"] <= strangers - excluded,
        header["strangers_by_domain"] <= strangers - header["stranger_entries"],
        flags & 2 or header["store_seed"] == 0,
        header["saturated"] <= (header["bits_set"] if layout == COUNTING else 0),
        pairs <= inserted,
    ):
        require(holds, "bad_header_field")
    require(flags >> 24 == KEY_FORM, "unsupported_version")


def check_sections(sections, array_bytes):
    """That each is one that the page has, in its place. Returns where the file ends."""
    for kind, *_ in sections:
        require(kind in (BITS, DOMAINS, EXCLUDED, SENDER_DOMAINS), "unsupported_section")
    kinds = [kind for kind, *_ in sections]
    require(kinds == sorted(set(kinds)) and kinds[0] == BITS, "bad_header_field")
    end = 4096
    for kind, flags, offset, size, items, _, reserved in sections:
        require(flags == 0 and not any(reserved), "bad_header_field")
        require(kind != SENDER_DOMAINS or items <= 2**48, "bad_header_field")
        wanted = {BITS: array_bytes, SENDER_DOMAINS: size_of_sender_domains(items)}.get(kind, 8 * items)
        require(size == wanted and (kind in (BITS, SENDER_DOMAINS) or items >= 1), "bad_header_field")
        require(offset == -(-end // 4096) * 4096, "bad_header_field")
        end = offset + size + 8 * -(-size // 2**20)
        require(end < 2**63, "size_overflow")
    return end


def check_content(image, sections):
    end = 4096
    for _, _, offset, size, _, table_checksum, _ in sections:
        require(not any(image[end:offset]), "bad_section")
        end = offset + size + 8 * -(-size // 2**20)
        require(xxhash.xxh3_64_intdigest(image[offset + size : end]) == table_checksum, "bad_table_checksum")
    for kind, _, offset, size, items, _, _ in sections:
        table = struct.unpack_from(f"<{-(-size // 2**20)}Q", image, offset + size)
        for i, checksum in enumerate(table):
            chunk = image[offset + i * 2**20 : min(offset + (i + 1) * 2**20, offset + size)]
            require(xxhash.xxh3_64_intdigest(chunk) == checksum, "bad_body_checksum")
        if kind == SENDER_DOMAINS:
            numbers_of(items, image[offset : offset + size])
        elif kind != BITS:
            hashes = struct.unpack_from(f"<{items}Q", image, offset)
            require(all(a < b for a, b in zip(hashes, hashes[1:])), "bad_section")


def check(image, trusted=()):
    """Raises BadFile where a reader refuses the filter file, in the order of the page. `trusted` are public keys; empty:
    a signature is not asked for."""
    require(len(image) >= 4096, "too_short")
    header = dict(zip(FIELDS, HEADER.unpack_from(image)))
    require(header["magic"] == bytes.fromhex("89424C4D0D0A1A0A"), "bad_magic")
    require(header["version"] == 1, "unsupported_version")
    pairs, checksum = struct.unpack_from("<QQ", image, 4080)
    require(xxhash.xxh3_64_intdigest(image[:4088]) == checksum, "bad_header_checksum")
    array_bytes = check_shape(header)
    count = header["section_count"]
    require(1 <= count <= 16, "bad_header_field")
    sections = [
        (*SECTION.unpack_from(image, SECTION_TABLE + 64 * i), image[SECTION_TABLE + 64 * i + 40 : SECTION_TABLE + 64 * i + 64])
        for i in range(count)
    ]
    require(not any(image[SECTION_TABLE + 64 * count : SIGNER]), "bad_header_field")
    check_signature_fields(image)
    end = check_sections(sections, array_bytes)
    check_header(header, pairs, sections, array_bytes)
    require(len(image) == end, "wrong_size")
    if trusted:
        check_signer(image, trusted)
    check_content(image, sections)
    if trusted:
        require(image[CONTENT:SIGNATURE] == content_of(image), "bad_signature")
