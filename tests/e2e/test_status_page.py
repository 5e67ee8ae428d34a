"""The status page in a real Chromium, as on a telephone and on a desk, by day and by night."""

import struct

import pytest
from browser import Browser
from conftest import LISTED, UNLISTED
from private_mail.client import Message
from private_mail.processes import free_port

needs_browser = pytest.mark.skipif(bool(Browser.reason_for_none()), reason=Browser.reason_for_none())


@pytest.fixture(scope="module")
def port(start_shared_gateway):
    number = free_port()
    gateway = start_shared_gateway(settings={"metrics": f"127.0.0.1:{number}"})
    long_domain = ".".join(["a" * 60] * 3) + ".example"
    gateway.send(Message(LISTED), Message(UNLISTED), Message(""), Message(f"somebody@{long_domain}"),
                 Message("\"<script>alert(1)</script>\"@example.net"))
    return number


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("chromium")) as started:
        yield started


@needs_browser
@pytest.mark.parametrize("dark", (False, True), ids=("light", "dark"))
@pytest.mark.parametrize("width", (360, 1280))
def test_the_page_is_readable(port, browser, width, dark):
    browser.open_page(f"http://127.0.0.1:{port}/", width, dark)
    text = browser.value_of("document.body.innerText")
    for words in ("Needs action", "authentication = off: anyone can forge", "Decisions since the start", "Top reasons", "not-listed", "Rates promised",
                  "expected false-positive rate", "Last decisions", "l\u2026@example.org"):
        assert words in text, f"'{words}' is missing in:\n{text}"
    # No word of it leads sideways out of the screen.
    assert browser.value_of("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []
    assert browser.requests() == [f"http://127.0.0.1:{port}/"]
    assert browser.value_of("document.scripts.length") == 0
    picture = browser.picture()
    assert picture.startswith(b"\x89PNG")
    [picture_width] = struct.unpack(">I", picture[16:20])
    assert width - 20 <= picture_width <= width  # on a desk the scroll bar takes some of it
    text_colour, page_colour = (sum(map(int, browser.value_of(
        f"getComputedStyle(document.body).{name}.match(/\\d+/g).slice(0, 3).join(' ')").split())) / 3
        for name in ("color", "backgroundColor"))
    assert (text_colour - page_colour if dark else page_colour - text_colour) > 150
