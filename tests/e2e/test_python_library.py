"""The Python module: what it answers, and a filter that several worker processes build by parts."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from private_mail.filter import REPOSITORY, build_folder, built
from private_mail.processes import wait_until

np = pytest.importorskip("numpy")

MODULE = REPOSITORY / "filter/library/python"
ENTRIES = 60_000


@pytest.fixture(scope="module")
def bloomgate():
    """The module, with the library of the build folder. That one is found by its name, as it is loaded already."""
    import ctypes

    ctypes.CDLL(str(built("filter/library/libbloomgate.so.1")), mode=ctypes.RTLD_GLOBAL)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(MODULE)
        patch.setenv("PATH", environment()["PATH"])
        import bloomgate

        yield bloomgate


def build(folder, name, text, *options):
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    output = folder / f"{name}.bloom"
    done = subprocess.run([built("filter/cli/bloomgate"), "build", folder / f"{name}.txt", "--output", output, "--quiet", *options],
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
    for options in ["--no-sender-domains"], []:
        path = build(tmp_path, "list", "\n".join(addresses(0, 1000)), "--bits-per-entry", "2", "--hashes", "1", "--seed", "1",
                     "--expected-entries", "1000", *options)
        filter = bloomgate.Filter(path)
        assert filter.sender_domains == (0 if options else 1)
        assert (filter.listed(strangers).sum() > 100) == bool(options)
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


SEED = 20261129
KINDS = [*addresses(0, ENTRIES), "Joe+News@Example.org", "anna@bücher.example", "user1@example.org", "nonsense", "# comment", "",
         "@partner.example", "@.wide.example", "list:news.example.org", "joe@far.example > ann@ours.example",
         "@pair.example > ann@ours.example", "billing@bank.example signed-by esp.example"]


def columns_of(texts):
    """The same texts in each form that a column has."""
    data = [text.encode() for text in texts]
    packed = (b"".join(data), np.cumsum([0, *map(len, data)]).astype(np.int32))
    half = len(texts) // 2
    return {"list": texts, "array": np.array(texts), "bytes": np.array(data), "packed": packed, "texts": iter(texts),
            "columns": iter([np.array(texts[:half]), packed[:1] + (packed[1][half:],)])}


@pytest.mark.parametrize("settings", [{}, {"layout": "line", "tag_separators": "+", "keep_case": True},
                                      {"layout": "ribbon", "no_sender_domains": True}])
def test_entries_of_every_kind_that_tasks_have_written_are_the_file_of_one_build(bloomgate, tmp_path, settings):
    profile = {name: value for name, value in settings.items() if name != "layout"}
    rest = {name: value for name, value in settings.items() if name in ("layout", "no_sender_domains")}
    shape = {"seed": 42, "expected_entries": ENTRIES, "store": tmp_path / "store", "store_seed": SEED, **rest}
    (tmp_path / "whole.txt").write_text("\n".join(KINDS), encoding="utf-8")
    bloomgate.build([tmp_path / "whole.txt"], tmp_path / "whole.bloom", **{**profile, **shape})
    store = (tmp_path / "store").read_bytes()
    pieces = [KINDS[i::6] for i in range(6)]
    parts = [bloomgate.write_part(columns_of(piece)[form], tmp_path / f"{i}.store", index=i, parts=6, store_seed=SEED, run="a", **profile)
             for i, (piece, form) in enumerate(zip(pieces, columns_of([])))]
    assert [(part.index, part.parts, part.path) for part in parts] == [(i, 6, str(tmp_path / f"{i}.store")) for i in range(6)]
    assert sum(part.rejected for part in parts) == 1
    report = bloomgate.build([part.path for part in parts][::-1], tmp_path / "parts.bloom", **shape)
    assert report["domain_entries"] == 5
    assert (tmp_path / "parts.bloom").read_bytes() == (tmp_path / "whole.bloom").read_bytes()
    assert (tmp_path / "store").read_bytes() == store


ONE = {"index": 0, "parts": 1, "store_seed": SEED}


@pytest.mark.parametrize("form", list(columns_of(["a"])))
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\r", "\r\r"])
def test_no_text_of_a_column_becomes_two_entries(bloomgate, tmp_path, form, end):
    texts = [f"joe@example.org{end}@evil.example", "ann@example.org\r", f"{end}bob@example.org", "\r"]
    part = bloomgate.write_part(columns_of(texts)[form], tmp_path / "part", allow_rejects=True, **ONE)
    assert (part.addresses, part.domains, part.rejected) == (1, 0, 2)


def test_what_is_no_text_is_left_out_or_refused(bloomgate, tmp_path):
    path = tmp_path / "part"

    def written(entries):
        part = bloomgate.write_part(entries, path, allow_rejects=True, **ONE)
        return part.addresses, part.rejected

    assert written(iter([None, "joe@example.org", None])) == written([None, "joe@example.org"]) == (1, 0)
    assert written(np.ma.array([b"joe@example.org", b"ann@example.org"], mask=[False, True])) == (1, 0)
    assert written(["joe@example.org", "\ud83d@example.org"]) == written(np.array(["joe@example.org", "\ud83d@example.org"])) == (1, 1)
    assert written([]) == written(iter(())) == (0, 0)
    for wrong in ("joe@example.org", b"joe@example.org", [1.5], 7):
        with pytest.raises(TypeError):
            written(wrong)
    for wrong in ((b"joe",), (b"joe", np.array([0, 4])), (b"joe", np.array([2, 1]))):
        with pytest.raises(ValueError):
            written(wrong)


def test_words_of_the_program_cannot_be_hidden_in_arguments(bloomgate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in "", "-":
        with pytest.raises(ValueError, match="file to write"):
            bloomgate.write_part(["joe@example.org"], path, **ONE)
    for inputs in ["-"], [b"-"]:
        with pytest.raises(ValueError, match="standard input"):
            bloomgate.build(inputs, "out")
    with pytest.raises(bloomgate.Error, match="one list only"):
        bloomgate.write_part(["joe@example.org"], "part", except_="-", **ONE)
    with pytest.raises(ValueError, match="format"):
        bloomgate.write_part(["joe@example.org"], "part", format="csv:1", **ONE)
    with pytest.raises(ValueError, match="manual"):
        bloomgate.build(["part"], "out", help=True)
    with pytest.raises(TypeError, match="run: expected"):
        bloomgate.write_part(["joe@example.org"], "part", run={"a"}, **ONE)
    part = bloomgate.write_part(["joe@example.org"], b"--strict", run=None, reject_file=b"rejects", **ONE)
    assert (part.path, sorted(os.listdir())) == ("--strict", ["--strict", "rejects"])


def test_an_error_is_one_where_ends_of_children_are_ignored(bloomgate, tmp_path):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with pytest.raises(bloomgate.Error, match="none") as refused:
            bloomgate.build([tmp_path / "none"], tmp_path / "out")
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert refused.value.name == "cannot_open"


def test_a_process_that_is_forked_meanwhile_does_not_keep_the_part_waiting(bloomgate, tmp_path):
    children = []

    def forking():
        yield ["joe@example.org"]
        children.append(os.fork())
        if children[-1] == 0:
            signal.pause()
        yield ["ann@example.org"]

    try:
        assert bloomgate.write_part(forking(), tmp_path / "part", **ONE).addresses == 2
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_descriptors_are_given_back_after_failures(bloomgate, tmp_path):
    before = os.listdir("/proc/self/fd")
    kept = []
    for entries in failing(), [1.5], ["nonsense"]:
        try:
            bloomgate.write_part(entries, tmp_path / "part", strict=True, **ONE)
        except (KeyError, TypeError, bloomgate.Error) as error:
            kept.append(error)
    assert len(kept) == 3
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_attempts_at_one_part_at_once_all_succeed(bloomgate, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda _: bloomgate.write_part(addresses(0, 1000), tmp_path / "part", **ONE), range(24)))
    assert {part.addresses for part in parts} == {1000}
    assert os.listdir(tmp_path) == ["part"]


def test_a_part_that_is_missing_or_there_twice_is_refused(bloomgate, tmp_path):
    paths = [bloomgate.write_part(addresses(10 * i, 10), tmp_path / f"{i}.store", index=i, parts=3, store_seed=SEED, run="today").path
             for i in range(3)]
    other = bloomgate.write_part(addresses(0, 10), tmp_path / "other.store", index=0, parts=3, store_seed=SEED, run="yesterday").path
    for wrong, words in ((paths[:2], "missing|lacks|2"), ([*paths, paths[0]], "both part 0"), ([other, *paths[1:]], "run")):
        with pytest.raises(bloomgate.Error, match=words) as refused:
            bloomgate.build(wrong, tmp_path / "out.bloom")
        assert refused.value.name == "bad_argument"
    assert not (tmp_path / "out.bloom").exists()
    with pytest.raises(bloomgate.Error, match="no part 3 of 3") as refused:
        bloomgate.write_part([], tmp_path / "part", index=3, parts=3, store_seed=SEED)
    assert refused.value.name == "usage"


def failing():
    yield addresses(0, 1000)
    raise KeyError("a source that ends in the middle")


def broken():
    yield addresses(0, 1000)
    raise BrokenPipeError("of the source")


@pytest.mark.parametrize("before", [0, 1, 100_000, 300_000])
def test_a_task_that_fails_or_is_killed_in_the_middle_leaves_no_part(bloomgate, tmp_path, before):
    for source, error in (failing, KeyError), (broken, BrokenPipeError):
        with pytest.raises(error):
            bloomgate.write_part(source(), tmp_path / "part", **ONE)
    assert not (tmp_path / "part").exists()
    task = subprocess.run(
        [sys.executable, "-B", "-c", "import bloomgate, os, signal, sys\ndef killed(before):\n    for _ in range(before):\n        yield 'joe@example.org'\n"
         "    os.kill(os.getpid(), signal.SIGKILL)\nbloomgate.write_part(killed(int(sys.argv[2])), sys.argv[1], index=0, parts=1, store_seed=1)",
         tmp_path / "part", str(before)], capture_output=True, env=environment(), timeout=60)
    assert task.returncode == -signal.SIGKILL, task.stderr
    wait_until(lambda: not processes_with(str(tmp_path / "part")), "the program that it has started has ended")
    assert not (tmp_path / "part").exists()


def processes_with(word, parent=None):
    """The numbers of the processes that have it in their command line; those of one parent."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            if (parent in (None, int(status.read_text().rpartition(")")[2].split()[1]))
                    and word.encode() in (status.parent / "cmdline").read_bytes()):
                found.append(int(status.parent.name))
        except OSError:
            continue  # it has ended
    return found


