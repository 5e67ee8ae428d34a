"""What a list names together with the domain that has to sign it, with real signatures and a name server: senders with a
signer, and mailing lists. Explained, and once each through the daemon behind Postfix."""

import itertools

import pytest
from decided_mail import all_explained, is_delivered
from mail_world import TODAY
from private_mail.client import RawMessage
from private_mail.filter import build_filter_of
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, GatewayConfig
from private_mail.name_server import NameServer, NameServerConfig
from private_mail.processes import temporary_folder
from private_mail.signing import SigningKey, new_private_key

LIST = "announce.lists.example.org"
ENTRIES = [f"list:{LIST}", "list:*.mail.example.net", "list:users.example.com signed-by example.com",
           "billing@bank.example signed-by esp.example", "@shop.example signed-by mg.shop.example", "joe@member.example"]
SIGNERS = ("lists.example.org", LIST, "example.org", "x.lists.example.org", "evil.example", "member.example",
           "dev.mail.example.net", "example.com", "esp.example", "other.esp.example", "mg.shop.example", "shop.example")
FIELDS = (b"from", b"to", b"subject", b"date", b"message-id", b"list-id")
WITHOUT_LIST = FIELDS[:-1]


class World:
    def __init__(self, folder):
        private = new_private_key()
        self.keys = {domain: SigningKey(domain, private=private) for domain in SIGNERS}
        self.names = NameServer(folder / "names", NameServerConfig(
            {key.record_name: key.record for key in self.keys.values()}))
        self.whitelist = folder / "whitelist.bloom"
        build_filter_of(self.whitelist, ENTRIES)

    def message(self, sender, signatures, list_ids=()):
        """signatures: pairs of a domain and the fields that it signs, or of a domain alone."""
        lines = [f"From: {sender}", "To: user@example.net", "Subject: news", "Date: " + TODAY.decode(), "Message-ID: <1@x.example>",
                 *(f"List-Id: {each}" for each in list_ids), "", "Hello.", ""]
        raw = "\r\n".join(lines).encode()
        for each in signatures:
            domain, fields = each if isinstance(each, tuple) else (each, FIELDS)
            raw = self.keys[domain].sign(raw, fields=fields)
        return raw

    def explained(self, *messages):
        return all_explained([(raw, "bounce@elsewhere.example") for raw in messages], self.whitelist, self.names)


@pytest.fixture(scope="module")
def world():
    with temporary_folder("signers") as folder:
        world = World(folder)
        with world.names:
            yield world


def test_what_its_signer_has_signed_is_delivered_and_the_mark_says_who_signed(world):
    cases = [
        (world.message("m@member.example", ["lists.example.org"], [f"News <{LIST}>"]),
         f"identity=list; authentication=dkim; proof=list-id; whitelist=whitelist; entry=list:{LIST}; "
         "signer=lists.example.org"),
        (world.message("m@member.example", [LIST], [f"<{LIST}>"]), f"signer={LIST}"),
        (world.message("m@member.example", ["dev.mail.example.net"], ["<all.dev.mail.example.net>"]),
         "entry=list:*.mail.example.net; signer=dev.mail.example.net"),
        (world.message("m@member.example", ["example.com"], ["Users <users.example.com>"]),
         "identity=list; authentication=dkim; proof=signer; whitelist=whitelist; entry=list:users.example.com; "
         "signer=example.com"),
        (world.message("Billing <billing@bank.example>", [("esp.example", WITHOUT_LIST)]),
         "identity=header-from; authentication=dkim; proof=signer; whitelist=whitelist; signer=esp.example"),
        (world.message("news@shop.example", ["mg.shop.example"]), "entry=@shop.example; signer=mg.shop.example"),
    ]
    for (_, wanted), said in zip(cases, world.explained(*(raw for raw, _ in cases))):
        assert said["decision"] == "deliver" and wanted in said["mark"], said["mark"]


