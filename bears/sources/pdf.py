"""Papers as PDFs: fetched one at a time, kept, and read."""

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bears.errors import ConfigurationError, FormatError, SourceError
from bears.files.intake.texts import blank
from bears.files.records import atomic_write
from bears.sources.pdf_text import pages_of
from bears.types import Closed

AGENT = "bears-bench (retrieval benchmark; one request at a time)"
# What a server says when it may do better later.
TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class PdfSettings(Closed):
    """How PDFs are fetched and cut.

    Args:
        base_url: what stands before a paper's id.
        interval_s: seconds from one request to the next, at least; arXiv asks for three.
        attempts: tries of one paper before it counts as failed.
        timeout_s: seconds that a server may be silent.
        max_bytes: a larger answer is refused.
        min_characters, max_characters: of a paragraph; shorter ones are joined with the next,
            longer ones parted at the ends of sentences.
    """

    base_url: str = "https://arxiv.org/pdf/"
    interval_s: Annotated[float, Field(ge=0)] = 3.0
    attempts: Annotated[int, Field(ge=1)] = 4
    timeout_s: float = 60.0
    max_bytes: int = 100_000_000
    min_characters: int = 300
    max_characters: int = 1500

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("https://", "http://")):
            raise ConfigurationError(f"pdf.base_url is {self.base_url!r}; expected http(s)://…")
        if not 0 < self.min_characters < self.max_characters:
            raise ConfigurationError(
                f"pdf.min_characters is {self.min_characters}, pdf.max_characters "
                f"{self.max_characters}; expected 0 < min < max"
            )


class PaperFailed(SourceError):
    """One paper cannot be had; others can."""


class Unreadable(PaperFailed):
    """A file that is no sound PDF."""


class Unreachable(PaperFailed):
    """No server answered, which may hold for every other paper too."""


class _Later(Exception):
    """An attempt that failed in a way that another one may not."""

    def __init__(self, reason: str, wait_s: float = 0.0, answered: bool = True) -> None:
        super().__init__(reason)
        self.wait_s, self.answered = wait_s, answered


@dataclass
class Library:
    """A folder of PDFs that fetches what it lacks, or what is damaged in it, and nothing else.

    Args:
        folder: where they are kept, ``<id>.pdf``.
        settings: how to fetch.
        sleep, clock: time; tests have their own.
    """

    folder: Path
    settings: PdfSettings
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _last: float | None = field(default=None, init=False)

    def text(self, paper: str) -> str:
        """The text of a paper's PDF, lines as they stand in it.

        Raises:
            PaperFailed: it cannot be fetched, is no PDF, or holds no text.
            Unreachable: no server answered.
        """
        path, damage = self._path(paper), ""
        if path.exists():
            try:
                return _read(path)
            except Unreadable as error:
                damage = f"{error}; fetched again: "
        try:
            content = self._fetch(paper)
        except PaperFailed as failed:
            raise type(failed)(f"{damage}{failed}") from None
        with atomic_write(path) as stream:
            stream.write(content)
        return _read(path)

    def _path(self, paper: str) -> Path:
        if not re.fullmatch(r"[\w-]+(?:[./][\w-]+)*", paper):
            raise PaperFailed(f"{paper!r} is no arXiv id")
        return self.folder / f"{paper.replace('/', '_')}.pdf"

    def _fetch(self, paper: str) -> bytes:
        from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
        from tenacity.wait import wait_exponential

        exponential = wait_exponential(multiplier=max(self.settings.interval_s, 0.001), max=120)

        def wait(state: RetryCallState) -> float:
            failed = state.outcome.exception() if state.outcome else None
            asked = failed.wait_s if isinstance(failed, _Later) else 0.0
            return max(asked, exponential(state))

        try:
            return Retrying(
                retry=retry_if_exception_type(_Later),
                stop=stop_after_attempt(self.settings.attempts),
                wait=wait,
                sleep=self.sleep,
                reraise=True,
            )(self._attempt, paper)
        except _Later as failed:
            kind = PaperFailed if failed.answered else Unreachable
            raise kind(f"{failed}, {self.settings.attempts} times") from None

    def _attempt(self, paper: str) -> bytes:
        self._be_polite()
        request = urllib.request.Request(
            self.settings.base_url + paper, headers={"User-Agent": AGENT}
        )
        try:
            with urllib.request.urlopen(request, timeout=self.settings.timeout_s) as response:
                content: bytes = response.read(self.settings.max_bytes + 1)
                promised = response.headers.get("Content-Length")
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in TEMPORARY:
                raise _Later(f"status {error.code}", _seconds(error.headers)) from None
            raise PaperFailed(f"status {error.code}") from None
        except (OSError, http.client.HTTPException) as error:
            cut = isinstance(error, http.client.IncompleteRead)
            reason = "the answer was cut" if cut else f"no answer ({error})"
            raise _Later(reason, answered=cut) from None
        if len(content) > self.settings.max_bytes:
            raise PaperFailed(f"more than {self.settings.max_bytes} bytes")
        if promised and promised.isdigit() and len(content) < int(promised):
            raise _Later("the answer was cut")
        return _checked(content)

    def _be_polite(self) -> None:
        if self._last is not None:
            remaining = self._last + self.settings.interval_s - self.clock()
            if remaining > 0:
                self.sleep(remaining)
        self._last = self.clock()


def _seconds(headers: http.client.HTTPMessage | object) -> float:
    """Return what ``Retry-After`` asks for, at most five minutes, or 0 if it is not in seconds."""
    value = headers.get("Retry-After", "") if isinstance(headers, http.client.HTTPMessage) else ""
    return min(float(value), 300.0) if value.isdecimal() else 0.0


def _checked(content: bytes) -> bytes:
    if content.lstrip()[:5] != b"%PDF-":
        shown = content[:60].decode("utf-8", "replace").strip()
        raise PaperFailed(f"the server sent no PDF but {shown!r}")
    if b"%%EOF" not in content[-2048:]:
        raise _Later("the PDF has no end: it was cut")
    return content


def _read(path: Path) -> str:
    try:
        text = "\n\n".join(pages_of(path))
    except FormatError as error:
        raise Unreadable(str(error)) from error
    if blank(text):
        raise PaperFailed(f"{path} holds no text: its pages are images")
    return text
