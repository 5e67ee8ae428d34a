"""Runs a program under faulty_calls.cpp, which makes its calls to the file system fail and records them."""
import os
import pathlib
import subprocess
import tempfile
import typing


class Call(typing.NamedTuple):
    name: str
    bytes: int
    offset: int
    path: str


class FaultyRun(typing.NamedTuple):
    status: int
    output: str
    errors: str
    calls: list

    def of(self, name):
        return [call for call in self.calls if call.name == name]


def run_faulty(command, library, folder, fault="", seconds=60) -> FaultyRun:
    """Runs the command in the folder, with that fault (see faulty_calls.cpp) or with none."""
    with tempfile.NamedTemporaryFile(prefix="bloomgate-test-") as log:
        environment = {"LD_PRELOAD": library, "FAULTY_CALLS_FOLDER": str(folder), "FAULTY_CALLS_LOG": log.name,
                       "FAULTY_CALLS_FAULT": fault}  # fmt: skip
        result = subprocess.run(command, cwd=folder, capture_output=True, timeout=seconds,
                                env={**os.environ, **environment})  # fmt: skip
        lines = pathlib.Path(log.name).read_text().splitlines()
    fields = [line.split(" ", 3) for line in lines]
    calls = [Call(name, int(count), int(offset), path) for name, count, offset, path in fields]
    return FaultyRun(result.returncode, result.stdout.decode(), result.stderr.decode(), calls)
