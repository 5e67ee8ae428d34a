"""podman with images and containers of its own: none of the machine's is seen, and nothing of ours stays."""

import json
import os
import subprocess
from pathlib import Path

from .daemon import Daemon
from .own_mounts import own_mounts
from .processes import Program, free_port

USER = 8891  # of the image, as scripts/build-image has it
CONFIG = "/etc/bloomgate/bloomgate-milter.conf"
WHITELISTS, LEARNED = "/var/lib/bloomgate/whitelists", "/var/lib/bloomgate/learned"
# As an operator runs it. The network is the host's: the tests stay on loopback. No systemd is there to run health checks.
OPTIONS = ("--network", "host", "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges",
           "--health-interval", "disable")
# crun refuses a machine that has the control groups of version 1 with those of version 2 in a folder of them. What it does
# not see it does not refuse.
HIDING = 'if mountpoint -q /sys/fs/cgroup/unified; then umount /sys/fs/cgroup/unified; fi; exec "$0" "$@"'
# Limits such as a machine allows that lets root not raise them, and no control groups: they may be somebody else's.
CONTAINERS_CONF = """\
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "{folder}/tmp"
"""
STORAGE_CONF = """\
[storage]
driver = "vfs"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""


class Podman:
    def __init__(self, folder):
        self.folder = Path(folder)

    def __enter__(self):
        for name, text in (("containers.conf", CONTAINERS_CONF), ("storage.conf", STORAGE_CONF)):
            (self.folder / name).write_text(text.format(folder=self.folder))
        self._mounts = own_mounts()
        self._words = [*self._mounts.__enter__(), "sh", "-c", HIDING, "env", f"CONTAINERS_CONF={self.folder}/containers.conf",
                       f"CONTAINERS_STORAGE_CONF={self.folder}/storage.conf"]
        return self

    def __exit__(self, *error):
        self.attempt("rm", "--all", "--force", "--time", "0")
        self._mounts.__exit__(*error)

    def where_podman_works(self, *words):
        """The words that run a command with this podman."""
        return [str(word) for word in (*self._words, *words)]

    def words(self, *words):
        return self.where_podman_works("podman", *words)

    def attempt(self, *words, given=None):
        return subprocess.run(self.words(*words), input=given, capture_output=True, text=True)

    def output(self, *words, given=None):
        done = self.attempt(*words, given=given)
        if done.returncode != 0:
            raise RuntimeError(f"podman {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout

    def load(self, file):
        """Returns the image's name."""
        return self.output("load", "--quiet", "--input", file).strip().removeprefix("Loaded image: ")

    def inspect(self, name):
        return json.loads(self.output("inspect", name))[0]

    def attempt_once(self, *words, given=None):
        """A container that ends by itself."""
        return self.attempt("run", "--rm", "--interactive", *OPTIONS, *words, given=given)

    def once(self, *words, given=None):
        return self.output("run", "--rm", "--interactive", *OPTIONS, *words, given=given)


class DaemonInContainer(Daemon):
    """The daemon of an image. It listens on 127.0.0.1, and has its volumes where the image has their folders."""

    def __init__(self, folder, config, podman, image, variables):
        super().__init__(folder, config)
        self.podman = podman
        self.image = image
        self.variables = {"BLOOMGATE_METRICS": f"127.0.0.1:{free_port()}", **variables}
        self.name = f"daemon-{self.folder.parent.name}"
        self.learned = self.folder / "learned"

    def write_config(self):
        self.learned.mkdir(exist_ok=True)
        os.chown(self.learned, USER, USER)
        settings = {"socket": self.socket, "whitelist": f"{WHITELISTS}/{self.config.whitelist.name}",
                    "host-name": self.config.host_name, "mark-tells-why": "yes", **self.config.settings}
        self.config_file.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))

    def _reachable_binary(self):
        return None  # it is in the image

    def launch(self):
        self.may_fail = True
        volumes = {self.config_file: f"{CONFIG}:ro", self.config.whitelist.parent: f"{WHITELISTS}:ro", self.learned: LEARNED}
        words = [word for here, there in volumes.items() for word in ("--volume", f"{here}:{there}")]
        words += [word for name, value in self.variables.items() for word in ("--env", f"{name}={value}")]
        self.program = Program(self.podman.words("run", "--rm", "--name", self.name, *OPTIONS, *words, self.image),
                               self.log_file)
        return self.program

    def execute(self, *words, given=None):
        """A further command in the container."""
        return self.podman.attempt("exec", "--interactive", self.name, *words, given=given)

    def stop(self):
        """SIGTERM, as `podman stop` sends it. Returns the exit code."""
        self.podman.attempt("stop", "--time", "30", self.name)
        return self.program.wait()

    def kill(self):
        self.may_fail = True
        self.podman.output("kill", "--signal", "KILL", self.name)
        return self.program.wait()

    def reload(self, expected):
        before = len(self.log())
        self.podman.output("kill", "--signal", "USR1", self.name)
        self.logged(expected, before)
