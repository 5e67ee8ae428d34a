"""The Python module: what it answers, and a filter that several worker processes build by parts."""

import os
import re
import subprocess
import sys
import types

import pytest
from private_mail.filter import REPOSITORY, build_folder, built

np = pytest.importorskip("numpy")

MODULE = REPOSITORY / "filter/library/python"
ENTRIES = 60_000


@pytest.fixture(scope="module")
def bloomgate():
    """The module, with the library of the build folder. That one is found by its name, as it is loaded already."""
    import ctypes

    ctypes.CDLL(str(built("filter/library/libbloomgate.so.1")), mode=ctypes.RTLD_GLOBAL)
    sys.path.insert(0, str(MODULE))
    import bloomgate

    yield bloomgate
    sys.path.remove(str(MODULE))


def build(folder, name, text, *options, parts_alike=True):
    """`parts_alike`: as a filter is that was made from parts, which do not have the domains of their senders."""
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    output = folder / f"{name}.bloom"
    done = subprocess.run([built("filter/cli/bloomgate"), "build", folder / f"{name}.txt", "--output", output, "--quiet",
                           *["--no-sender-domains"] * parts_alike, *options],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return output


def addresses(first, count):
    return [f"user{i}@example.org" for i in range(first, first + count)]


@pytest.fixture(scope="module")
def filter_file(tmp_path_factory):
    return build(tmp_path_factory.mktemp("filter"), "list", "\n".join([
        *addresses(0, 1000), "@partner.example", "anna@bücher.example", "joe@far.example > ann@ours.example", ""]))


ASKED = [*addresses(900, 200), "x@partner.example", "anna@bücher.example", "nonsense", "<>", "", "joe@far.example"]


def test_no_address_at_a_domain_without_an_entry_is_listed_by_chance(bloomgate, tmp_path):
    strangers = np.array([f"user{i}@elsewhere.example".encode() for i in range(10_000)])
    for parts_alike in True, False:
        path = build(tmp_path, "list", "\n".join(addresses(0, 1000)), "--bits-per-entry", "2", "--hashes", "1", "--seed", "1",
                     "--expected-entries", "1000", parts_alike=parts_alike)
        filter = bloomgate.Filter(path)
        assert filter.sender_domains == (0 if parts_alike else 1)
        assert (filter.listed(strangers).sum() > 100) == parts_alike
        assert filter.listed(np.array(addresses(0, 1000))).all()


def columns():
    packed = "".join(ASKED).encode()
    offsets = np.cumsum([0, *(len(text.encode()) for text in ASKED)])
    return {
        "S": np.array([text.encode() for text in ASKED]),
        "U": np.array(ASKED),
        "objects": np.array(ASKED, dtype=object),
        "list": ASKED,
        "Arrow, 32 bits": (packed, offsets.astype(np.int32)),
        "Arrow, 64 bits": (memoryview(packed), offsets.astype(np.int64)),
    }


@pytest.mark.parametrize("name", columns())
def test_a_column_gives_what_single_look_ups_give(bloomgate, filter_file, name):
    with bloomgate.Filter(filter_file) as filter:
        want = [filter.look_up(text) for text in ASKED]
        assert list(filter.look_up_column(columns()[name])) == want
        assert list(filter.listed(columns()[name])) == [bool(answer & 1) for answer in want]
    assert want[0] == bloomgate.Answer.LISTED
    assert want[200:] == [3, 1, 6, 4, want[204], 0]


def test_a_recipient_and_the_figures(bloomgate, filter_file):
    with bloomgate.Filter(filter_file, verify=False) as filter:
        assert filter.look_up("joe@far.example", "ann@ours.example") == bloomgate.Answer.BY_PAIR
        assert filter.look_up("joe@far.example", "bob@ours.example") == bloomgate.Answer.NOT_LISTED
        assert filter.addresses == 1002
        assert len(filter.identity) == 16
    with pytest.raises(ValueError, match="closed"):
        filter.look_up("joe@far.example")


def test_invalid_arguments_and_files_are_refused(bloomgate, filter_file, tmp_path):
    with pytest.raises(bloomgate.Error) as refused:
        bloomgate.Filter(REPOSITORY / "tests/bad/magic-first-byte.bloom")
    assert refused.value.name == "bad_magic"
    assert "magic-first-byte.bloom" in str(refused.value)
    with bloomgate.Filter(filter_file) as filter:
        with pytest.raises(bloomgate.Error) as refused:
            filter.look_up_column((b"joe", np.array([0, 4], np.int32)))
        assert refused.value.name == "bad_argument"
        assert len(filter.look_up_column(np.zeros(0, "S1"))) == 0
        assert len(filter.look_up_column([])) == 0
        for wrong in ((b"joe", np.array([0.0, 3.0])), (b"joe", np.zeros(0, np.int32)), np.zeros((2, 2), "S5")):
            with pytest.raises(ValueError):
                filter.look_up_column(wrong)
    with pytest.raises(bloomgate.Error, match="layout"):
        bloomgate.Shape(10, 1, layout="ribbon")
    for column in (["joe@example.org", "@example.org"], ["a@b.example > c@d.example"]):
        with pytest.raises(ValueError, match="not an address"):
            bloomgate.Shape(10, 1).hashes(column)
    with pytest.raises(ValueError):
        bloomgate.Shape(-1, 1)


def by_parts(bloomgate, shape, pieces, parts, folder):
    """What each task does, one after the other."""
    own = [[] for _ in range(parts)]
    for piece in pieces:
        numbers, hashes = shape.partition(piece, parts)
        for part in range(parts):
            own[part].append(hashes[numbers == part])
    return [shape.write_part(part, parts, own[part], folder / f"{part}.part") for part in range(parts)]


@pytest.mark.parametrize("settings", [{}, {"layout": "line", "bits_per_entry": 12}, {"tag_separators": "+", "keep_case": True}])
def test_parts_are_joined_to_the_file_of_one_build(bloomgate, tmp_path, settings):
    lines = [*addresses(0, ENTRIES - 3), "Joe+News@Example.org", "anna@bücher.example", "user1@example.org", "nonsense", "# comment"]
    options = [word for name, value in settings.items()
               for word in ([f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)]))]
    expected = build(tmp_path, "built", "\n".join(lines) + "\n", "--seed", "42", "--expected-entries", str(ENTRIES), *options)
    shape = bloomgate.Shape(ENTRIES, 42, **settings)
    paths = by_parts(bloomgate, shape, [np.array(lines[i::3]) for i in range(3)], 4, tmp_path)
    bloomgate.join(paths[::-1], tmp_path / "joined.bloom")
    assert (tmp_path / "joined.bloom").read_bytes() == expected.read_bytes()
    done = subprocess.run([built("filter/cli/bloomgate"), "join", *paths, "--output", tmp_path / "by-command.bloom"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"addresses {ENTRIES:,} " in done.stdout
    assert (tmp_path / "by-command.bloom").read_bytes() == expected.read_bytes()


def test_parts_that_would_take_the_place_of_a_filter_twice_as_large_are_refused(bloomgate, tmp_path):
    old = build(tmp_path, "old", "\n".join(addresses(0, ENTRIES)) + "\n")
    before = old.read_bytes()
    paths = by_parts(bloomgate, bloomgate.Shape(ENTRIES, 42), [np.array(addresses(0, ENTRIES // 3))], 2, tmp_path)
    command = [built("filter/cli/bloomgate"), "join", *paths, "--output", old]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, "--allow-shrink" in done.stderr, old.read_bytes() == before) == (65, True, True), done.stderr
    assert subprocess.run([*command, "--allow-shrink"]).returncode == 0
    assert old.read_bytes() != before


def test_dask_workers_build_the_file_of_one_machine(bloomgate, tmp_path):
    """Several worker processes on loopback, and tasks as in the manual of the module."""
    pytest.importorskip("distributed")
    expected = build(tmp_path, "built", "\n".join(addresses(0, ENTRIES)) + "\n", "--seed", "7", "--expected-entries", str(ENTRIES))
    done = subprocess.run(
        [sys.executable, "-B", REPOSITORY / "filter/library/python/dask_build.py", tmp_path / "built.txt", "--entries", str(ENTRIES),
         "--seed", "7", "--parts", "5", "--workers", "3", "--folder", tmp_path / "parts", "--output", tmp_path / "joined.bloom"],
        capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": str(MODULE), "LD_LIBRARY_PATH": str(build_folder() / "filter/library")})
    assert done.returncode == 0, done.stderr
    assert "of 3 processes" in done.stdout
    assert (tmp_path / "joined.bloom").read_bytes() == expected.read_bytes()


class Column:
    """As much of a pandas.Series as the lines of the page for Spark use."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.iloc = self.values

    def to_numpy(self):
        return self.values


class Frame(dict):
    """As much of a pandas.DataFrame."""

    def __init__(self, columns):
        super().__init__({name: Column(values) for name, values in columns.items()})


class SparkFrame:
    """As much of a DataFrame of Spark, of partitions of one or two frames each: what a function gives has the columns of
    its schema, in order, in types that fit."""

    def __init__(self, partitions):
        self.partitions = partitions

    def mapInPandas(self, function, schema):  # noqa: N802
        return SparkFrame([[received(frame, schema) for frame in function(iter(frames))] for frames in self.partitions])

    def groupBy(self, name):  # noqa: N802
        frames = [frame for partition in self.partitions for frame in partition]
        groups = np.unique(np.concatenate([frame[name].values for frame in frames]))
        return SparkFrame([[Frame({column: np.concatenate([frame[column].values[frame[name].values == group] for frame in frames])
                                   for column in frames[0]})] for group in groups])

    def applyInPandas(self, function, schema):  # noqa: N802
        return SparkFrame([[received(function(frame), schema) for frame in frames] for frames in self.partitions])

    def collect(self):
        return [frame for partition in self.partitions for frame in partition]


def received(frame, schema):
    wanted = [field.split() for field in schema.split(", ")]
    assert list(frame) == [name for name, _ in wanted]
    for name, kind in wanted:
        assert frame[name].values.dtype.kind == {"long": "i", "string": "U"}[kind], name
    return Frame({name: frame[name].values.copy() for name in frame})


def test_the_lines_for_spark_build_the_file_of_one_machine(bloomgate, tmp_path):
    """As they stand in the manual of the module; Debian has neither Spark nor, here, pandas, so stand-ins call them."""
    lines = addresses(0, ENTRIES)
    expected = build(tmp_path, "built", "\n".join(lines) + "\n", "--seed", "7", "--expected-entries", str(ENTRIES))
    (tmp_path / "parts").mkdir()
    page = (MODULE / "README.md").read_text(encoding="utf-8")
    section = re.search(r"(?ms)^### With Spark$(.*)", page).group(1)
    code = "".join(f"{line[4:]}\n" for line in section.splitlines() if line.startswith("    "))
    pieces = [[Frame({"address": np.array(lines[at:at + 7000], dtype=object)}) for at in (begin, begin + 7000)]
              for begin in range(0, ENTRIES, 14_000)]
    known = {"shape": bloomgate.Shape(expected_entries=ENTRIES, seed=7), "PARTS": 6, "addresses": SparkFrame(pieces),
             "pandas": types.SimpleNamespace(DataFrame=Frame)}
    assert code.count("/shared/parts/") == 1
    exec(compile(code.replace("/shared/parts/", f"{tmp_path}/parts/"), "README.md", "exec"), known)
    paths = [str(path) for frame in known["written"] for path in frame["path"].values]
    assert len(paths) == 6
    bloomgate.join(paths, tmp_path / "joined.bloom")
    assert (tmp_path / "joined.bloom").read_bytes() == expected.read_bytes()
