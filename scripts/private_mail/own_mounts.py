"""A mount namespace of its own for a command: what it mounts is gone with it, even when it is interrupted."""

import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_mounts(*options):
    """The words that go before the command. `options` are further ones of unshare(1)."""
    unshare = ["unshare", "--mount", *options]
    if root_is_a_mount_point():
        yield unshare
        return
    # In a bare chroot only a mount point's propagation can be set, which `/` is not there. So it gets one.
    with tempfile.TemporaryDirectory() as mounted:
        try:
            yield [*unshare, "--propagation=unchanged", "sh", "-c",
                   'mount --rbind --make-rprivate / "$0" && exec chroot "$0" "$@"', mounted]
        finally:
            # Where the mounts are shared with the machine's, this one has come through to us.
            subprocess.run(["umount", "--lazy", "--recursive", mounted], stderr=subprocess.DEVNULL)


def root_is_a_mount_point():
    return any(line.split()[4] == "/" for line in Path("/proc/self/mountinfo").read_text().splitlines())


def may_unshare(*options):
    with own_mounts(*options) as words:
        return subprocess.run([*words, "true"], capture_output=True).returncode == 0
