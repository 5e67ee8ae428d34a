"""What tests/bench/endurance does with a million messages, with fewer: descriptors, threads and memory stay flat."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest
from private_mail.filter import REPOSITORY, build_folder


def load(path):
    loader = SourceFileLoader("endurance", str(path))
    module = module_from_spec(spec_from_loader("endurance", loader))
    loader.exec_module(module)
    return module


endurance = load(REPOSITORY / "tests/bench/endurance")
CONNECTIONS = 16


def test_many_messages_leave_descriptors_threads_and_memory_as_they_were(tmp_path):
    samples = endurance.run(build_folder().resolve(), 40_000, CONNECTIONS, rounds=12,
                            settings=f"log-level = info\nmetrics = {tmp_path}/metrics.sock\n")
    assert samples[-1]["messages"] >= 35_000
    assert endurance.growth(samples, CONNECTIONS) == []
    assert max(sample["bytes"] for sample in samples) <= 32 << 20


def flat():
    # As it is: memory comes and goes, and so do threads.
    return [{"descriptors": 20, "threads": 9 + number % 3, "bytes": (4 << 20) + (number % 5 << 16)}
            for number in range(40)]


def test_figures_that_come_and_go_count_as_flat():
    assert endurance.growth(flat(), CONNECTIONS) == []


@pytest.mark.parametrize("key, more", [("descriptors", 1 / 30), ("threads", 1), ("bytes", 70_000)])
def test_a_figure_that_grows_is_named(key, more):
    samples = flat()
    for number, sample in enumerate(samples):
        sample[key] += int(number * more)
    found = endurance.growth(samples, CONNECTIONS)
    assert len(found) == 1
    assert found[0].startswith("memory" if key == "bytes" else key)
