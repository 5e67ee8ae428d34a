"""Filter files, made by the program `bloomgate`."""

import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def build_folder():
    """Where the programs are: BLOOMGATE_BUILD, or what `cmake --preset release` builds."""
    return Path(os.environ.get("BLOOMGATE_BUILD", REPOSITORY / "build/release"))


def built(program):
    """The path of a program in the build folder. Raises an error if it has not been built."""
    path = build_folder() / program
    if not path.exists():
        raise RuntimeError(f"{path} is not there. Build it first: "
                           "cmake --preset release && cmake --build --preset release")
    return path


def build_filter(output, list_file, *options):
    """Builds a filter file from a list of addresses, be they few. It replaces an old file in one step."""
    command = [built("filter/cli/bloomgate"), "build", "--allow-empty", "--allow-shrink", "--output", output, *options, list_file]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"building {output} failed with exit code {done.returncode}:\n"
                           f"{done.stdout}{done.stderr}")
    os.chmod(output, 0o644)


def build_filter_of(output, addresses, *options):
    """The same from addresses. The seed is fixed: which senders are false positives stays the same."""
    list_file = Path(f"{output}.txt")
    list_file.write_text("".join(f"{address}\n" for address in addresses), encoding="utf-8")
    build_filter(output, list_file, "--seed", "1", *options)
