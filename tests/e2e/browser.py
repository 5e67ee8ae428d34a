"""A real Chromium without a window, driven through its DevTools protocol (a pipe, and JSON that ends with a zero byte)."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

CHROMIUM = "/usr/bin/chromium"
PATIENCE_SECONDS = 90


class Browser:
    def __init__(self, folder):
        self.folder = folder
        self.number = 0
        self.received = b""
        self.events = []

    @staticmethod
    def reason_for_none():
        """Why there is no browser here; empty if there is one."""
        return "" if shutil.which(CHROMIUM) else "chromium is missing (Debian package chromium)"

    def __enter__(self):
        commands, self.to_browser = os.pipe()
        self.from_browser, replies = os.pipe()
        # The program reads from 3 and writes to 4, so these two must be others.
        inherited = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (commands, replies)]
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", 'exec "${@:3}" 3<&"$1" 4>&"$2"', "bash", *map(str, inherited), CHROMIUM, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
             f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=inherited, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for end in (commands, replies, *inherited):
            os.close(end)
        return self

    def __exit__(self, *_):
        os.close(self.to_browser)  # it ends with its pipe
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        os.close(self.from_browser)

    def open_page(self, url, width, dark=False):
        """Shows the page as on a screen of that width."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", session=False, targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def value_of(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def complaints(self):
        """Errors and warnings of the console."""
        return [event for event in self.events if event["method"] in ("Log.entryAdded", "Runtime.exceptionThrown",
                                                                      "Runtime.consoleAPICalled")]

    def requests(self):
        """The addresses that the page has asked for."""
        return [event["params"]["request"]["url"] for event in self.events
                if event["method"] == "Network.requestWillBeSent"]

    def picture(self, height=None):
        """PNG of the page, or of its upper part."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"], "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def call(self, method, session=True, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session and not method.startswith("Target."):
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        reply = self._wait(lambda message: message.get("id") == self.number)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']}")
        return reply["result"]

    def wait_for(self, method):
        if not any(event["method"] == method for event in self.events):
            self._wait(lambda message: message.get("method") == method)

    def _wait(self, is_wanted):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            while b"\0" in self.received:
                text, self.received = self.received.split(b"\0", 1)
                message = json.loads(text)
                if "method" in message:
                    self.events.append(message)
                if is_wanted(message):
                    return message
            if not select.select([self.from_browser], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            chunk = os.read(self.from_browser, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self.received += chunk
