"""A web server on loopback that shows a folder as any does, with ETags and parts of files, and has faults on demand."""
import functools
import hashlib
import http.server
import pathlib
import re
import threading


class WebServer:
    """`faults` has a function for each path that is to go wrong: it gets the handler, and says whether it has answered."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.faults = {}
        self.asked = []  # (path, status, bytes of the body)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, self))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/"

    def bytes_of(self, name):
        return sum(count for path, _, count in self.asked if path == f"/{name}")

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, web, *arguments):
        self.web = web
        super().__init__(*arguments)

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", sent=None, **fields):
        """With `sent`, so many bytes of the body come, and then the connection ends."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **fields}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        body = body if sent is None else body[:sent]
        self.web.asked.append((self.path, status, len(body)))
        self.wfile.write(body)
        if sent is not None:
            self.close_connection = True

    def content(self):
        return (self.web.folder / self.path[1:]).read_bytes()

    def do_GET(self):
        fault = self.web.faults.get(self.path[1:])
        if fault and fault(self):
            return
        try:
            body = self.content()
        except OSError:
            self.answer(404)
            return
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if self.headers["If-None-Match"] == etag:
            self.answer(304, ETag=etag)
            return
        begin = int(found[1]) if (found := re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")) else 0
        if begin:
            self.answer(206, body[begin:], ETag=etag, Content_Range=f"bytes {begin}-{len(body) - 1}/{len(body)}")
        else:
            self.answer(200, body, ETag=etag)


def cut_after(count, times=1):
    """A fault: the connection ends after so many bytes of the answer, so many times."""
    left = [times]

    def fault(handler):
        if left[0] == 0:
            return False
        left[0] -= 1
        body = handler.content()
        begin = int(found[1]) if (found := re.fullmatch(r"bytes=(\d+)-", handler.headers["Range"] or "")) else 0
        fields = {"Content_Range": f"bytes {begin}-{len(body) - 1}/{len(body)}"} if begin else {}
        handler.answer(206 if begin else 200, body[begin:], sent=count, **fields)
        return True

    return fault


def with_body(body, status=200, **fields):
    """A fault: that answer, whatever was asked for."""
    def fault(handler):
        handler.answer(status, body, **fields)
        return True

    return fault


def stalls_after(count):
    """A fault: so many bytes come, and then nothing until the other side has gone."""
    def fault(handler):
        body = handler.content()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[:count])
        handler.wfile.flush()
        handler.web.asked.append((handler.path, 200, count))
        handler.connection.recv(1)
        handler.close_connection = True
        return True

    return fault
