"""A page as a browser has it after its script ran."""

import shutil
import subprocess
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def dom(page: Path, fragment: str = "", language: str = "en") -> str:
    """The page's document as HTML, after its script ran.

    Args:
        fragment: the part of the address after ``#``.
        language: that of the reader.
    """
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    words = [found, "--headless", "--disable-gpu", f"--user-data-dir={page.parent / 'profile'}"]
    # Its sandbox does not work for root, nor in most containers; the page is our own.
    words += ["--no-sandbox", "--disable-dev-shm-usage", f"--accept-lang={language}", "--dump-dom"]
    address = page.resolve().as_uri() + (f"#{fragment}" if fragment else "")
    done = subprocess.run(
        [*words, address],
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8")
