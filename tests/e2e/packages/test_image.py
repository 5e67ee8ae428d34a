"""The container image behind a real Postfix of the host: made by scripts/build-image from Debian's packages, run by podman as
config/container/README.md says, on a read-only root, without a capability. The daemon listens on TCP."""

import os
import re
import shutil
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from private_mail.client import RawMessage
from private_mail.daemon import RELOADED
from private_mail.filter import REPOSITORY
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, Gateway, GatewayConfig
from private_mail.name_server import NameServer, NameServerConfig
from private_mail.podman import USER, DaemonInContainer, Podman
from private_mail.processes import temporary_folder, wait_until
from private_mail.signing import SigningKey

pytestmark = [pytest.mark.all_only, pytest.mark.boots_containers, pytest.mark.may_take(900)]

IMAGE = "localhost/bloomgate:new"
LISTED, NEW, UNLISTED = "listed@example.org", "new@example.org", "unlisted@example.org"
MOST_BYTES = 150_000_000


@pytest.fixture(scope="module")
def podman(request):
    """podman, with the image. BLOOMGATE_IMAGE names a file that has it already."""
    if os.geteuid() != 0:
        pytest.skip("making an image needs root")
    for program in ("podman", "buildah", "mmdebstrap"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: scripts/install-dependencies")
    # podman wants a short path.
    with temporary_folder("image") as folder, Podman(folder) as found:
        archive = os.environ.get("BLOOMGATE_IMAGE") or make_image(request.getfixturevalue("packages"), folder)
        found.output("tag", found.load(archive), IMAGE)
        tried = found.attempt_once(IMAGE, "true")
        if tried.returncode != 0:
            pytest.skip(f"podman cannot start a container: {tried.stderr.strip().splitlines()[-1]}")
        yield found


def make_image(packages, folder):
    archive = folder / "bloomgate.tar"
    done = subprocess.run([REPOSITORY / "scripts/build-image", "--packages", packages, "--output", archive],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return archive


def test_it_is_small_and_says_how_to_run_it(podman):
    found = podman.inspect(IMAGE)
    assert found["Size"] < MOST_BYTES
    config = found["Config"]
    assert (config["User"], config["Cmd"], config.get("Entrypoint")) == (f"{USER}:{USER}", ["bloomgate-milter"], None)
    assert found["HealthCheck" if "HealthCheck" in found else "Healthcheck"]["Test"] == ["CMD", "bloomgate-health"]
    assert re.search(r"~deb\d+u\d+$", config["Labels"]["org.opencontainers.image.version"])


def found_in_it(podman, *tests):
    """The files of which this is true, as far as its user may look."""
    return podman.attempt_once(IMAGE, "find", "/", "-xdev", *tests, "-print").stdout.split()


def test_nothing_of_the_machine_that_made_it_is_in_it(podman):
    assert "/usr/bin/bloomgate" in found_in_it(podman, "-name", "bloomgate")
    assert not found_in_it(podman, "-regex", "/\\(etc/apt\\|var/lib/apt\\|var/cache\\|var/log\\)/.*")


def test_its_user_owns_the_folders_that_become_volumes_and_no_other_file(podman):
    assert podman.once(IMAGE, "id", "-un") == "bloomgate\n"
    assert set(found_in_it(podman, "-user", "bloomgate")) == {
        f"/var/lib/bloomgate{name}" for name in ("", "/learned", "/whitelists")}
    podman.once(IMAGE, "touch", "/run/bloomgate/file", "/tmp/file")
    assert "Read-only file system" in podman.attempt_once(IMAGE, "touch", "/var/lib/bloomgate/file").stderr


class Site:
    """A Postfix, the daemon in a container, and a builder in another."""

    def __init__(self, folder, podman, names):
        self.podman = podman
        self.whitelists = folder / "whitelists"
        self.whitelists.mkdir()
        os.chown(self.whitelists, USER, USER)
        self.build(LISTED)
        settings = {"authentication": "required", "dmarc-fail-veto": "yes", "dns-servers": names.option}
        variables = {"BLOOMGATE_HOST_NAME": "from-the-environment.example"}
        self.gateway = Gateway(folder, GatewayConfig(
            self.whitelists / "whitelist.bloom", inet=True, settings=settings, removes_forged_results=False,
            daemon=partial(DaemonInContainer, podman=podman, image=IMAGE, variables=variables)))

    @property
    def daemon(self):
        return self.gateway.daemon

    def build(self, *addresses):
        """By the builder of the image."""
        lists = "".join(f"{address}\n" for address in addresses)
        self.podman.once("--volume", f"{self.whitelists}:{self.whitelists}", IMAGE, "bloomgate", "build", "--allow-shrink",
                         "--quiet", "--output", self.whitelists / "whitelist.bloom", "-", given=lists)

    def logs(self):
        return self.gateway.logs()


@pytest.fixture(scope="module")
def key():
    return SigningKey("example.org")


@pytest.fixture
def site(podman, key):
    with temporary_folder("image-site") as folder, \
            NameServer(folder / "names", NameServerConfig({key.record_name: key.record})) as names:
        found = Site(folder, podman, names)
        with found.gateway:
            yield found


def mail(sender, key=None):
    content = "\r\n".join([f"From: {sender}", "To: user@example.net", "Subject: lunch", "", "Hello.", ""]).encode()
    return RawMessage(sender, raw=key.sign(content) if key else content)


def places(site, *messages):
    return [delivery.place for delivery in site.gateway.send(*messages)]


def assert_it_decides(site, key):
    assert places(site, mail(LISTED, key), mail(LISTED), mail(UNLISTED, key)) == [LIGHT_PATH, DEEP_CHECK, DEEP_CHECK]


def test_a_listed_sender_that_is_really_signed_is_delivered_and_a_forged_one_is_checked(site, key):
    delivered, forged = site.gateway.send(mail(LISTED, key), mail(LISTED))
    assert (delivered.place, forged.place) == (LIGHT_PATH, DEEP_CHECK)
    assert delivered.marks[0].startswith("deliver; reason=listed; ") and "authentication=dkim" in delivered.marks[0]


def test_a_variable_counts_before_the_file(site, key):
    assert site.daemon.config.host_name in site.daemon.config_file.read_text()
    marks, = (delivery.marks for delivery in site.gateway.send(mail(LISTED, key)))
    assert "host=from-the-environment.example" in marks[0]
    checked = site.daemon.execute("bloomgate-milter", "--check-config")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_daemon_is_the_first_process_and_has_no_right(site):
    status = dict(re.findall(r"(?m)^(\w+):\s*(.*)$", site.daemon.execute("cat", "/proc/1/status").stdout))
    assert status["Name"] == "bloomgate-milte"
    assert status["Uid"].split() == [str(USER)] * 4 and int(status["CapEff"], 16) == 0 and status["NoNewPrivs"] == "1"


def test_it_is_well_while_it_decides_and_not_without_a_whitelist(site):
    def health():
        return site.daemon.execute("bloomgate-health")

    wait_until(lambda: health().returncode == 0, "a daemon that is well")
    assert site.podman.attempt("healthcheck", "run", site.daemon.name).returncode == 0
    site.whitelists.joinpath("whitelist.bloom").write_bytes(b"damaged")
    wait_until(lambda: "whitelist-unusable" in health().stdout and health().returncode == 1, "a daemon that is not well")


def test_a_new_whitelist_is_used_without_a_signal(site, key):
    assert places(site, mail(NEW, key)) == [DEEP_CHECK]
    site.build(LISTED, NEW)
    site.daemon.logged("loaded .* 2 entries")
    assert places(site, mail(NEW, key), mail(LISTED, key)) == [LIGHT_PATH, LIGHT_PATH]


def test_a_reload_takes_the_configuration_and_a_faulty_one_is_refused_with_the_reason(site, key):
    def reload():
        return site.daemon.execute("bloomgate-milter", "--reload", "1")

    def add(line):
        with open(site.daemon.config_file, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    add("mode = observe")
    done = reload()
    assert done.returncode == 0, done.stderr
    assert [delivery.marks for delivery in site.gateway.send(mail(LISTED, key))] == [[]]
    add("no-such-option = yes")
    done = reload()
    assert done.returncode != 0 and "no-such-option" in done.stderr


def test_sigusr1_reloads(site, key):
    site.daemon.reload(RELOADED)
    assert_it_decides(site, key)


def test_killed_all_mail_is_checked_and_another_container_decides_again(site, key):
    site.daemon.kill()
    assert places(site, mail(LISTED, key)) == [DEEP_CHECK]
    site.daemon.start()
    assert_it_decides(site, key)


def test_stopped_under_load_it_ends_well_and_no_message_is_lost(site, key):
    with site.gateway.connect() as client:
        sent = [(message, client.send(message)) for message in (mail(LISTED, key) for _ in range(10))]
        stopping = threading.Thread(target=lambda: codes.append(site.daemon.stop()))
        codes = []
        stopping.start()
        sent += [(message, client.send(message)) for message in (mail(LISTED, key) for _ in range(20))]
        stopping.join()
    assert codes == [0]
    assert {delivery.received.sink for delivery in site.gateway.deliveries(sent)} <= {LIGHT_PATH, DEEP_CHECK}
    site.daemon.start()


def test_an_upgrade_keeps_the_whitelist_and_what_the_daemon_has_kept(site, key):
    newer = "localhost/bloomgate:newer"
    site.podman.output("tag", IMAGE, newer)
    done = site.daemon.execute("bloomgate-milter", "suspended", "add", "bad@example.org")
    assert done.returncode == 0, done.stderr
    assert site.daemon.stop() == 0
    site.daemon.image = newer
    site.daemon.start()
    assert "bad@example.org" in site.daemon.execute("bloomgate-milter", "suspended", "list").stdout
    assert_it_decides(site, key)


def test_the_log_in_standard_error_says_why(site, key):
    delivery, = site.gateway.send(mail(UNLISTED, key))
    site.daemon.lines_of(delivery.queue_id)
    done = site.daemon.execute("bloomgate-milter", "why", "--log", "-", delivery.queue_id, given=site.daemon.log())
    assert done.returncode == 0 and UNLISTED in done.stdout, done.stdout + done.stderr


def test_a_slip_in_a_variable_ends_it_with_its_name(podman):
    done = podman.attempt_once("--env", "BLOOMGATE_LOGLEVEL=debug", IMAGE)
    assert done.returncode == 78 and "BLOOMGATE_LOGLEVEL" in done.stderr


def test_the_builder_publishes_and_pull_fetches_in_another_container(podman, tmp_path):
    here = tmp_path / "lists"
    here.mkdir()
    os.chown(here, USER, USER)
    tmp_path.chmod(0o755)
    mounted = ("--volume", f"{here}:/lists")
    key = re.search(r"\S{44}", podman.once(*mounted, IMAGE, "bloomgate", "sign", "--new-key", "/lists/key")).group()
    podman.once(*mounted, IMAGE, "mkdir", "/lists/published", "/lists/pulled")
    podman.once(*mounted, IMAGE, "bloomgate", "append", "--sign-key", "/lists/key", "/lists/published", "-", given=f"{LISTED}\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=here / "published")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        podman.once(*mounted, IMAGE, "bloomgate", "pull", f"http://127.0.0.1:{server.server_port}/", "/lists/pulled",
                    "--trusted-key", key)
        server.shutdown()
    assert "listed" in podman.once(*mounted, IMAGE, "bloomgate", "query", "/lists/pulled", LISTED)


def test_the_steps_of_the_page_lead_to_a_daemon_that_serves(podman, tmp_path):
    """In a network of its own, with a bridge, as podman has it by default."""
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/customers.txt").write_text(f"{LISTED}\n")
    tmp_path.chmod(0o755)
    page = (REPOSITORY / "config/container/README.md").read_text()
    steps = re.search(r"(?ms)^## The first `deliver`$(.*?)^## ", page).group(1)
    commands = "\n".join(line[4:] for line in steps.splitlines() if line.startswith("    "))
    image = re.search(r"localhost/bloomgate:\S+", commands).group()
    podman.output("tag", IMAGE, image)
    bridged = f"ip link set lo up && podman run --rm {image} true"
    network = podman.where_podman_works("unshare", "--net", "bash", "-ec")
    if (tried := subprocess.run([*network, bridged], capture_output=True, text=True)).returncode != 0:
        pytest.skip(f"podman cannot make a network: {tried.stderr.strip().splitlines()[-1]}")
    looks = """
    until podman exec bloomgate bloomgate-milter reload 1; do sleep 0.1; done
    podman healthcheck run bloomgate
    exec 3<>/dev/tcp/127.0.0.1/8891
    podman stop bloomgate"""
    done = subprocess.run([*network, f"ip link set lo up\n{commands}\n{looks}"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "serving /var/lib/bloomgate/whitelists/whitelist.bloom: 1 entry" in done.stdout
