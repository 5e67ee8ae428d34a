"""A name server with every fault that one can have, which tells what it was asked. Other names do not exist for it."""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from .processes import Program, free_port

PROGRAM = Path(__file__).with_name("faulty_name_server_program.py")
TTL = 60  # of every record


@dataclass(frozen=True)
class Record:
    """What is answered for a name. `*.example.org` stands for all names below example.org that have none."""

    texts: tuple = ()  # TXT records: each a text of any length, or a tuple of strings of up to 255 bytes
    others: tuple = ()  # (type, text as in a zone file); an RRSIG is added where the type that it covers is asked for
    cname: str = ""
    rcode: str = "NOERROR"
    delay_seconds: float = 0
    silent: bool = False
    broken: bool = False  # the reply ends in the midst of a record

    def for_program(self):
        fields = asdict(self) | {"texts": [strings_of(text) for text in self.texts]}
        return {name: value for name, value in fields.items() if value}


def strings_of(text):
    if isinstance(text, tuple):
        return list(text)
    return [text[start:start + 255] for start in range(0, len(text), 255)] or [""]


class FaultyNameServer:
    """records: name -> Record, or the text of a TXT record.

    It listens on a port of 127.0.0.1; in a network of its own (network), also on port 53 of all its addresses, where
    programs look that cannot be told otherwise."""

    def __init__(self, folder, records, network=None, everywhere=False):
        self.folder = Path(folder)
        self.records = records
        self.start = network.start if network else Program
        self.address, self.port = ("0.0.0.0", 53) if everywhere else ("127.0.0.1", free_port())

    def __enter__(self):
        self.folder.mkdir()
        records = {name: record if isinstance(record, Record) else Record((record,))
                   for name, record in self.records.items()}
        records_file = self.folder / "records.json"
        records_file.write_text(json.dumps({name: record.for_program() for name, record in records.items()}))
        program = shutil.copy(PROGRAM, self.folder)
        self.program = self.start(["/usr/bin/python3", "-B", program, self.address, self.port, records_file],
                                  self.folder / "log")
        self.program.wait_until_ready(lambda: "ready\n" in self.program.log(), "the name server")
        return self

    def __exit__(self, *_):
        self.program.kill()

    @property
    def option(self):
        """As in Bloomgate's `dns-servers`."""
        return f"127.0.0.1@{self.port}"

    def questions(self):
        """The names that it was asked, in order, once for each time."""
        lines = self.program.log().splitlines()
        return [line.rpartition(" ")[0] for line in lines if line != "ready"]

    def log(self):
        return self.program.log()
