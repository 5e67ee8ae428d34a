"""The status page in a real Chromium, on a telephone, a tablet and a desk, by day and by night, with a month of figures.
BLOOMGATE_PICTURES=.github makes the pictures of README.md."""

import json
import os
import shutil
import struct
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from accessibility import faults_of
from browser import Browser
from conftest import LISTED, UNLISTED
from private_mail.client import Message
from private_mail.daemon import USER
from private_mail.filter import build_filter_of
from private_mail.processes import free_port, temporary_folder

needs_browser = pytest.mark.skipif(bool(Browser.reason_for_none()), reason=Browser.reason_for_none())

PAIRED = "paired@example.org"  # for the one recipient
LONG_NAME = "partners-and-customers-of-all-branches-in-three-countries"
QUARTER = 900  # seconds


def history_of_a_month(now):
    """What a busy server would have decided, with quiet nights and weekends."""
    lines = ["bloomgate history 1"]
    for start in range((now - 31 * 86_400) // QUARTER * QUARTER, now, QUARTER):
        hour, weekday = start // 3600 % 24, (start // 86_400 + 3) % 7
        busy = (40 if 7 <= hour < 19 else 6) // (1 if weekday < 5 else 4) + start // QUARTER % 5
        lines.append(f"{QUARTER} {start} {busy * 9} {busy * 4} {busy} {int(busy % 7 == 3)}")
    for start in range((now - 89 * 60) // 60 * 60, now, 60):
        lines.append(f"60 {start} {8 + start // 60 % 7} {3 + start // 60 % 4} {start // 60 % 2} 0")
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture(scope="module")
def port(start_shared_gateway):
    number = free_port()
    with temporary_folder("history") as folder:
        folder.chmod(0o755)
        (folder / "kept").mkdir()
        (folder / "kept/history").write_text(history_of_a_month(int(time.time())))
        (folder / "layers").mkdir()
        for layer, addresses in (("0001", [LISTED]), ("0002", [f"{PAIRED} > user@example.net"])):
            build_filter_of(folder / layer, addresses)
            (folder / layer).rename(folder / "layers" / f"{layer}.bloom")
        for path in (folder / "kept", folder / "kept/history"):
            shutil.chown(path, USER)
        gateway = start_shared_gateway(settings={
            "whitelist": f"{LONG_NAME}={folder}/layers", "metrics": f"127.0.0.1:{number}",
            "history-file": folder / "kept/history", "host-name": "mx1.example.org"})
        long_domain = ".".join(["a" * 60] * 3) + ".example"
        gateway.send(*(Message(f"number{i}@example.net") for i in range(20)), Message(LISTED), Message(PAIRED), Message(UNLISTED),
                     Message(""),
                     Message(f"somebody@{long_domain}"), Message("\"<script>alert(1)</script>\"@example.net"))
        yield number


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("chromium")) as started:
        yield started


def get(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@needs_browser
@pytest.mark.parametrize("dark", (False, True), ids=("light", "dark"))
@pytest.mark.parametrize("width", (360, 768, 1280))
def test_the_page_is_readable(port, browser, width, dark):
    browser.open_page(f"http://127.0.0.1:{port}/", width, dark)
    text = browser.value_of("document.body.innerText")
    for words in ("Bloomgate on mx1.example.org", "Needs action", "authentication = off: anyone can forge", "Today, since midnight",
                  "The last 90 minutes:", "The last 24 hours:", "The last 31 days:", "Top reasons", "not-listed",
                  "The sender is on no list, or only with a signer", "99 of 100 decisions", "Rates promised", "expected false-positive rate",
                  "Last decisions", "l\u2026@example.org", f"{LONG_NAME}/0002", "listed-for-recipients"):
        assert words in text, f"'{words}' is missing in:\n{text}"
    # No word of it leads sideways out of the screen.
    assert browser.value_of("document.documentElement.scrollWidth") <= width
    assert faults_of(browser) == []
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
    if (folder := os.environ.get("BLOOMGATE_PICTURES")) and width == 768:
        (Path(folder) / f"status-page-{'dark' if dark else 'light'}.png").write_bytes(browser.picture(1000))


@needs_browser
@pytest.mark.parametrize("width", (360, 1280))
def test_each_reason_of_the_page_leads_to_its_sentence(port, browser, width):
    browser.open_page(f"http://127.0.0.1:{port}/reasons#not-listed", width)
    assert browser.value_of("document.querySelector(':target').innerText").split("\t")[-1].startswith("The sender is on no list, or only")
    assert browser.value_of("document.documentElement.scrollWidth") <= width
    assert faults_of(browser) == []


@needs_browser
def test_the_page_comes_again_by_itself_until_a_person_stops_that(port, browser):
    browser.open_page(f"http://127.0.0.1:{port}/", 1280)
    assert browser.value_of("document.querySelector('meta[http-equiv=refresh]').content") == "30"
    browser.open_page(browser.value_of("document.querySelector('header a').href"), 1280)
    assert "Before these" in browser.value_of("document.body.innerText")
    assert faults_of(browser) == []
    assert browser.value_of("document.querySelector('meta[http-equiv=refresh]')") is None


def test_programs_get_the_figures_of_the_page_and_whether_all_is_well(port):
    status, body = get(port, "/status.json")
    figures = json.loads(body)
    assert (status, figures["host"]) == (200, "mx1.example.org")
    assert figures["messages"]["since_start"]["deliver"] == 2
    assert figures["messages"]["today"]["deliver"] > 1, "the history of today counts, too"
    assert figures["decision_seconds"]["p50"] <= figures["decision_seconds"]["p99"]
    status, body = get(port, "/health")
    failing = [each["rule"] for each in json.loads(body)["failing"]]
    assert (status == 503) == bool(failing)