def forgeries(world):
    """What somebody composes who has a domain of his own, a mailbox at example.org or a name below the list's host, or is
    a customer of the service: (what it is, message)."""
    written = {
        "alone": [f"<{LIST}>"], "with words": [f"Announce <{LIST}>"], "folded": [f"Announce\r\n\t<{LIST}>"],
        "twice": [f"<{LIST}>"] * 2, "below another one": [f"<{LIST}>", "<x.evil.example>"],
        "above another one": ["<x.evil.example>", f"<{LIST}>"], "in a comment": [f"(<{LIST}>) <x.evil.example>"],
        "in quotes": [f'"<{LIST}>" <x.evil.example>'], "before another host": [f"<{LIST}> <x.evil.example>"],
        "behind another host": [f"<x.evil.example> <{LIST}>"], "with a comment behind": [f"<{LIST}> (x)"],
        "without brackets": [LIST], "with a space inside": [f"<announce .{LIST.partition('.')[2]}>"],
    }
    # Whose signature is genuine, and what of it: none of these is the list's host with the field covered.
    signed = {
        "by a stranger": ["evil.example"], "by the domain above the host": ["example.org"],
        "by a name below the host": ["x.lists.example.org"], "by the host without the field": [("lists.example.org", WITHOUT_LIST)],
        "by nobody": [], "by a member's domain": ["member.example"],
        "by the host without the field and by a stranger with it": [("lists.example.org", WITHOUT_LIST), "evil.example"],
        "by the host of another list": ["dev.mail.example.net"], "by a service": ["esp.example"],
        "by a domain that may sign for another list": ["example.com"],
    }
    for (shape, list_ids), (who, signatures) in itertools.product(written.items(), signed.items()):
        yield f"{shape}, {who}", world.message("m@other.example", signatures, list_ids)
    for (shape, list_ids), name in itertools.product(written.items(), ("lists.example.org", LIST)):
        if shape in ("alone", "with words", "folded"):
            # The field is put on top of a genuine message of the list's host that has none.
            raw = world.message("m@other.example", [(name, WITHOUT_LIST)])
            yield f"{shape}, put on top of what {name} signed", f"List-Id: {list_ids[0]}\r\n".encode() + raw
            raw = world.message("m@other.example", [name], list_ids)
            yield f"{shape}, another one on top", f"List-ID: <{LIST}>\r\n".encode() + raw
            yield f"{shape}, another From on top", b"From: ceo@bank.example\r\n" + raw
            yield f"{shape}, another body", raw.replace(b"Hello.", b"Pay me.")
        else:
            yield f"{shape}, by {name} itself", world.message("m@other.example", [name], list_ids)
    services = {"ceo@bank.example": ["esp.example"], "billing@bank.example": ["other.esp.example"],
                "news@shop.example": ["esp.example"], "x@sub.shop.example": ["mg.shop.example"],
                "billing@bank.example, x@evil.example": ["esp.example"], "billing@bank.example.evil.example": ["esp.example"],
                '"billing@bank.example" <x@evil.example>': ["esp.example"], "billing@bank.example ": ["evil.example"]}
    for sender, signatures in services.items():
        for fields in (FIELDS, WITHOUT_LIST, (b"to", b"subject"), (b"from",)):
            yield f"From: {sender}, by {signatures}, {fields}", world.message(
                sender, [(domain, fields) for domain in signatures])


def test_no_forged_list_or_sender_is_delivered(world):
    names, messages = zip(*forgeries(world))
    assert len(messages) >= 200
    assert [what for what, said in zip(names, world.explained(*messages)) if is_delivered(said)] == []


def test_a_name_server_is_asked_only_for_the_signer_of_an_entry_and_not_who_is_listed_with_it(world):
    listed, neighbour, stranger = world.explained(
        world.message("billing@bank.example", ["esp.example", "evil.example"]),
        world.message("x@bank.example", ["esp.example", "evil.example"]),
        world.message("x@other.example", ["esp.example"], ["<other.elsewhere.example.org>"]))
    for said in (listed, neighbour):
        assert [step["subject"] for step in said["steps"] if step["step"] == "needs-signature"] == ["esp.example"]
    assert [step for step in stranger["steps"] if step["step"] in ("needs-signature", "signature")] == []


def test_behind_postfix_the_mark_and_the_log_name_the_signer(world, start_gateway):
    with temporary_folder("signers-gateway") as folder:
        gateway = start_gateway.start(folder, GatewayConfig(world.whitelist, settings={"authentication": "required", "dns-servers": world.names.option,
                                                                                       "verify-dkim": "yes"}))
        of_list = world.message("m@member.example", ["lists.example.org"], [f"News <{LIST}>"])
        of_service = world.message("billing@bank.example", ["esp.example"])
        forged = world.message("billing@bank.example", ["other.esp.example"])
        deliveries = gateway.send(*(RawMessage("bounce@elsewhere.example", raw=raw)
                                    for raw in (of_list, of_service, forged)))
        assert [each.place for each in deliveries] == [LIGHT_PATH, LIGHT_PATH, DEEP_CHECK]
        by_list, by_service, by_nobody = (gateway.daemon.lines_of(each.queue_id)[0] for each in deliveries)
        assert " identity=list " in by_list and f" entry=list:{LIST} signer=lists.example.org " in by_list
        assert " reason=listed-with-signer " in by_service and " signer=esp.example " in by_service
        assert " reason=not-listed " in by_nobody
        assert "proof=list-id" in deliveries[0].marks[0] and "signer=esp.example" in deliveries[1].marks[0]
