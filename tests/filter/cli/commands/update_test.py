"""`bloomgate update-store`: the filter and the store that it leaves."""
import filecmp
import json
import os
import random
import resource
import time

from program import (
    EX_CANTCREAT, EX_DATAERR, EX_NOINPUT, EX_USAGE, IS_SANITIZED, KILLS, MEANT, ProgramTest, limited, main,
    users,
)


class UpdateTest(ProgramTest):
    """update, and the pair that it leaves."""

    SEEDS = ("--seed", "7", "--store-seed", "5")

    def build_pair(self, text, name="filter", *options):
        return self.check(0, "build", "-o", name, "--store", name + ".store", *MEANT, *options,
                          self.write(name + ".txt", text))

    def update(self, *options, status=0):
        output, errors = self.check(status, "update", "--store", "filter.store", "-o", "filter", *options)
        return (json.loads(output) if "--json" in options else output) if status == 0 else errors

    def check_listed(self, listed, not_listed):
        names = [*listed, *not_listed]
        self.assertEqual(self.answers("filter", "--confirm", "filter.store", *names),
                         ["listed"] * len(listed) + ["not-listed"] * len(not_listed))

    def contents(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def test_entries_are_added_and_removed_exactly_and_counted(self):
        self.build_pair(users(range(3000)) + "@partner.example\n@.old.example\n")
        add = self.write("add", users(range(2990, 3100)) + "@new.example\n@partner.example\nuser3099@example.org\n")
        remove = self.write("remove", users([0, 1, 3050, 9000]) + "@.old.example\n@.nobody.example\n")
        report = self.update("--add", add, "--remove", remove, "--json")
        wanted = {"addresses": 3097, "domain_entries": 2, "entries": 3099, "added": 100, "already_there": 11, "removed": 3,
                  "not_there": 3, "both": 1, "rejected": 0, "file": "filter", "store": "filter.store"}
        self.assertEqual({name: report[name] for name in wanted}, wanted)
        self.check(0, "verify", "filter", "--confirm", "filter.store")
        self.check_listed(["user2@example.org", "user3049@example.org", "x@new.example", "x@partner.example"],
                          ["user0@example.org", "user3050@example.org", "x@old.example", "x@a.old.example"])
        output = self.update("--remove", remove)
        self.assertRegex(output, r"(?m)^removed +0, 6 others were not there$")
        self.assertRegex(self.update("--add", add), r"(?m)^added +1, 111 others were there already$")
        one = self.update("--add", self.write("there", users([5])), "--remove", self.write("gone", users([9001])))
        self.assertRegex(one, r"(?m)^added +0, 1 other was there already\nremoved +0, 1 other was not there$")
        self.assertRegex(self.update("--add", remove, "--remove", remove), r"(?m)^both +6 were to be added and to be removed")

    def test_the_filter_of_a_store_that_stays_is_not_replaced(self):
        self.build_pair(users(range(100)))
        before = self.contents()
        said = self.update("--new-store", "new.store", status=EX_USAGE)
        self.assertIn("filter is the filter of filter.store, which would be left without one; name another --output, or leave "
                      "--new-store out", said)
        self.assertEqual(self.contents(), before)
        self.check(0, "update", "--store", "filter.store", "--new-store", "new.store", "-o", "new")
        self.check(0, "update", "--store", "filter.store", "--new-store", "new.store", "-o", "new")  # again, without a change
        self.check(0, "verify", "filter", "--confirm", "filter.store")

    def test_a_filter_with_excluded_senders_is_updated_only_with_their_lists(self):
        strangers = self.write("not", "".join(f"stranger{i}@example.com\n" for i in range(1000)))
        self.build_pair(users(range(9000)), "filter", "--bits-per-entry", "5", "--never-match", strangers)
        before = self.contents()
        add = self.write("add", "new@example.org\nstranger7@example.com\n")
        self.assertRegex(self.update("--add", add, status=64), "filter keeps excluded senders out.*--never-match")
        self.assertEqual({name: text for name, text in self.contents().items() if name != "add"}, before)
        report = self.update("--add", add, "--never-match", strangers, "--json")
        counts = report["known_strangers"]
        self.assertEqual((counts["known"], counts["entries"], counts["rejected"]), (1000, 1, 0))
        self.assertGreater(counts["excluded"], 2)
        self.check_listed(["new@example.org", "user0@example.org", "user8999@example.org", "stranger7@example.com"], [])
        out, _ = self.check(1, "query", "filter", "--count", "--list", strangers)
        self.assertEqual(out, "listed\t1\nnot-listed\t999\nrejected\t0\n")

    def test_an_update_excludes_the_senders_that_a_build_with_the_same_seeds_excludes(self):
        strangers = self.write("not", "".join(f"stranger{i}@example.com\n" for i in range(20_000)) + "user3@example.org\n"
                                      "eve@b.example\nnobody\n@b.example\n")
        for layout in ("page", "ribbon"):
            for threads in ("1", "3"):
                with self.subTest(layout=layout, threads=threads):
                    options = ("--layout", layout, *self.SEEDS)
                    self.build_pair(users(range(20_000)), "filter", *options)
                    self.build_pair(users(range(21_000)) + "@b.example\n", "want", *options, "--never-match", strangers)
                    add = self.write("add", users(range(19_000, 21_000)) + "@b.example\n")
                    output, errors = self.check(0, "update-store", "--store", "filter.store", "-o", "filter", "--add", add, "--never-match",
                                                strangers, "--seed", "7", "--threads", threads)
                    self.assertEqual(self.read("filter"), self.read("want"))
                    self.assertRegex(output, r"(?m)^excluded  20,002 senders; .* 1 entry; 1 listed by their domains$")
                    self.assertIn("no entry  1 line", output)
                    self.assertIn("user3@example.org is an entry", errors)
        before = self.read("filter")
        self.assertIn("3 are entries and 1 are no addresses", self.update("--never-match", strangers, "--strict", status=EX_DATAERR))
        self.assertEqual(self.read("filter"), before)
        self.assertIn("would overwrite the list", self.update("--never-match", str(self.folder / "filter"), status=EX_USAGE))

    def test_an_update_gives_the_bytes_of_a_build_from_the_changed_list(self):
        for layout in ("page", "line", "ribbon"):
            with self.subTest(layout=layout):
                options = ("--layout", layout, "--bits-per-entry", "9")
                self.build_pair(users(range(20_000)) + "@a.example\n", "filter", *options, *self.SEEDS)
                changed = users(range(5_000, 26_000)) + "@b.example\n"
                self.build_pair(changed, "want", *options, *self.SEEDS)
                add = self.write("add", users(range(19_000, 26_000)) + "@b.example\n")
                remove = self.write("remove", users(range(5_000)) + "@a.example\n")
                # Layout and bits per entry are those of the old filter.
                self.update("--add", add, "--remove", remove, "--seed", "7")
                for end in ("", ".store"):
                    self.assertEqual(self.read(f"filter{end}"), self.read(f"want{end}"))

    def test_more_changes_than_memory_holds_are_applied(self):
        options = ("--expected-entries", "800000", *self.SEEDS)
        domains = "".join(f"@d{i}.example\n" for i in range(600_000))
        self.build_pair(users(range(699_990, 700_010)) + "@d7.example\n@kept.example\n", "filter", *options)
        self.build_pair(users(range(700_010)) + "@kept.example\n" + domains, "want", *options)
        small = ("--memory", "1M", "--threads", "1", "--seed", "7", "--expected-entries", "800000", "--json")
        report = self.update("--add", self.write("changes", users(range(700_000)) + domains), *small)
        wanted = {"addresses": 700_010, "domain_entries": 600_001, "added": 1_299_989, "already_there": 11}
        self.assertEqual({name: report[name] for name in wanted}, wanted)
        for end in ("", ".store"):
            self.assertTrue(filecmp.cmp(self.folder / f"filter{end}", self.folder / f"want{end}", shallow=False), end)
        report = self.update("--remove", "changes", "--allow-shrink", *small)
        wanted = {"addresses": 10, "domain_entries": 1, "removed": 1_300_000, "not_there": 0}
        self.assertEqual({name: report[name] for name in wanted}, wanted)
        self.check_listed(["user700009@example.org", "x@kept.example"], ["user699999@example.org", "x@d7.example"])

    def test_each_update_gives_the_filter_another_seed_and_keeps_that_of_the_store(self):
        self.build_pair(users(range(100)), "filter", *self.SEEDS)
        seeds = set()
        for _ in range(2):
            self.update()
            shown = self.info("filter.store")["seed"]
            self.assertEqual(int(shown, 16), 5)
            seeds.add(self.info()["seed"])
            self.check_listed(["user0@example.org", "user99@example.org"], [])
        self.assertEqual(len(seeds), 2)

    def test_the_size_of_the_filter_follows_the_number_of_entries(self):
        self.build_pair(users(range(10_000)), "filter", "--bits-per-entry", "10.5", "--hashes", "7")
        size = (self.folder / "filter").stat().st_size
        for i in range(4):
            self.update("--add", self.write("add", users([10_000 + i])))
        self.assertEqual((self.folder / "filter").stat().st_size, size)
        info = self.info()
        self.assertEqual((info["hashes"], info["expected_entries"]), (7, 10_004))
        self.update("--bits-per-entry", "16", "--layout", "line", "--hashes", "9", "--expected-entries", "20000")
        info = self.info()
        self.assertEqual((info["hashes"], info["layout"], info["body_bytes"]), (9, "line", 40_000))

    def test_a_new_store_leaves_the_old_pair_as_it_is(self):
        self.build_pair(users(range(100)))
        before = self.contents()
        self.check(0, "update-store", "--store", "filter.store", "--new-store", "new.store", "-o", "new", "--add",
                   self.write("add", "new@example.org\n"))
        for name, data in before.items():
            self.assertEqual(self.read(name), data)
        self.check(0, "query", "new", "--confirm", "new.store", "new@example.org", "user5@example.org")

    def test_a_store_can_be_added_and_removed(self):
        self.build_pair(users(range(100)), "filter", "--store-seed", "5")
        self.build_pair(users(range(90, 120)), "other", "--store-seed", "5")
        self.build_pair(users(range(90, 120)), "foreign", "--store-seed", "6")
        self.assertEqual(self.update("--add", "other.store", "--json")["added"], 20)
        self.assertEqual(self.update("--remove", "other.store", "--json")["removed"], 30)
        self.check_listed(["user89@example.org"], ["user90@example.org", "user119@example.org"])
        self.assertIn("--store-seed", self.update("--add", "foreign.store", status=EX_USAGE))

    def test_invalid_updates_are_refused_and_change_nothing(self):
        self.build_pair(users(range(100)))
        self.build_pair(users(range(100)), "other")
        self.build("a@example.org\n")
        os.rename(self.folder / "filter", self.folder / "alone")
        self.build_pair(users(range(100)))
        bad = self.write("bad", "no address\n")
        good = self.write("good", "x@example.org\n")
        before = self.contents()
        update = ("update", "--store", "filter.store")
        for status, arguments, text in (
            (EX_DATAERR, (*update, "-o", "other"), "not the store of other"),
            (EX_DATAERR, (*update, "-o", "alone"), "without a store"),
            (EX_USAGE, (*update, "-o", "missing"), "--new-store"),
            (EX_USAGE, (*update, "-o", "filter.store"), "same file"),
            (EX_USAGE, (*update, "-o", "filter", "--new-store", "filter.store"), "same file"),
            (EX_USAGE, (*update, "-o", "filter", "--add", "filter"), "overwrite"),
            (EX_USAGE, (*update, "-o", "filter", "--layout", "classic"), "layout"),
            (EX_NOINPUT, (*update, "-o", "filter", "--add", "missing"), "missing"),
            (EX_NOINPUT, ("update", "--store", "missing", "-o", "filter"), "missing"),
            (EX_DATAERR, (*update, "-o", "filter", "--remove", bad), "would stay listed"),
            (EX_DATAERR, (*update, "-o", "filter", "--add", bad, "--strict"), "nothing was changed"),
            (EX_CANTCREAT, (*update, "-o", "filter", "--add", good, "--new-store", "none/s"), "none"),
            (EX_CANTCREAT, (*update, "-o", "filter", "--add", good, "--scratch", "none"), "none (--scratch)"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(text, self.check(status, *arguments)[1])
                self.assertEqual(self.contents(), before)

    def test_a_second_update_of_a_store_at_the_same_time_is_refused(self):
        self.build_pair(users(range(100)))
        update = ["update", "--store", "filter.store", "-o", "filter"]
        first = self.start_change("filter.store", [*update, "--add", "-"], update)
        before = self.contents()
        build = ("build", "-o", "filter", "--store", "filter.store", "filter.txt")
        self.assertIn("being changed by another command", self.check(EX_CANTCREAT, *build)[1])
        self.check(0, "build", "-o", "other", "--store", "other.store", "filter.txt")
        self.assertEqual({name: data for name, data in self.contents().items() if "other" not in name}, before)
        first.stdin.close()
        self.assertEqual(first.wait(), 0)
        self.check(0, *build)
        self.check(0, "verify", "filter", "--confirm", "filter.store")

    def test_builds_of_one_pair_at_once_leave_a_pair(self):
        for i in range(3):
            self.write(f"{i}.txt", users(range(1000 * i, 1000 * i + 20_000)))
        for _ in range(3):
            for name in ("filter", "filter.store"):
                (self.folder / name).unlink(missing_ok=True)
            builds = [self.start("build", "-o", "filter", "--store", "filter.store", f"{i}.txt") for i in range(3)]
            # The first makes the store; the others may come too late for that.
            self.assertIn(0, [build.wait() for build in builds])
            self.check(0, "verify", "filter", "--confirm", "filter.store")
            self.assertEqual([name for name in self.names() if "." in name and not name.endswith((".txt", ".store"))], [])

    def test_a_bit_flipped_in_any_section_of_the_filter_is_refused(self):
        # 50 of these hit the bits by chance, whatever the seed.
        strangers = self.write("not", "".join(f"stranger{i}@example.com\n" for i in range(20_000)))
        self.build_pair(users(range(5000)) + "@a.example\n@b.example\n", "filter", "--never-match", strangers)
        info = self.info()
        self.assertEqual([section["kind"] for section in info["sections"]], ["bits", "domains", "excluded", "sender-domains"])
        places = [20, *(section["offset"] + part for section in info["sections"] for part in (0, section["bytes"] - 1))]
        for place in places:
            with self.subTest(place=place):
                self.flip("filter", place, 16)
                self.check(EX_DATAERR, "verify", "filter", "--confirm", "filter.store")
                self.flip("filter", place, 16)

    def test_a_bit_flipped_in_any_section_of_the_store_is_refused_and_the_pair_stays(self):
        self.build_pair(users(range(5000)) + "@a.example\n@b.example\n")
        info = self.info("filter.store")
        places = [60, *(section["offset"] + part for section in info["sections"] for part in (0, section["bytes"] - 1))]
        self.assertEqual(len(places), 9)
        for place in places:
            with self.subTest(place=place):
                self.flip("filter.store", place, 16)
                before = self.contents()
                # Refused, and not written into another store.
                self.check(EX_DATAERR, "update-store", "--store", "filter.store", "-o", "filter")
                self.assertEqual(self.contents(), before)
                self.flip("filter.store", place, 16)

    def test_a_full_disk_leaves_the_old_pair(self):
        self.build_pair(users(range(1000)))
        add = self.write("add", users(range(200_000)))
        before = self.contents()
        most = (self.folder / "add").stat().st_size // 20
        process = self.run_program("update", "--store", "filter.store", "-o", "filter", "--add", add,
                                   preexec_fn=limited(resource.RLIMIT_FSIZE, most))
        self.assertEqual(process.returncode, EX_CANTCREAT, process.stderr)
        self.assertEqual(self.contents(), before)

    def test_an_update_or_a_build_killed_at_any_moment_leaves_the_old_pair_or_the_new_one(self):
        self.build_pair(users(range(40_000)))
        add, remove = self.write("add", "new@example.org\n"), self.write("remove", "new@example.org\n")
        update = ["update", "--store", "filter.store", "-o", "filter"]
        build = ["build", "-o", "filter", "--store", "filter.store", "filter.txt"]
        began = time.monotonic()
        self.check(0, *update)
        lasts = time.monotonic() - began
        ended = 0
        for i in range(KILLS):
            arguments = (update + ["--add", add], update + ["--remove", remove], build)[i % 3]
            ended += self.kill_after(random.random() * 1.2 * lasts, *arguments)  # whichever moment it is, there is a pair
            self.check(0, "verify", "filter", "--confirm", "filter.store")
            found = self.run_program("query", "filter", "--confirm", "filter.store", "--count", "--list", "filter.txt")
            self.assertEqual(found.returncode, 0, found.stdout)
        self.assertLess(ended, KILLS)

    def test_random_changes_give_the_same_entries_as_a_set(self):
        """Sequences of build, update, a store as an input, and excluded senders, compared with sets of Python."""
        names = [f"user{i}@example.org" for i in range(4_000)] + [f"@domain{i}.example" for i in range(200)]
        asked = [name.replace("@domain", "x@domain") for name in names]
        listing = self.write("names", "".join(f"{name}\n" for name in asked))
        for seed in range(2 if IS_SANITIZED else 4):
            chance = random.Random(seed)
            layout = ("--layout", chance.choice(("page", "ribbon")), "--bits-per-entry", chance.choice(("2", "8")))
            wanted = set(chance.sample(names, 1_000))
            self.build_pair("".join(f"{name}\n" for name in wanted), "filter", *layout)
            strangers = set()
            for _ in range(6):
                added, removed = (set(chance.sample(names, chance.choice((0, 1, 40, 2_000)))) for _ in range(2))
                add = self.write("add", "".join(f"{name}\n" for name in added))
                remove = self.write("remove", "".join(f"{name}\n" for name in removed))
                # An update never forgets them, so that it wants them again.
                strangers = set(chance.sample(asked, chance.choice((1, 700, 3_000)))) if strangers or chance.random() < 0.6 else set()
                not_list = ("--never-match", self.write("not", "".join(f"{name}\n" for name in strangers))) if strangers else ()
                if chance.random() < 0.3:
                    os.rename(self.folder / "filter.store", self.folder / "input.store")
                    self.check(0, "build", "-o", "filter", "--store", "filter.store", *layout, *not_list, *MEANT, "input.store", add)
                    wanted |= added
                else:
                    report = self.update("--add", add, "--remove", remove, *not_list, "--allow-shrink", "--json", "--memory",
                                         chance.choice(("1M", "64M")))
                    self.assertEqual(report["added"], len(added - removed - wanted))
                    self.assertEqual(report["removed"], len(wanted & removed))
                    self.assertEqual(report["both"], len(added & removed))
                    self.assertEqual(report["known_strangers"]["known"], len(strangers))
                    wanted = (wanted | added) - removed
                listed = self.listed_of(listing)
                for name, question, passes, is_confirmed in zip(names, asked, listed, self.listed_of(listing, "--confirm", "filter.store")):
                    self.assertEqual(is_confirmed, name in wanted, question)
                    self.assertTrue(passes or name not in wanted, question)
                    self.assertFalse(passes and question in strangers and name not in wanted, question)
                store = self.info("filter.store")
                self.assertEqual(store["addresses"] + store["domain_entries"], len(wanted))

    def listed_of(self, listing, *options):
        return [answer == "listed" for answer in self.answers("filter", *options, "--list", listing)]


if __name__ == "__main__":
    main()
