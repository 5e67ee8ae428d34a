"""Messages as the programs of their senders sign them: OpenDKIM and rspamd behind a Postfix, and python3-dkim."""

import itertools
from contextlib import ExitStack

from private_mail.client import Client, RawMessage
from private_mail.opendkim import OpenDkimConfig
from private_mail.postfix import Postfix, PostfixConfig
from private_mail.processes import accepts_connections, free_port, temporary_folder, wait_until
from private_mail.rspamd import Rspamd
from private_mail.sink import Sink

CANONICALIZATIONS = tuple(itertools.product(("simple", "relaxed"), repeat=2))  # of header and body


class SigningRspamd(Rspamd):
    """It signs mail of the domain of its keys, with all of them at once."""

    def __init__(self, folder, keys):
        super().__init__(folder, None, shipped=("rspamd/local.d/worker-proxy.inc",))
        self.keys = keys

    def prepare(self):
        super().prepare()
        selectors = []
        for key in self.keys:
            path = self.folder / f"{key.selector}.key"
            # It wants a seed and a public key for Ed25519, as libsodium has them.
            path.write_bytes(key.ed25519_pair if key.is_ed25519 else key.private)
            selectors.append(f'{{ path = "{path}"; selector = "{key.selector}"; }}')
        (self.folder / "override.d/dkim_signing.conf").write_text(
            f'domain {{ "{self.keys[0].domain}" {{ selectors [ {", ".join(selectors)} ] }} }}\n')


def by_real_signers(content, sender, rsa, ed25519):
    """name -> the message, signed. rsa, ed25519: keys of the sender's domain."""
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("signers"))
        out = stack.enter_context(Sink("out"))
        sockets = {}
        for key, pair in itertools.product((rsa, ed25519), CANONICALIZATIONS):
            name = f"OpenDKIM, {algorithm_of(key)}, {'/'.join(pair)}"
            config = OpenDkimConfig((key,), True, algorithm_of(key), "/".join(pair))
            sockets[name] = stack.enter_context(config.part(folder / str(len(sockets)))).mta_socket
        for key in (rsa, ed25519):
            rspamd = stack.enter_context(SigningRspamd(folder / f"rspamd-{key.selector}", (key,)))
            sockets[f"rspamd, {algorithm_of(key)}"] = rspamd.mta_socket
        ports = {name: free_port() for name in sockets}
        services = "".join(f"127.0.0.1:{ports[name]} inet n - n - - smtpd\n  -o smtpd_milters={socket}\n"
                           for name, socket in sockets.items())
        (folder / "postfix").mkdir()
        stack.enter_context(Postfix(folder / "postfix", PostfixConfig(
            out.address, master_cf=services, host_name="mx.example.org")))
        queue_ids = {}
        for name, port in ports.items():
            wait_until(lambda port=port: accepts_connections(("127.0.0.1", port)), f"the listener of {name}")
            with Client(port) as client:
                queue_ids[client.send(RawMessage(sender, raw=content))] = name
        sent = {queue_ids[received.queue_id]: received.content for received in out.wait_for(len(ports))}
    return {name: sent[name] for name in ports} | by_python(content, rsa, ed25519)


def by_python(content, *keys):
    return {f"python3-dkim, {algorithm_of(key)}, {'/'.join(pair)}":
            key.sign(content, canonicalization=tuple(word.encode() for word in pair))
            for key, pair in itertools.product(keys, CANONICALIZATIONS)}


def algorithm_of(key):
    return "ed25519-sha256" if key.is_ed25519 else "rsa-sha256"
