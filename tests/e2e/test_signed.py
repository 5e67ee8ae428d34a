"""Whitelists that a trusted key must have signed, with a real Postfix: a file without that signature is refused as a
damaged one is, the last good one serves, and the key can be changed."""

import os
import re
import shutil
import subprocess
import urllib.request

import pytest
from conftest import LISTED, UNLISTED, assert_it_serves, places
from private_mail.daemon import REFUSED, RELOADED
from private_mail.filter import build_filter_of, built
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, GatewayConfig
from private_mail.processes import free_port, temporary_folder, wait_until

NEW = "new@example.org"


def bloomgate(*words):
    done = subprocess.run([str(word) for word in (built("filter/cli/bloomgate"), *words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Publisher:
    """A publisher of lists, which signs them with a key of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.key = folder / "secret.key"
        self.public = bloomgate("sign", "--new-key", self.key).strip()

    def publish(self, path, *addresses):
        """A signed list and its manifest take the place of what is there."""
        text = self.folder / "list.txt"
        text.write_text("".join(f"{address}\n" for address in addresses))
        old = os.umask(0o022)
        bloomgate("build", "--output", path, "--sign-key", self.key, "--allow-shrink", "--quiet", text)
        os.umask(old)


@pytest.fixture
def world(start_gateway):
    folder = start_gateway.enter(temporary_folder("signed"))
    places = [folder / "publisher", folder / "other", folder / "served"]
    for place in places:
        place.mkdir()
        place.chmod(0o755)
    ours, other = Publisher(places[0]), Publisher(places[1])
    whitelist = places[2] / "whitelist.bloom"
    ours.publish(whitelist, LISTED)

    def start(**settings):
        return start_gateway.start(folder, GatewayConfig(whitelist, settings={"trusted-key": ours.public, **settings}))
    return start, ours, other, whitelist


def unsigned(path, *addresses):
    made = path.parent / "made"
    build_filter_of(made, addresses)
    made.rename(path)


def test_only_a_list_that_the_trusted_key_signed_is_loaded_and_the_last_good_one_serves(world):
    start, ours, other, whitelist = world
    metrics = free_port()
    gateway = start(metrics=f"127.0.0.1:{metrics}")
    gateway.daemon.logged("loaded .*signed by " + re.escape(ours.public))
    assert_it_serves(gateway)

    for put, why in ((unsigned, "is not signed"), (other.publish, "is no trusted key")):
        before = len(gateway.daemon.log())
        put(whitelist, UNLISTED)
        gateway.daemon.logged(why, before)
        assert_it_serves(gateway)
    gateway.daemon.reload(REFUSED)
    assert_it_serves(gateway)
    with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics") as answer:
        refused, = re.findall(r'(?m)^bloomgate_reloads_total\{[^}]*refused[^}]*\} (\d+)', answer.read().decode())
    assert int(refused) == 3

    before = len(gateway.daemon.log())
    ours.publish(whitelist, UNLISTED)
    gateway.daemon.logged(RELOADED, before)
    assert places(gateway, LISTED, UNLISTED) == [DEEP_CHECK, LIGHT_PATH]


def test_layers_are_signed_when_they_appear_and_the_doctor_names_one_that_is_not(start_gateway):
    folder = start_gateway.enter(temporary_folder("signed-layers"))
    ours = Publisher(folder)
    layers = folder / "layers"
    layers.mkdir()
    layers.chmod(0o755)

    def append(address, *options):
        text = folder / "new.txt"
        text.write_text(f"{address}\n")
        old = os.umask(0o022)
        bloomgate("add-layer", layers, text, "--quiet", *options)
        os.umask(old)

    append(LISTED, "--sign-key", ours.key)
    gateway = start_gateway.start(folder, GatewayConfig(layers, settings={"trusted-key": ours.public}))
    append(NEW, "--sign-key", ours.key)
    gateway.daemon.logged("layers of whitelist layers: 2")
    assert "is not signed" not in gateway.daemon.log()
    assert places(gateway, LISTED, NEW, UNLISTED) == [LIGHT_PATH, LIGHT_PATH, DEEP_CHECK]

    append(UNLISTED)
    assert places(gateway, LISTED, NEW, UNLISTED) == [LIGHT_PATH, LIGHT_PATH, DEEP_CHECK]
    doctor = subprocess.run(list(map(str, gateway.daemon.command("--doctor"))), capture_output=True, text=True)
    assert re.search(r"0003\.bloom is not signed.*bloomgate sign --key", doctor.stdout), doctor.stdout
    assert "0002.bloom is not signed" not in doctor.stdout

    bloomgate("sign", "--key", ours.key, layers)
    gateway.daemon.logged("layers of whitelist layers: 3")
    assert places(gateway, UNLISTED) == [LIGHT_PATH]


def test_a_front_begins_with_an_empty_folder_and_has_what_its_publisher_revokes(start_gateway):
    folder = start_gateway.enter(temporary_folder("front"))
    ours = Publisher(folder)
    made, layers = folder / "made", folder / "layers"
    for place in (made, layers):
        place.mkdir()
        place.chmod(0o755)
    own = folder / "own.txt"
    own.write_text("")

    def publish(*revoked):
        (made / "revoked").write_text("".join(f"{address}\n" for address in revoked))
        bloomgate("sign", "--key", ours.key, made)
        for path in sorted(made.iterdir(), key=lambda path: path.name == "manifest"):
            copy = layers / f".{path.name}"
            shutil.copyfile(path, copy)
            copy.chmod(0o644)
            copy.rename(layers / path.name)

    def edit(how, address):
        return subprocess.run([str(word) for word in gateway.daemon.command(how, address)], capture_output=True, text=True)

    text = folder / "list.txt"
    text.write_text(f"{LISTED}\n{NEW}\n")
    bloomgate("add-layer", made, text, "--quiet", "--sign-key", ours.key)
    gateway = start_gateway.start(folder, GatewayConfig(layers, settings={
        "trusted-key": ours.public, "allow-missing-whitelist": "yes", "revoked": layers / "revoked"}))
    gateway.daemon.logged("starting without the list revoked")
    assert places(gateway, LISTED) == [DEEP_CHECK]

    publish(NEW)
    gateway.daemon.logged("layers of whitelist layers: 1")
    wait_until(lambda: places(gateway, LISTED, NEW) == [LIGHT_PATH, DEEP_CHECK], "the published lists to be in use")
    done = edit("unrevoke", NEW)
    assert done.returncode and "is published with whitelist layers" in done.stderr, done.stderr

    # A list of this machine's own counts beside the published one.
    config = gateway.daemon.config_file
    config.write_text(config.read_text().replace(str(layers / "revoked"), str(own)))
    gateway.daemon.reload(RELOADED)
    before = len(gateway.daemon.log())
    assert edit("revoke", LISTED).returncode == 0
    gateway.daemon.logged("loaded 1 entry of " + str(own), before)
    wait_until(lambda: places(gateway, LISTED, NEW) == [DEEP_CHECK, DEEP_CHECK], "both to be revoked")
    before = len(gateway.daemon.log())
    publish()
    gateway.daemon.logged("loaded 0 more entries of ", before)
    wait_until(lambda: places(gateway, LISTED, NEW) == [DEEP_CHECK, LIGHT_PATH], "the publisher's change to be in use")
