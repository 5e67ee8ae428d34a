"""The program that filter/FORMAT.md is (tests/golden/format_from_page.py) and bloomgate write the same bytes of the same
lists, whatever is in them: beside the golden files, lists drawn at random."""

import random
import subprocess
import sys

import pytest
from conftest import first_of
from private_mail.filter import REPOSITORY, built

sys.path.insert(0, str(REPOSITORY / "tests/golden"))
import format_from_page as page  # noqa: E402

LAYOUTS = {"page": page.PAGE, "line": page.LINE, "classic": page.CLASSIC, "partitioned": page.PARTITIONED,
           "ribbon": page.RIBBON, "counting": page.COUNTING}
SEED, STORE_SEED = 7, 42


def drawn(draw, count):
    """So many entries, some of them twice: addresses, domains, and pairs of these."""
    def side():
        domain = f"d{draw.randrange(50)}.example"
        return draw.choice([f"u{draw.randrange(9 * count)}@{domain}", f"u{draw.randrange(9 * count)}@{domain}",
                            f"@{domain}", f"@.{domain}"])

    entries = []
    for _ in range(count):
        kind = draw.random()
        entries.append(f"u{draw.randrange(9 * count)}@d{draw.randrange(50)}.example" if kind < 0.8 else
                       f"@d{draw.randrange(50, 60)}.example" if kind < 0.85 else f"{side()} > {side()}")
    return entries + draw.choices(entries, k=count // 20)


def keys_of(entries):
    return [entry.replace(" > ", "\n").encode() for entry in entries]


def build(folder, entries, *options):
    (folder / "list.txt").write_text("\n".join(entries))
    done = subprocess.run([built("filter/cli/bloomgate"), "build", "--quiet", f"--seed={SEED}", "--output", folder / "list.bloom",
                           *options, folder / "list.txt"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (folder / "list.bloom").read_bytes()


# A few hundred entries fill a block of ribbon in part, thousands several of them.
@pytest.mark.parametrize("layout", first_of(list(LAYOUTS)))
def test_lists_of_every_kind_of_entry_give_the_bytes_that_the_page_gives(tmp_path, layout):
    for count in (1, 40, 700, 9000):
        assert_page_and_program_agree(tmp_path, layout, count)


def assert_page_and_program_agree(folder, layout, count):
    draw = random.Random(f"{layout} {count}")
    entries = drawn(draw, count)
    options = {"with_sender_domains": True} | ({"hashes": 1} if layout == "ribbon" else {})
    image = build(folder, entries, f"--layout={layout}")
    assert image == page.build(keys_of(entries), SEED, LAYOUTS[layout], **options), count
    page.check(image)
    without = {**options, "with_sender_domains": False}
    image_without = build(folder, entries, f"--layout={layout}", "--no-sender-domains")
    assert image_without == page.build(keys_of(entries), SEED, LAYOUTS[layout], **without), count
    for key in draw.sample(keys_of(entries), min(count, 50)):
        if b"\n" not in key and not key.startswith(b"@"):
            assert page.find(image, key) == key
    if layout == "counting":
        return
    strangers = [f"s{i}@d{draw.randrange(60)}.example" for i in range(count)] + [e for e in entries if e[0] == "u" and ">" not in e][:3]
    (folder / "not.txt").write_text("\n".join(strangers))
    image = build(folder, entries, f"--layout={layout}", "--never-match", folder / "not.txt")
    assert image == page.build(keys_of(entries), SEED, LAYOUTS[layout], strangers=keys_of(strangers), **options), count
    page.check(image)


@pytest.mark.parametrize("layout", first_of(["ribbon", "page", "line"]))
def test_a_filter_and_its_store_are_those_that_the_page_gives(tmp_path, layout):
    for count in (1, 700, 9000):
        entries = drawn(random.Random(f"store {layout} {count}"), count)
        store, identity = page.build_store(keys_of(entries), STORE_SEED, with_sender_domains=True)
        image = build(tmp_path, entries, f"--layout={layout}", f"--store-seed={STORE_SEED}", f"--store={tmp_path / 'list.store'}")
        assert (tmp_path / "list.store").read_bytes() == store, count
        options = {"with_sender_domains": True} | ({"hashes": 1} if layout == "ribbon" else {})
        assert image == page.build(keys_of(entries), SEED, LAYOUTS[layout], store_seed=STORE_SEED, store_identity=identity,
                                   **options), count
