"""libbloomgate as another program finds it: installed, found by pkg-config and by CMake, called from C. What it
answers is what `bloomgate query` answers."""

import os
import re
import subprocess

import pytest
from private_mail.filter import REPOSITORY, build_folder, built

EXAMPLE = REPOSITORY / "filter/library/example"
LIST = """joe@example.org
"quoted local"@example.org
anna@bücher.example
@partner.example
@.tree.example
sender@far.example > ann@ours.example
@brand.example > @ours.example
"""
SENDERS = ["joe@example.org", "<JOE@Example.ORG>", "ann@example.org", '"quoted local"@example.org',
           "anna@xn--bcher-kva.example", "x@partner.example", "x@sub.partner.example", "x@a.b.tree.example", "<>",
           "nonsense", "a@b@c.example", "x@[127.0.0.1]", "x@-.example", "sender@far.example", "x@brand.example", "@", "a@",
           "joe@example.org SIZE=1", "very" * 700 + "@example.org"]
PAIRS = [("sender@far.example", "ann@ours.example"), ("sender@far.example", "bob@ours.example"),
         ("x@brand.example", "bob@ours.example"), ("x@brand.example", "bob@theirs.example"),
         ("joe@example.org", "bob@theirs.example")]


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    """The folder that stands for /."""
    built("filter/library/libbloomgate.so")
    root = tmp_path_factory.mktemp("stage")
    run("cmake", "--install", build_folder(), "--prefix", "/usr", "--component", "library",
        env={**os.environ, "DESTDIR": str(root)})
    return root


@pytest.fixture(scope="module")
def library_folder(stage):
    found, = stage.rglob("libbloomgate.so.1")
    return found.parent


@pytest.fixture(scope="module")
def filter_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filter")
    (folder / "list.txt").write_text(LIST, encoding="utf-8")
    run(built("filter/cli/bloomgate"), "build", folder / "list.txt", "--output", folder / "list.bloom", "--quiet")
    return folder / "list.bloom"


def compiled_with_pkg_config(stage, library_folder, output):
    flags = run("pkg-config", "--cflags", "--libs", "bloomgate",
                env={**os.environ, "PKG_CONFIG_SYSROOT_DIR": str(stage),
                     "PKG_CONFIG_PATH": str(library_folder / "pkgconfig")}).split()
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-o", output,
        EXAMPLE / "look_up.c", *flags)
    return output


def compiled_with_cmake(stage, library_folder, output):
    # Debian's CMake looks where the library is, as the prefix may be any.
    run("cmake", "-S", EXAMPLE, "-B", output.parent / "build", f"-DCMAKE_PREFIX_PATH={stage / 'usr'}",
        f"-DCMAKE_FIND_ROOT_PATH={stage}")
    run("cmake", "--build", output.parent / "build")
    return output.parent / "build/look_up"


@pytest.fixture(scope="module", params=[compiled_with_pkg_config, compiled_with_cmake])
def look_up(request, stage, library_folder, tmp_path_factory):
    program = request.param(stage, library_folder, tmp_path_factory.mktemp("example") / "look_up")

    def answers(filter_file, lines):
        given = "".join(f"{line}\n" for line in lines)
        return [line.split("\t")[-1] for line in run(
            program, filter_file, input=given, env={**os.environ, "LD_LIBRARY_PATH": str(library_folder)}).splitlines()]

    return answers


def query(filter_file, texts):
    """Whether each is listed, by the program."""
    return [run(built("filter/cli/bloomgate"), "query", filter_file, text).startswith("listed\t") for text in texts]


def test_it_answers_as_the_program_does(look_up, filter_file):
    answers = look_up(filter_file, SENDERS)
    assert [answer.startswith("listed") for answer in answers] == query(filter_file, SENDERS)
    told = dict(zip(SENDERS, answers))
    assert told["<JOE@Example.ORG>"] == "listed"
    assert told["x@partner.example"] == "listed, by its domain"
    assert told["x@a.b.tree.example"] == "listed, by a domain above it"
    assert told["ann@example.org"] == "not listed"
    assert told["<>"] == "not listed: no sender"
    assert told["nonsense"] == "not listed: no address"


def test_it_answers_for_a_recipient_as_the_program_does(look_up, filter_file):
    answers = look_up(filter_file, [f"{sender}\t{recipient}" for sender, recipient in PAIRS])
    assert [answer.startswith("listed") for answer in answers] == \
        query(filter_file, [f"{sender} > {recipient}" for sender, recipient in PAIRS])
    assert answers[0] == "listed for this recipient"
    assert answers[1] == "not listed"


def test_the_header_is_that_of_cpp_too(stage, tmp_path):
    (tmp_path / "a.cpp").write_text('#include <bloomgate.h>\nint main() { return bloomgate_is_listed(2); }\n')
    for standard in ("c++11", "c++20"):
        run("c++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
            "-I", stage / "usr/include", tmp_path / "a.cpp")


def exported(library):
    lines = run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library).splitlines()
    return {line.split()[-1] for line in lines if " A " not in line}


def test_the_library_exports_what_its_header_declares_and_nothing_else(stage, library_folder):
    header = (stage / "usr/include/bloomgate.h").read_text()
    declared = set(re.findall(r"\b(bloomgate_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)))
    declared.remove("bloomgate_is_listed")  # inline
    assert exported(library_folder / "libbloomgate.so.1") == {f"{name}@@BLOOMGATE_1" for name in declared}


def test_the_package_lists_each_exported_name(library_folder):
    listed = (REPOSITORY / ".debian/libbloomgate1.symbols").read_text()
    names = set(re.findall(r"(?m)^ (bloomgate_\w+@BLOOMGATE_1) ", listed))
    assert {name.replace("@@", "@") for name in exported(library_folder / "libbloomgate.so.1")} == names


def test_the_library_has_its_name_and_no_path_to_look_for_others(library_folder):
    told = run("readelf", "--dynamic", library_folder / "libbloomgate.so.1")
    assert "Library soname: [libbloomgate.so.1]" in told
    assert "RPATH" not in told
    assert "RUNPATH" not in told


def test_the_corpus_is_installed_whole(stage):
    corpus = stage / "usr/share/libbloomgate/corpus"
    for folder in ("golden", "bad"):
        kept = {path.name for path in (REPOSITORY / "tests" / folder).glob("*.bloom")}
        assert {path.name for path in (corpus / folder).glob("*.bloom")} == kept
    expected = dict(line.split("\t") for line in (corpus / "bad/expected.tsv").read_text().splitlines())
    assert set(expected) == {path.name for path in (corpus / "bad").glob("*.bloom")}
    assert "must be refused" in (corpus / "README.md").read_text()


def test_the_installed_library_refuses_each_file_of_the_corpus(stage, library_folder, tmp_path):
    program = compiled_with_pkg_config(stage, library_folder, tmp_path / "look_up")
    for path in sorted((stage / "usr/share/libbloomgate/corpus/bad").glob("*.bloom")):
        done = subprocess.run([program, path], input="joe@example.org\n", capture_output=True, text=True,
                              env={**os.environ, "LD_LIBRARY_PATH": str(library_folder)})
        assert (done.returncode, done.stdout) == (2, ""), path
        assert path.name in done.stderr
