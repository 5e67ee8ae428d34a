"""The job file of config/slurm under a Slurm of its own, on this machine: munged, slurmctld and slurmd from Debian's packages.

usage: slurm_test.py BLOOMGATE BLOOMGATE_MPI JOB_FILE
"""
import os
import socket
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

from private_mail.processes import Program, free_port, temporary_folder  # noqa: E402

BLOOMGATE, BLOOMGATE_MPI, JOB_FILE = map(os.path.abspath, sys.argv[1:4])
SECONDS = 120  # that a step may take

SETTINGS = """\
ClusterName=bloomgate
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=8000
PartitionName=all Nodes=ALL Default=YES State=UP
"""


class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(temporary_folder("slurm"))
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin/bloomgate-mpi").symlink_to(BLOOMGATE_MPI)
        settings = SETTINGS.format(host=socket.gethostname().split(".")[0], folder=cls.folder, ports=(free_port(), free_port()))
        (cls.folder / "slurm.conf").write_text(settings)
        (cls.folder / "munge.key").write_bytes(os.urandom(1024))
        (cls.folder / "munge.key").chmod(0o400)
        for name in ("state", "spool"):
            (cls.folder / name).mkdir()
        os.environ.update(SLURM_CONF=str(cls.folder / "slurm.conf"), OMPI_MCA_btl="self,vader",
                          OMPI_MCA_btl_vader_single_copy_mechanism="none",
                          PATH=f"{cls.folder}/bin:{os.environ['PATH']}:/usr/sbin:/sbin")
        cls.start((cls.folder / "munge.sock").exists, "munged", "--foreground", "--force", f"--key-file={cls.folder}/munge.key",
                  f"--socket={cls.folder}/munge.sock", f"--pid-file={cls.folder}/munged.pid",
                  f"--log-file={cls.folder}/munged.own.log", f"--seed-file={cls.folder}/munged.seed")
        cls.start(lambda: cls.states() != "", "slurmctld", "-D")
        cls.start(lambda: cls.states() == "idle", "slurmd", "-D")

    @classmethod
    def start(cls, ready, *command):
        """A part of Slurm, until the tests end."""
        part = Program(command, cls.folder / f"{command[0]}.log")
        cls.addClassCleanup(part.stop)
        part.wait_until_ready(ready, command[0])
        return part

    @staticmethod
    def states():
        """Of all nodes; nothing before the controller answers."""
        return subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, timeout=SECONDS,
                              check=False).stdout.strip()

    def setUp(self):
        self.lists, self.output = self.folder / "lists", self.folder / "whitelist.bloom"
        self.lists.mkdir(exist_ok=True)
        for number in range(3):
            (self.lists / f"{number}.txt").write_text(
                "".join(f"user{i}@example{i % 89}.org\n" for i in range(number * 70_000, number * 70_000 + 100_001)))
        self.output.unlink(missing_ok=True)

    def submit(self, **settings):
        """Three tasks on this machine. Returns the exit status of the job and what it said."""
        said = self.folder / "job.log"
        done = subprocess.run(["sbatch", "--wait", "--nodes=1", "--ntasks-per-node=3", "--cpus-per-task=2", "--mem=1G",
                               f"--output={said}", f"--chdir={self.folder}", JOB_FILE],
                              env={**os.environ, "LISTS": str(self.lists), "OUTPUT": str(self.output), **settings},
                              capture_output=True, text=True, timeout=SECONDS, check=False)
        return done.returncode, done.stdout + done.stderr + (said.read_text() if said.exists() else "")

    def test_the_job_makes_the_file_of_one_machine(self):
        options = ["--seed", "7", "--bits-per-entry", "64"]
        wanted = self.folder / "wanted.bloom"
        subprocess.run([BLOOMGATE, "build", "--quiet", *options, "--output", wanted, self.lists], check=True,
                       capture_output=True)
        status, said = self.submit(OPTIONS=" ".join(options))
        self.assertEqual(status, 0, said)
        self.assertIn("between 3 ranks", said)
        self.assertTrue(self.output.read_bytes() == wanted.read_bytes(), said)

    def test_a_job_that_fails_says_why_and_leaves_the_old_filter(self):
        self.output.write_bytes(b"\x89BLM\r\n\x1a\nthe old one")
        (self.lists / "1.txt").write_text("this is no address\n")
        status, said = self.submit(OPTIONS="--strict")
        self.assertNotEqual(status, 0, said)
        self.assertIn("1 line was rejected and --strict was given", said)
        self.assertEqual(self.output.read_bytes(), b"\x89BLM\r\n\x1a\nthe old one")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: a Slurm of its own needs root")
        sys.exit(0)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