def environment():
    """What a program needs that imports the module."""
    paths = [str(build_folder() / "filter/cli"), os.environ["PATH"]]
    return {**os.environ, "PYTHONPATH": str(MODULE), "LD_LIBRARY_PATH": str(build_folder() / "filter/library"), "PATH": ":".join(paths)}


def test_dask_workers_build_the_file_of_one_machine_though_one_is_killed(bloomgate, tmp_path):
    """Several worker processes on loopback, and tasks as in the manual of the module."""
    pytest.importorskip("distributed")
    (tmp_path / "list.txt").write_text("\n".join(KINDS), encoding="utf-8")
    driver = subprocess.Popen(
        [sys.executable, "-B", MODULE / "dask_build.py", tmp_path / "list.txt", "--parts", "24", "--workers", "2", "--folder",
         tmp_path / "parts", "--layout", "ribbon", "--output", tmp_path / "parts.bloom"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=environment())
    wait_until(lambda: list((tmp_path / "parts").glob("*.store")), "the first part")
    os.kill(processes_with("spawn_main", parent=driver.pid)[0], signal.SIGKILL)
    assert len(list((tmp_path / "parts").glob("*.store"))) < 24
    out, err = driver.communicate(timeout=300)
    assert driver.returncode == 0, err
    assert "of 24 parts: 60,004 addresses, 5 domain entries" in out
    assert bloomgate.Filter(tmp_path / "parts.bloom").listed(np.array(addresses(0, ENTRIES))).all()


class Rows:
    """As much of a DataFrame and an RDD of Spark as `spark_build.py` uses: partitions of rows."""

    def __init__(self, partitions):
        self.partitions = partitions

    @property
    def rdd(self):
        return self

    def select(self, column):
        assert column == "entry"
        return Rows([[(row[column],) for row in partition] for partition in self.partitions])

    def map(self, function):
        return Rows([[function(row) for row in partition] for partition in self.partitions])

    def filter(self, function):
        return Rows([[row for row in partition if function(row)] for partition in self.partitions])

    def getNumPartitions(self):  # noqa: N802
        return len(self.partitions)

    def mapPartitionsWithIndex(self, function):  # noqa: N802
        # A function goes to the executors pickled, and Spark may run a task twice.
        return Rows([list(function(index, iter(rows))) and list(function(index, iter(rows)))
                     for index, rows in enumerate(self.partitions)])

    def collect(self):
        return [row for partition in self.partitions for row in partition]


def test_the_file_for_spark_builds_what_is_in_all_partitions(bloomgate, tmp_path):
    """Debian has no Spark, so stand-ins call it."""
    import spark_build

    (tmp_path / "parts").mkdir()
    table = Rows([[{"entry": text, "other": 7} for text in [*KINDS[i::5], None]] for i in range(5)] + [[]])
    report = spark_build.build(table, "entry", tmp_path / "parts", tmp_path / "out.bloom", layout="ribbon")
    assert (report["addresses"], report["domain_entries"]) == (60_004, 5)
    assert bloomgate.Filter(tmp_path / "out.bloom").listed(np.array(addresses(0, ENTRIES))).all()


@pytest.mark.all_only
def test_the_module_is_typed():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull, "bloomgate"], cwd=MODULE,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout


@pytest.mark.all_only
def test_a_wheel_has_all_that_the_module_needs(tmp_path):
    done = subprocess.run([REPOSITORY / "scripts/build-wheel", "--from", build_folder(), "--output", tmp_path], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    wheel = done.stdout.split()[-1]
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-index", "--no-deps",
                    "--no-compile", "--target", tmp_path / "site", wheel], check=True, timeout=300)
    code = ("import bloomgate\npart = bloomgate.write_part(['joe@example.org', '@partner.example'], 'part', index=0, parts=1, store_seed=1)\n"
            "bloomgate.build([part.path], 'out.bloom')\nwith bloomgate.Filter('out.bloom') as filter:\n"
            "    print(int(filter.look_up('joe@example.org')), int(filter.look_up('x@partner.example')), bloomgate.version())")
    clean = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, env=clean, timeout=60)
    assert done.stdout.split()[:2] == ["1", "3"], done.stderr
    assert (tmp_path / "site/bloomgate/py.typed").exists()
