"""Asks the daemon at lookup-socket what becomes of a message: `POST /message`."""

import http.client
import json
import socket

from private_mail.processes import PATIENCE_SECONDS


def post(path, raw, *fields, sender):
    """path: of the socket. fields: more fields of the request. The status, and the answer: JSON if it is that."""
    connection = http.client.HTTPConnection("localhost", timeout=PATIENCE_SECONDS)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(PATIENCE_SECONDS)
    connection.sock.connect(str(path))
    try:
        connection.putrequest("POST", "/message")
        for name, value in [("Envelope-From", sender), *fields, ("Content-Length", str(len(raw)))]:
            connection.putheader(name, value.encode())
        connection.endheaders(raw)
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    return answer.status, json.loads(text) if answer.status == 200 else text


def is_delivered(path, raw, *fields, sender):
    status, said = post(path, raw, *fields, sender=sender)
    return status == 200 and said["decision"] == "deliver"
