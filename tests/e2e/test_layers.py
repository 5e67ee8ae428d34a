"""A whitelist that is a folder of layers, with a real Postfix: what is appended takes effect at once, and nobody who
stays listed is checked meanwhile."""

import itertools
import os
import subprocess

import pytest
from conftest import LISTED, UNLISTED
from private_mail.client import Message
from private_mail.filter import built
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, GatewayConfig
from private_mail.processes import temporary_folder
from traffic import Traffic

NEW = "new@example.org"


class Layers:
    """A folder of layers, and the lists that they are made of."""

    def __init__(self, folder):
        self.lists, self.path = folder / "lists", folder / "layers"
        self.lists.mkdir()
        self.path.mkdir()
        os.chmod(self.path, 0o755)

    def bloomgate(self, command, *words):
        done = subprocess.run([built("filter/cli/bloomgate"), command, self.path, *words],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for layer in self.path.glob("*.bloom"):
            layer.chmod(0o644)

    def append(self, *addresses):
        name = self.lists / f"{len(list(self.lists.iterdir()))}.txt"
        name.write_text("".join(f"{address}\n" for address in addresses), encoding="utf-8")
        self.bloomgate("add-layer", name, "--keep", "2", "--quiet")

    def fold(self):
        self.bloomgate("fold-layers", self.lists, "--keep", "2", "--quiet")


@pytest.fixture
def start(start_gateway):
    def start_with_layers():
        folder = start_gateway.enter(temporary_folder("layers"))
        layers = Layers(folder)
        layers.append(LISTED)
        return start_gateway.start(folder, GatewayConfig(layers.path)), layers
    return start_with_layers


def place_of(gateway, sender):
    delivery, = gateway.send(Message(sender))
    return delivery.place, delivery.marks[0]


def test_an_append_and_a_fold_are_rolled_back_at_once(start):
    gateway, layers = start()
    assert place_of(gateway, NEW)[0] == DEEP_CHECK
    layers.append(NEW)
    gateway.daemon.logged("layers of whitelist layers: 2")
    for sender, layer in ((NEW, "0002"), (LISTED, "0001")):
        place, mark = place_of(gateway, sender)
        assert place == LIGHT_PATH and mark.endswith(f"whitelist=layers/{layer}")
    before = len(gateway.daemon.log())
    layers.bloomgate("rollback")
    gateway.daemon.logged("layers of whitelist layers: 1", before)
    assert place_of(gateway, NEW)[0] == DEEP_CHECK
    assert place_of(gateway, LISTED)[0] == LIGHT_PATH
    before = len(gateway.daemon.log())
    layers.bloomgate("rollback")
    gateway.daemon.logged("layers of whitelist layers: 2", before)
    assert place_of(gateway, NEW)[0] == LIGHT_PATH

    before = len(gateway.daemon.log())
    layers.fold()
    gateway.daemon.logged("layers of whitelist layers: 1", before)
    before = len(gateway.daemon.log())
    layers.bloomgate("rollback")
    gateway.daemon.logged("layers of whitelist layers: 2", before)
    place, mark = place_of(gateway, NEW)
    assert place == LIGHT_PATH and mark.endswith("whitelist=layers/0002")
    # The watch has followed the folder to its place.
    layers.append("third@example.org")
    gateway.daemon.logged("layers of whitelist layers: 3", before)


def test_while_changes_are_made_and_rolled_back_senders_that_stay_listed_are_delivered(start):
    gateway, layers = start()
    with Traffic(gateway, lambda _: itertools.cycle((LISTED, UNLISTED))) as traffic:
        for number in range(3):
            for name in ("other", "another", "third"):
                layers.append(f"{name}{number}@example.org")
                traffic.wait_for_more(5)
            layers.fold()
            for _ in range(3):
                layers.bloomgate("rollback")
                traffic.wait_for_more(3)
    for delivery in gateway.deliveries(traffic.sent):
        assert delivery.place == (LIGHT_PATH if delivery.message.path == LISTED else DEEP_CHECK)
