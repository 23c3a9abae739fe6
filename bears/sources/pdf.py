"""Fetch papers as PDFs, one at a time, keep them and read them."""

import http.client
import math
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bears.errors import FormatError, SourceError
from bears.files.records import atomic_write
from bears.files.visible import blank
from bears.layout import TEXTS
from bears.sources.pdf_text import text_of
from bears.types import ForbidsExtra, Positive

AGENT = "bears-bench (retrieval benchmark; one request at a time)"
# After these a later attempt may succeed.
TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})
LONGEST_S = 300.0
"""The longest wait that a server can ask for."""


@dataclass(frozen=True)
class PdfSettings(ForbidsExtra):
    """How PDFs are fetched and cut.

    Args:
        base_url: the address up to a paper's id.
        interval_s: seconds from one request to the next, at least; arXiv asks for three.
        attempts: tries of one paper before it counts as failed.
        timeout_s: seconds that a server may be silent.
        max_bytes: a larger answer is refused.
        min_characters, max_characters: of a paragraph. A shorter one is joined with the next, a
            longer one is cut at the ends of sentences.
    """

    base_url: Annotated[str, Field(pattern="^https?://")] = "https://arxiv.org/pdf/"
    interval_s: Annotated[float, Field(ge=0)] = 3.0
    attempts: Positive = 4
    timeout_s: float = 60.0
    max_bytes: int = 100_000_000
    min_characters: int = 300
    max_characters: Positive = 1500


class PaperFailed(SourceError):
    """One paper cannot be fetched or read; others can.

    Args:
        answered: False if no server answered, which may be so for every other paper too.
    """

    def __init__(self, reason: str, answered: bool = True) -> None:
        super().__init__(reason)
        self.answered = answered


class _Later(PaperFailed):
    """An attempt failed in a way that another one may not, after a wait of ``wait_s``."""

    wait_s = 0.0


@dataclass
class Library:
    """A folder of PDFs, which fetches only those that are missing or damaged.

    Args:
        folder: where they are kept, ``<id>.pdf``.
        settings: how to fetch.
        sleep, clock: time; tests have their own.
    """

    folder: Path
    settings: PdfSettings
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _last: float = field(default=-math.inf, init=False)

    def text(self, paper: str) -> str:
        """Return the text of a paper's PDF, with its lines.

        Raises:
            PaperFailed: the PDF cannot be fetched, is damaged, or holds no text.
        """
        if not re.fullmatch(r"[\w-]+(?:[./][\w-]+)*", paper):
            raise PaperFailed(f"{paper!r} is not an arXiv id")
        path = self.folder / f"{paper.replace('/', '_')}.pdf"
        if path.exists():
            with suppress(FormatError):
                return self._read(path)
        content = self._fetch(paper)
        with atomic_write(path) as stream:
            stream.write(content)
        try:
            return self._read(path)
        except FormatError as error:
            raise PaperFailed(str(error)) from None

    def _read(self, path: Path) -> str:
        text = "\n\n".join(text_of(path, self.folder / TEXTS)["pages"])
        if blank(text):
            raise PaperFailed(f"{path} holds no text: its pages are images")
        return text

    def _fetch(self, paper: str) -> bytes:
        from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
        from tenacity.wait import wait_exponential

        exponential = wait_exponential(multiplier=max(self.settings.interval_s, 0.001), max=120)

        def wait(state: RetryCallState) -> float:
            failed = state.outcome.exception() if state.outcome else None
            return max(getattr(failed, "wait_s", 0.0), exponential(state))

        try:
            return Retrying(
                retry=retry_if_exception_type(_Later),
                stop=stop_after_attempt(self.settings.attempts),
                wait=wait,
                sleep=self.sleep,
                reraise=True,
            )(self._attempt, paper)
        except _Later as failed:
            reason = f"{failed}, {self.settings.attempts} times"
            raise PaperFailed(reason, failed.answered) from None

    def _attempt(self, paper: str) -> bytes:
        remaining = self._last + self.settings.interval_s - self.clock()
        if remaining > 0:
            self.sleep(remaining)
        self._last = self.clock()
        request = urllib.request.Request(
            self.settings.base_url + paper, headers={"User-Agent": AGENT}
        )
        try:
            with urllib.request.urlopen(request, timeout=self.settings.timeout_s) as response:
                content: bytes = response.read(self.settings.max_bytes + 1)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code not in TEMPORARY:
                raise PaperFailed(f"status {error.code}") from None
            later = _Later(f"status {error.code}")
            asked = error.headers.get("Retry-After", "")
            # Some servers give a date instead of seconds.
            later.wait_s = min(float(asked), LONGEST_S) if asked.isdecimal() else 0.0
            raise later from None
        except (OSError, http.client.HTTPException) as error:
            raise _Later(f"no answer ({error})", answered=False) from None
        if len(content) > self.settings.max_bytes:
            raise PaperFailed(f"more than {self.settings.max_bytes} bytes")
        if content.lstrip()[:5] != b"%PDF-":
            shown = content[:60].decode("utf-8", "replace").strip()
            raise PaperFailed(f"the server sent {shown!r} instead of a PDF")
        if b"%%EOF" not in content[-2048:]:
            raise _Later("the PDF has no end: it was cut")
        return content
