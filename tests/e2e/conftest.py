"""End-to-end tests: the built programs and a real Postfix. Run them with ctest, or by hand:

    /usr/bin/python3 -B -m pytest -p no:cacheprovider tests/e2e

--all also runs the tests that take longer. BLOOMGATE_BUILD names another build folder than build/release. Several files
at a time, by pytest-xdist: -n 2 --dist loadgroup. Everything stays on loopback, and ends with the test.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from private_mail.client import Message  # noqa: E402
from private_mail.filter import REPOSITORY, build_filter_of, build_folder  # noqa: E402
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, Gateway, GatewayConfig  # noqa: E402
from private_mail.processes import temporary_folder  # noqa: E402

os.environ["PATH"] += f"{os.pathsep}{REPOSITORY}/scripts"  # the doctor asks setup-postfix
WRITES_NO_BYTECODE = sys.dont_write_bytecode
NICENESS = os.getpriority(os.PRIO_PROCESS, 0)
LISTED = "listed@example.org"
UNLISTED = "unlisted@example.org"
# What a mark says of LISTED behind its host, where the envelope sender is taken at its word.
LISTED_BY = "; identity=envelope; authentication=none; whitelist=whitelist"


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the tests marked all_only too")


# Before pytest-xdist's own hook, which goes by these marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if not config.getoption("--all"):
        left_out = [item for item in items if item.get_closest_marker("all_only")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        item.add_marker(pytest.mark.xdist_group(side_by_side_group(item)))
    # They take longest: begun last, they would run alone at the end.
    items.sort(key=lambda item: not boots_containers(item))


def boots_containers(item):
    return item.get_closest_marker("boots_containers") is not None


def side_by_side_group(item):
    """Tests of one group run one after the other: those that share servers, which are those of a file, or of a recipe in a
    file that has several; and those of one folder that boot containers, some of which share the packages that are made for
    them: while these are made, another folder's containers boot."""
    if boots_containers(item):
        return f"containers: {item.path.parent.name}"
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return " ".join([item.path.stem, *(params[name] for name in ("recipe", "patient") if name in params)])


def pytest_collectstart():
    sys.dont_write_bytecode = WRITES_NO_BYTECODE  # scripts that tests import set it


def pytest_configure(config):
    config.addinivalue_line("markers", "all_only: takes long, and is run by scripts/test --all only")
    config.addinivalue_line("markers", "boots_containers: starts small systems of Debian's, one at a time")
    config.addinivalue_line("markers", "may_take(seconds): takes longer than others, where the machine has other work")
    config.addinivalue_line("markers", "xdist_group(name): tests that pytest-xdist runs one after the other")
    # Each of pytest-xdist's workers imports all tests, and some of these make keys.
    if hasattr(config, "workerinput"):
        os.environ.pop("PYTHONPYCACHEPREFIX", None)  # of the tests, not of what they start
    else:
        keys = tempfile.TemporaryDirectory(prefix="bloomgate-keys-")
        os.environ["BLOOMGATE_TEST_KEYS"] = keys.name
        config.add_cleanup(keys.cleanup)
    # Ended from outside (a deadline, say), every server is stopped all the same.
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("ended by SIGTERM", 128 + signal.SIGTERM))


def within(seconds):
    """Makes a hook of pytest's fail the test that takes longer: where a faulty program hangs, so would the test."""
    def hook(item):
        limit = max([seconds, *(mark.args[0] for mark in item.iter_markers("may_take"))])

        def fail(*_):
            pytest.fail(f"it took longer than {limit} s")

        before = signal.signal(signal.SIGALRM, fail)
        signal.setitimer(signal.ITIMER_REAL, limit, GRACE_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    return pytest.hookimpl(hookwrapper=True)(hook)


# Setting up may be making a minimal Debian, and booting it. A clean-up may wait for what hangs as well: it is
# interrupted again.
GRACE_SECONDS = 60


def first_of(cases):
    """For pytest.mark.parametrize: cases that show nearly the same. The first is in the usual run, all are with --all."""
    return [cases[0], *(pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.all_only)
                        for case in cases[1:])]
pytest_runtest_setup = within(1500)
pytest_runtest_call = within(300)
pytest_runtest_teardown = within(300)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """The tests that boot containers are the longest chain: with one share of the processors among many, all others would
    have ended long before them. They get more where that is allowed."""
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS - 10 if boots_containers(item) else NICENESS)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows the logs of the servers beside a failure."""
    report = (yield).get_result()
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if hasattr(value, "logs"):
                report.sections.append((f"logs of {name}", value.logs()[-8000:]))
            elif isinstance(value, Path) and value.is_dir():
                report.sections.extend((str(log), text) for log, text in logs_below(value))
        # What a fixture has started may be known to that one only.
        for gateways in Gateways.running:
            report.sections.append(("logs of the gateways", gateways.logs()[-8000:]))


def logs_below(folder):
    """What the programs that a test has started itself have written into its folder: each log's path and its end."""
    for log in sorted([*folder.rglob("*.log"), *folder.rglob("*.out")]):
        if log.is_file():
            yield log, log.read_text(encoding="utf-8", errors="replace")[-4000:]


class Gateways:
    """start(addresses, *build_options, inet=…, settings=…) starts a gateway with that whitelist."""

    running = []  # all that have not been closed

    def __init__(self):
        self._open = ExitStack()
        self._gateways = []
        self.running.append(self)

    def __call__(self, addresses=(LISTED,), *build_options, **config):
        folder = self.enter(temporary_folder("e2e"))
        whitelist = folder / "whitelist.bloom"
        build_filter_of(whitelist, addresses, *build_options)
        return self.start(folder, GatewayConfig(whitelist, **config))

    def enter(self, part):
        """Starts another part, which stays as long as the gateways."""
        return self._open.enter_context(part)

    def start(self, folder, config):
        gateway = self.enter(Gateway(folder, config))
        self._gateways.append(gateway)
        return gateway

    def logs(self):
        return "\n".join(gateway.logs() for gateway in self._gateways)

    def close(self):
        self.running.remove(self)
        self._open.close()


def places(gateway, *senders):
    """Where a message of each sender goes."""
    return [delivery.place for delivery in gateway.send(*map(Message, senders))]


def assert_it_serves(gateway):
    assert places(gateway, LISTED, UNLISTED) == [LIGHT_PATH, DEEP_CHECK]


def skip_without_root():
    if os.geteuid() != 0:
        pytest.skip("Postfix needs root")


def gateways():
    skip_without_root()
    with closing(Gateways()) as started:
        yield started


@pytest.fixture(scope="session")
def packages(request):
    """The folder of Debian's packages. lintian has found nothing in them. BLOOMGATE_PACKAGES names those that are made
    already."""
    if made := os.environ.get("BLOOMGATE_PACKAGES"):
        yield Path(made).resolve(strict=True)
        return
    if shutil.which("lintian") is None or shutil.which("dh") is None:
        pytest.skip("making packages needs debhelper and lintian: scripts/install-dependencies packages")
    words, environment = [], {**os.environ}
    if not request.config.getoption("--all"):
        words = ["--from", build_folder()]
        # Compressing the debugging symbols as for a release would take longer than all the rest.
        environment |= {"DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    with temporary_folder("packages", build_folder()) as folder:
        output = folder / "new"
        done = subprocess.run([REPOSITORY / "scripts/build-packages", *words, "--output", output],
                              capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        yield output


start_gateway = pytest.fixture(gateways)  # for one test
start_shared_gateway = pytest.fixture(gateways, scope="module")  # for all tests of a file
