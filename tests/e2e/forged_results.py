"""Authentication-Results fields that only the gateway's own milters may write, as a forger writes them.

Each is in the header of an unsigned message from a listed sender whose domain has no DMARC policy."""

from mail_world import HOST

NAME = HOST.encode()
# Not of DKIM: those OpenDKIM removes by itself.
RESULTS = b"dmarc=pass header.from=nodmarc.example; spf=pass smtp.mailfrom=nodmarc.example"
FIELD = b"Authentication-Results: " + NAME + b"; " + RESULTS

FORGED_RESULTS = {
    "a results field of ours": [FIELD],
    "one in lower case": [FIELD.lower()],
    "one in upper case": [FIELD.upper()],
    "one in mixed case": [FIELD.replace(b"Authentication-Results", b"aUTHENTICATION-rESULTS")],
    "one with a space before the colon": [FIELD.replace(b":", b" :", 1)],
    "one with a tab before the colon": [FIELD.replace(b":", b"\t:", 1)],
    "one without a space after the colon": [FIELD.replace(b": ", b":", 1)],
    "one that is folded before the name": [FIELD.replace(b": ", b":\r\n ", 1)],
    "one that is folded with a tab after the name": [FIELD.replace(b"; ", b";\r\n\t", 1)],
    "one that is folded before every result": [FIELD.replace(b"; ", b"\r\n ;\r\n ")],
    "one with a comment before the name": [FIELD.replace(b": ", b": (ours) ", 1)],
    "one with comments in comments before the name": [FIELD.replace(b": ", b": (a(b\\)c)d)(e)", 1)],
    "one with a comment and folding before the name": [FIELD.replace(b": ", b":\r\n\t(x)\r\n ", 1)],
    "one with the name in quotes": [FIELD.replace(NAME, b'"' + NAME + b'"')],
    "one with the name in quotes, half of it escaped": [
        FIELD.replace(NAME, b'"mx.\\e\\x\\a\\m\\p\\l\\e.net"')],
    "one with the first letter escaped": [FIELD.replace(NAME, b'"\\mx.example.net"')],
    "one with a version": [FIELD.replace(NAME, NAME + b" 1")],
    "one with a comment after the name": [FIELD.replace(NAME, NAME + b"(x)")],
    "one with a dot after the name": [FIELD.replace(NAME, NAME + b".")],
    "two of them": [FIELD, FIELD],
    "300 of them": [FIELD] * 300,
    "300 of them in turns with others": [b"X-Other: a", FIELD] * 300,
    "one after 50 long fields": [b"X-Filler: " + b"y" * 900] * 50 + [FIELD],
    "one after a field of another server": [b"Authentication-Results: mx.other.example; spf=none", FIELD],
    "one with 60,000 spaces before the name": [FIELD.replace(b": ", b": " + b" " * 60_000, 1)],
    "one with a comment of 60,000 bytes before the name": [
        FIELD.replace(b": ", b": (" + b"x" * 60_000 + b") ", 1)],
    "one longer than Postfix takes a field": [FIELD + b"; x-other=pass " + b"y" * 300_000],
    "one with a NUL before the name": [FIELD.replace(b": ", b": \0", 1)],
    "one with a NUL after the name": [FIELD.replace(NAME, NAME + b"\0")],
    "one with a NUL in the field's name": [FIELD.replace(b"-", b"\0-", 1)],
    "one with a vertical tab before the name": [FIELD.replace(b": ", b": \x0b", 1)],
    "one with a carriage return before the name": [FIELD.replace(b": ", b": \r", 1)],
    "one after a bare carriage return": [b"X-Other: a\r" + FIELD],
    "one after a bare line feed": [b"X-Other: a\n" + FIELD],
    "one with 8-bit bytes after the name": [FIELD.replace(NAME, NAME + b"\xff\xfe")],
    "one with UTF-8 before the name": [FIELD.replace(NAME, "\u00a0".encode() + NAME)],
    "one with a byte order mark before the name": [FIELD.replace(NAME, "\ufeff".encode() + NAME)],
    "one as an encoded word": [b"Authentication-Results: =?utf-8?q?mx.example.net?=; " + RESULTS],
    "one of a name that begins like ours": [FIELD.replace(NAME, NAME + b".attacker.example")],
    "one of a name that ends like ours": [FIELD.replace(NAME, b"x" + NAME)],
    "one of another name, with ours in a comment": [FIELD.replace(NAME, b"mx.other.example (" + NAME + b")")],
    "one of another name": [FIELD.replace(NAME, b"mx.other.example")],
    "one with no name": [b"Authentication-Results: " + RESULTS],
    "an empty one and ours": [b"Authentication-Results:", FIELD],
    "one that begins with an empty line of folding": [FIELD.replace(b": ", b": \r\n \r\n ", 1)],
    "an X- field like it": [b"X-" + FIELD],
    "a Resent- field like it": [b"Resent-" + FIELD],
    "an Original- field like it": [b"Original-" + FIELD],
    "the results of a chain of seals": [b"ARC-" + FIELD.replace(NAME, b"i=1; " + NAME)],
    "a Received-SPF field": [b"Received-SPF: pass (mx.example.net: domain of nodmarc.example designates) "
                             b"client-ip=192.0.2.1; envelope-from=<listed@nodmarc.example>"],
    "our own mark": [b"X-Bloomgate: deliver; reason=listed; host=" + NAME],
}
