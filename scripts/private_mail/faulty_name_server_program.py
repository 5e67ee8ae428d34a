"""The program behind faulty_name_server: ADDRESS PORT RECORDS, where RECORDS is a file of JSON.

It answers by UDP and TCP, and prints a line for each question: the name and the type.
"""

import asyncio
import json
import socket
import sys

import dns.flags
import dns.message
import dns.rcode
import dns.rdata
import dns.rdatatype
import dns.rrset
from dns.rdtypes.ANY.CNAME import CNAME
from dns.rdtypes.ANY.TXT import TXT

LONGEST_DATAGRAM = 1232
TTL = 60
LONGEST_CHAIN = 12
LONGEST_DELAY_SECONDS = 60
NOBODY = {"rcode": "NXDOMAIN"}


def record_of(records, name):
    """Of the name, or of the nearest wildcard above it."""
    if name in records:
        return records[name]
    above = name.partition(".")[2]
    while above:
        if "*." + above in records:
            return records["*." + above]
        above = above.partition(".")[2]
    return NOBODY


def reply_to(records, query):
    """The reply, and the record that it ends in."""
    question = query.question[0]
    response = dns.message.make_response(query, recursion_available=True)
    owner = question.name
    for _ in range(LONGEST_CHAIN):
        record = record_of(records, owner.to_text(omit_final_dot=True).lower())
        if "cname" not in record:
            break
        target = dns.name.from_text(record["cname"])
        add(response, owner, CNAME(question.rdclass, dns.rdatatype.CNAME, target))
        owner = target
    response.set_rcode(dns.rcode.from_text(record.get("rcode", "NOERROR")))
    if question.rdtype == dns.rdatatype.TXT:
        for strings in record.get("texts", ()):
            data = [text.encode("latin-1") for text in strings]
            add(response, owner, TXT(question.rdclass, dns.rdatatype.TXT, data))
    for kind, text in record.get("others", ()):
        data = dns.rdata.from_text(question.rdclass, kind, text)
        if question.rdtype in (data.rdtype, data.covers()):
            add(response, owner, data)
    return response, record


def add(response, owner, data):
    response.answer.append(dns.rrset.from_rdata(owner, TTL, data))


def bytes_of(response, record, longest):
    data = response.to_wire(max_size=65535)
    if len(data) > longest:
        response.answer.clear()
        response.flags |= dns.flags.TC
        return response.to_wire()
    # Half of a record, whose length points behind the end.
    return data[:-len(data) // 4] if record.get("broken") else data


def delay_of(record):
    return min(record.get("delay_seconds", 0), LONGEST_DELAY_SECONDS)


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, records):
        self.records = records

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        query = parsed(data)
        if query is None:
            return
        response, record = reply_to(self.records, query)
        if record.get("silent"):
            return
        answer = bytes_of(response, record, LONGEST_DATAGRAM)
        asyncio.get_running_loop().call_later(delay_of(record), self.transport.sendto, answer, address)


async def serve_stream(records, reader, writer):
    try:
        while True:
            size = int.from_bytes(await reader.readexactly(2), "big")
            query = parsed(await reader.readexactly(size))
            if query is None:
                break
            response, record = reply_to(records, query)
            if record.get("silent"):
                break
            await asyncio.sleep(delay_of(record))
            answer = bytes_of(response, record, 65535)
            writer.write(len(answer).to_bytes(2, "big") + answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def parsed(data):
    try:
        query = dns.message.from_wire(data)
    except Exception as error:  # whatever somebody sends
        print(f"unreadable: {error}", flush=True)
        return None
    question = query.question[0]
    print(question.name.to_text(omit_final_dot=True).lower(), dns.rdatatype.to_text(question.rdtype), flush=True)
    return query


async def main(address, port, records_file):
    with open(records_file, encoding="utf-8") as file:
        records = {name.lower(): record for name, record in json.load(file).items()}
    loop = asyncio.get_running_loop()
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # Hundreds may ask at once on a busy machine, and what does not fit is lost.
    datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 2**20)
    datagrams.bind((address, port))
    await loop.create_datagram_endpoint(lambda: Datagrams(records), sock=datagrams)
    server = await asyncio.start_server(lambda *streams: serve_stream(records, *streams), address, port)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
