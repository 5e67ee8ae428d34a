"""Whichever call fails, a list, a rejected line or a forgotten person is not lost without a word."""
import errno
import shutil
import typing

from faulty_commands import DurabilityTest, main, run_program

LOG = "".join(f"""\
Nov 20 10:00:0{i} mx postfix/submission/smtpd[1]: 4F1A2B3{i}: client=pc[192.0.2.7], sasl_method=PLAIN, sasl_username=ann
Nov 20 10:00:0{i} mx postfix/qmgr[3]: 4F1A2B3{i}: from=<ann@ours.example>, size=400, nrcpt=1 (queue active)
Nov 20 10:00:0{i} mx postfix/smtp[4]: 4F1A2B3{i}: to=<{who}@example.org>, relay=mx.example.org[203.0.113.1]:25, dsn=2.0.0, status=sent (250 2.0.0 Ok)
""" for i, who in enumerate(("joe", "zoe", "bob")))  # fmt: skip
REJECTED = "".join(f"line {i}\n" for i in range(1_000))
HARVEST = ["harvest", "--own-domain", "ours.example", "--output", "lists", "--date", "2026-11-20", "--threads", "1", "--pairs"]


class Job(typing.NamedTuple):
    arguments: list
    files: dict  # what is there before, by its name
    before: list = []  # a command that is run first, without faults


JOBS = {
    "harvest": Job([*HARVEST, "mail.log"], {"mail.log": LOG}),
    "harvest into a folder with lists": Job(
        [*HARVEST, "mail.log"], {"mail.log": LOG, "lists/2026-11-19.txt": "joe@example.org > ann@ours.example\n"}),
    "harvest with more than memory holds": Job(
        [*HARVEST, "--memory", "64K", "mail.log"], {"mail.log": LOG * 2000}),
    "forget": Job(
        ["learned", "forget", "-", "zoe@example.org", "--lists", "lists"],
        {"lists/2026-11-19.txt": "".join(f"{who}@example.org > ann@ours.example\n" for who in ("joe", "zoe", "bob")),
         "lists/.journal-cursor": "s=1;i=2\n20780 0 1 2 mx 4F1A2B30\tzoe@example.org\n"},
        ["learned", "forget", "-", "eve@example.org", "--lists", "lists"]),
    "build with a file of rejected lines": Job(
        ["build", "--output", "filter", "--seed", "1", "--threads", "1", "--reject-file", "rejected", "--allow-rejects", "list"],
        {"list": "joe@example.org\n" + REJECTED, "rejected": "# list:7: missing-at-sign\nold\n"}),
}


class ListsTest(DurabilityTest):
    def run_job(self, job, fault=""):
        shutil.rmtree(self.folder, ignore_errors=True)
        for name, text in job.files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        if job.before:
            run_program(self.folder, *job.before, check=True)
        before = self.contents()
        run = self.run_here(job.arguments, fault)
        return run, before, self.contents()

    def contents(self):
        """Of the hashes of people, which are others in each file, their number."""
        found = {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        return {name: text.count(b"\n") if name.endswith(".forgotten") else text for name, text in found.items()}

    def test_if_any_call_fails_all_of_the_output_is_there_or_none_and_the_reason_is_told(self):
        for name, job in JOBS.items():
            sound, _, want = self.run_job(job)
            self.assertEqual(sound.status, 0, sound.errors)
            for call in sorted({call.name for call in sound.calls}):
                for number in range(1, len(sound.of(call)) + 1):
                    with self.subTest(job=name, call=call, number=number):
                        run, old, found = self.run_job(job, f"{call} {number} {errno.EIO}")
                        if run.status == 0:
                            self.assertEqual(sorted(found), sorted(want))
                            self.assertEqual(found, want)
                            continue
                        self.assertIn("Input/output error", run.errors[-300:])
                        self.assertLessEqual(set(found), set(want) | set(old), "something is left")
                        for each in set(found) | set(old):
                            allowed = [old.get(each), want.get(each), *([None] if each == "rejected" else [])]
                            self.assertIn(found.get(each), allowed, each)

    def test_a_file_system_without_files_that_have_no_name_gets_the_same_list(self):
        job = JOBS["harvest"]
        sound, _, want = self.run_job(job)
        first = 1 + [call.path for call in sound.of("open")].index(str(self.folder / "lists"))
        for error in (errno.EOPNOTSUPP, errno.EISDIR):
            run, _, found = self.run_job(job, f"open {first} {error}")
            self.assertEqual((run.status, found), (0, want), run.errors)
            self.assertEqual((self.folder / "lists/2026-11-20.txt.zst").stat().st_mode & 0o777, 0o640)


if __name__ == "__main__":
    main()
