"""A page as a browser has it after its script ran, and a browser that tests can type into."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Its sandbox does not work for root, nor in most containers; the page is our own.
CONTAINED = ("--no-sandbox", "--disable-dev-shm-usage")
RUN = "document.documentElement.setAttribute('data-ran','1')"
HOSTILE = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<!--<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
)
"""Texts that would run a script where they became a part of a page's HTML."""


def chromium() -> str:
    """The program, without which a test is skipped."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    return found


def dom(page: Path, fragment: str = "", language: str = "en") -> str:
    """The page's document as HTML, after its script ran.

    Args:
        fragment: the part of the address after ``#``.
        language: that of the reader.
    """
    profile = f"--user-data-dir={page.parent / 'profile'}"
    words = [chromium(), "--headless", "--disable-gpu", profile, *CONTAINED]
    words += [f"--accept-lang={language}", "--dump-dom"]
    address = page.resolve().as_uri() + (f"#{fragment}" if fragment else "")
    done = subprocess.run(
        [*words, address],
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8")


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser to type into."""
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=chromium(), args=[*CONTAINED])
        yield running
        running.close()


@contextmanager
def shown(
    browser: Browser, page: Path, fragment: str = "", ready: str = "#desk > *", **how: Any
) -> Iterator[Page]:
    """A page in a new window of a browser that is offline and has kept nothing yet.

    A fault of its script, or something that its policy forbids, fails the test.

    Args:
        fragment: the part of the address after ``#``.
        ready: what the page has when its script ran.
        how: such as locale, viewport and has_touch.
    """
    context = browser.new_context(offline=True, **how)
    window = context.new_page()
    window.set_default_timeout(15_000)
    faults: list[str] = []
    window.on("pageerror", lambda error: faults.append(str(error)))
    window.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    window.goto(page.resolve().as_uri() + (f"#{fragment}" if fragment else ""))
    window.wait_for_selector(ready)
    yield window
    assert faults == []
    context.close()
