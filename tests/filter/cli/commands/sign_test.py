"""`bloomgate sign`, and `--sign-key` of other commands."""

from program import EX_DATAERR, EX_USAGE, ProgramTest, main


class SignTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.build("joe@example.org\n@example.net\n")
        self.public = self.check(0, "sign", "--new-key", "key")[0].strip()

    def test_a_key_is_made_once_and_its_public_half_is_printed(self):
        self.assertRegex(self.public, r"^[A-Za-z0-9+/]{43}=$")
        self.assertEqual(self.check(0, "sign", "--public-key", "key")[0], self.public + "\n")
        self.assertEqual((self.folder / "key").stat().st_mode & 0o7777, 0o600)
        before = self.read("key")
        self.check(73, "sign", "--new-key", "key")
        self.assertEqual(self.read("key"), before)
        (self.folder / "key").chmod(0o644)
        self.check(77, "sign", "--key", "key", "filter")

    def test_a_filter_is_signed_and_checked_and_info_names_the_signer(self):
        self.assertIn("is not signed", self.check(EX_DATAERR, "verify", "filter", "--trusted-key", self.public)[1])
        self.assertIsNone(self.info()["signer"])
        self.assertRegex(self.check(0, "sign", "--key", "key", "filter")[0], r"^signed +filter\n")
        self.assertIn(f"signed     by {self.public}\n", self.check(0, "verify", "filter", "--trusted-key", self.public)[0])
        self.assertIn("which was not checked", self.check(0, "verify", "filter")[0])
        self.assertIn(f"signed by        {self.public} (not checked", self.check(0, "info", "filter")[0])
        self.assertEqual(self.info()["signer"], self.public)
        self.check(0, "query", "filter", "joe@example.org")
        self.assertRegex(self.check(0, "sign", "--key", "key", "filter")[0], r"^unchanged +filter")
        other = self.check(0, "sign", "--new-key", "other")[0].strip()
        self.check(EX_DATAERR, "verify", "filter", "--trusted-key", other)
        self.check(0, "verify", "filter", "--trusted-key", other, "--trusted-key", self.public)

    def test_a_signed_copy_leaves_the_filter_as_it_is(self):
        before = self.read("filter")
        self.check(0, "sign", "--key", "key", "filter", "--output", "copy")
        self.assertEqual(self.read("filter"), before)
        self.check(0, "verify", "copy", "--trusted-key", self.public)

    def test_the_domains_of_the_senders_are_signed_with_the_rest(self):
        (section,) = (each for each in self.info()["sections"] if each["kind"] == "sender-domains")
        place = slice(section["offset"], section["offset"] + section["bytes"])
        before = self.read("filter")[place]
        self.check(0, "sign", "--key", "key", "filter")
        self.assertEqual(self.read("filter")[place], before)
        self.assertEqual(self.info()["sender_domains"], 1)
        self.check(0, "verify", "filter", "--trusted-key", self.public)
        self.flip("filter", section["offset"] + 3)
        _, errors = self.check(EX_DATAERR, "verify", "filter", "--trusted-key", self.public)
        self.assertIn("the list of sender domains is damaged", errors)

    def test_a_build_and_an_update_sign_with_their_store(self):
        self.check(0, "build", "-o", "a", "--store", "store", "--sign-key", "key", "--seed", "1", "list")
        self.check(0, "verify", "a", "--confirm", "store", "--trusted-key", self.public)
        update = ["update", "-o", "a", "--store", "store", "--add", self.write("more", "eve@example.org\n")]
        self.check(0, *update, "--sign-key", "key")
        self.check(0, "verify", "a", "--confirm", "store", "--trusted-key", self.public)
        self.check(0, "query", "a", "--confirm", "store", "eve@example.org")
        self.check(0, *update)
        self.check(EX_DATAERR, "verify", "a", "--trusted-key", self.public)

    def test_merge_intersect_and_export_sign_only_if_a_key_is_given(self):
        self.check(0, "build", "-o", "a", "--sign-key", "key", "--seed", "1", "list")
        self.check(0, "build", "-o", "counting", "--layout", "counting", "--seed", "1", "list")
        for words in (["merge", "a", "a"], ["intersect", "a", "a"], ["export", "counting"]):
            with self.subTest(words=words):
                self.check(0, *words, "-o", "made")
                unsigned = self.read("made")
                self.check(EX_DATAERR, "verify", "made", "--trusted-key", self.public)
                self.check(0, *words, "-o", "made", "--sign-key", "key")
                self.check(0, "verify", "made", "--trusted-key", self.public)
                self.check(0, "query", "made", "joe@example.org", "who@example.net")
                self.assertEqual(self.read("made")[4096:], unsigned[4096:])
                self.check(66, *words, "-o", "made", "--sign-key", "none")
                self.check(0, "verify", "made", "--trusted-key", self.public)

    def test_invalid_arguments_are_refused_and_no_key_is_shown(self):
        secret = (self.folder / "key").read_text().splitlines()[-1]
        self.check(0, "build", "-o", "a", "--store", "store", "list")
        for status, *words in (
            (EX_USAGE, "sign"), (EX_USAGE, "sign", "filter"), (EX_USAGE, "sign", "--key", "key"),
            (EX_USAGE, "sign", "--key", "key", "--new-key", "new", "filter"),
            (EX_USAGE, "sign", "--new-key", "new", "filter"), (EX_USAGE, "sign", "--public-key", "key", "filter"),
            (EX_USAGE, "sign", "--key", "key", "filter", "a", "--output", "both"),
            (EX_DATAERR, "sign", "--key", "key", "store"), (EX_DATAERR, "sign", "--key", "key", "list"),
            (EX_DATAERR, "sign", "--key", "list", "filter"), (66, "sign", "--key", "none", "filter"),
            (66, "sign", "--key", "key", "none"), (66, "build", "-o", "b", "--sign-key", "none", "list"),
            (EX_USAGE, "verify", "filter", "--trusted-key", secret), (EX_USAGE, "verify", "filter", "--trusted-key", ""),
            (EX_USAGE, "verify", "store", "--trusted-key", self.public),
        ):
            with self.subTest(words=words):
                (self.folder / "list").chmod(0o600)
                before = self.read("filter"), self.names()
                _, err = self.check(status, *words)
                self.assertNotIn(secret[:12], err)
                self.assertEqual((self.read("filter"), self.names()), before)
        self.assertIn("as long as a secret key", self.check(EX_USAGE, "verify", "filter", "--trusted-key", secret)[1])


if __name__ == "__main__":
    main()
