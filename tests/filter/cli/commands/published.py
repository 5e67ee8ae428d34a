"""What the tests of manifests share: a folder of layers that is signed with a key."""
import base64
import hashlib
import re

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from layer_folder import Layers


class Published(Layers):
    def setUp(self):
        super().setUp()
        self.key = self.folder / "key"
        self.public = self.run_it("sign", "--new-key", self.key).stdout.strip()
        self.all = [self.new_list(20) for _ in range(3)]

    def append(self, number, *options, status=0):
        return self.run_it("append", self.layers, self.all[number], "--quiet", *options, status=status)

    def signed(self, number, *options, status=0):
        return self.append(number, "--sign-key", self.key, *options, status=status)

    def manifest(self, path=None):
        """Checked with another library: a dictionary of its lines, with a list of the files."""
        path = path or self.layers / "manifest"
        text = path.read_text()
        fields = dict(line.split(" ", 1) for line in text.splitlines() if not line.startswith("file "))
        content = text[: text.index("\nsignature ") + 1].encode()
        Ed25519PublicKey.from_public_bytes(base64.b64decode(fields["signer"])).verify(
            base64.b64decode(fields["signature"]), content)
        fields["files"] = re.findall(r"(?m)^file (\S+) (\d+) ([0-9a-f]{64})$", text)
        fields["number"] = int(fields["number"])
        return fields

    def number(self, path=None):
        return self.manifest(path)["number"]

    def resign(self, old, new, key=None, path=None):
        """Changes the text of the manifest, and signs it as its owner would."""
        path = path or self.layers / "manifest"
        secret = (key or self.key).read_text().splitlines()[-1]
        signer = Ed25519PrivateKey.from_private_bytes(base64.b64decode(secret)[:32])
        text = path.read_text()
        content = re.sub(old, new, text[: text.index("\nsignature ") + 1])
        path.write_text(content + f"signature {base64.b64encode(signer.sign(content.encode())).decode()}\n")

    def set_number(self, number):
        self.resign(r"\nnumber \d+\n", f"\nnumber {number}\n")

    def assert_names_what_is_there(self, folder=None, revoked=False):
        folder = folder or self.layers
        want = []
        for path in sorted(folder.glob("*.bloom")) + ([folder / "revoked"] if revoked else []):
            content = path.read_bytes()
            part = content[:4096] if path.suffix == ".bloom" else content
            want.append((path.name, str(len(content)), hashlib.blake2b(part, digest_size=32).hexdigest()))
        self.assertEqual(self.manifest(folder / "manifest")["files"], sorted(want))
        shown = self.info(folder)["manifest"]
        self.assertEqual((shown["fault"], shown["unnamed"]), ("", []))
        self.assertEqual(shown["files"], [{"name": name, "fault": ""} for name, *_ in sorted(want)])
