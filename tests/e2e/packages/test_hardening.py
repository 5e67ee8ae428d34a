"""The protections of compiler and linker (BLOOMGATE_HARDENING) are in the built programs, not just asked for."""

import platform
import re
import subprocess

import pytest
from private_mail.filter import build_folder, built

# What a function that is called through a pointer begins with.
LANDING_PADS = {"x86_64": r"endbr64", "aarch64": r"paciasp|bti\s+j?c"}
# What -fstack-clash-protection puts between the pages of a large frame.
STACK_PROBES = {"x86_64": r"or[ql]\s+\$0x0,(0x[0-9a-f]+)?\(%rsp\)", "aarch64": r"str\s+xzr, \[sp"}


def output_of(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module", params=["filter/cli/bloomgate", "milter/bloomgate-milter"])
def program(request):
    if "BLOOMGATE_HARDENING:BOOL=ON" not in (build_folder() / "CMakeCache.txt").read_text():
        pytest.skip("this build was not asked for hardening: the presets release and install are")
    return built(request.param)


@pytest.fixture(scope="module")
def imports(program):
    return re.findall(r"(?m)^\s+U (\w+)", output_of("nm", "--dynamic", program))


@pytest.fixture(scope="module")
def code(program):
    if platform.machine() not in LANDING_PADS:
        pytest.skip(f"what {platform.machine()} compiles to is not known to this test")
    return output_of("objdump", "--disassemble", "--no-show-raw-insn", program)


def test_it_is_loaded_at_a_random_address(program):
    assert re.search(r"Type:\s+DYN", output_of("readelf", "--file-header", program))
    assert re.search(r"\(FLAGS_1\).*\bPIE\b", output_of("readelf", "--dynamic", program))


def test_its_table_of_symbols_is_read_only(program):
    assert "GNU_RELRO" in output_of("readelf", "--segments", "--wide", program)
    assert re.search(r"\(FLAGS_1\).*\bNOW\b", output_of("readelf", "--dynamic", program))


def test_its_stack_is_not_executable(program):
    assert re.search(r"GNU_STACK.* RW ", output_of("readelf", "--segments", "--wide", program))


def test_no_memory_is_both_writable_and_executable(program):
    assert not re.search(r"LOAD.* RWE ", output_of("readelf", "--segments", "--wide", program))


def test_its_stack_frames_are_guarded(imports):
    assert "__stack_chk_fail" in imports


def test_calls_of_the_c_library_are_checked_for_overflow(imports):
    assert [name for name in imports if name.endswith("_chk")]


def test_calls_and_jumps_through_pointers_land_on_marked_places(code):
    first = re.search(r"(?m)^[0-9a-f]+ <main>:\n\s+[0-9a-f]+:\s+(.*)", code).group(1)
    assert re.match(LANDING_PADS[platform.machine()], first)


def test_a_large_stack_frame_cannot_jump_over_the_guard_page(code):
    assert re.search(STACK_PROBES[platform.machine()], code)
