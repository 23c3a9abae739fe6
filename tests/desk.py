"""A folder in which the commands around kept replies run, with a provider on loopback."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from bears.cli import main
from bears.config.pipeline import run
from bears.files.journal import Journal
from bears.files.records import read_documents, read_questions
from bears.types import Document, Question
from stages import download, sample, translate, verify
from tests.provider_server import ROOT, ProviderServer

SAMPLED = Path("data/mini/sampled")
MEMORY = Path("data/memory/mini.jsonl")
WHOLE, WHOLE_ASKED = (), 160 + 18 + 18
"""Documents, questions and lists of terms; the answers are in gold documents."""
SMALL, ASKED = (
    (
        "sample.documents=44",
        "sample.sources=[{source: drcd, questions: 4}, {source: hotpotqa, questions: 2}, "
        "{source: 2wiki, questions: 2}]",
    ),
    44 + 8 + 8,
)
Stage = Callable[..., None]


@dataclass(frozen=True)
class Desk:
    """A folder with mini, sampled and not yet translated, in which commands run."""

    root: Path
    overrides: tuple[str, ...]

    def run(self, command: str, *words: str, code: int = 0) -> str:
        """Run ``bears replies`` in this process and return what it printed, with standard error."""
        return self._told(lambda: main(self._command(command, words)), code)

    def stage(self, name: str, stage: Stage, *overrides: str, code: int = 0) -> str:
        """Run a stage of the pipeline in this process."""
        words = [*self.overrides, *overrides]
        return self._told(lambda: run(name, stage, words), code)

    def _command(self, command: str, words: Sequence[str]) -> list[str]:
        """Return the command: options, then the desk's overrides, then those of this call."""
        overrides = [word for word in words if "=" in word]
        others = [word for word in words if "=" not in word]
        return ["replies", command, *others, *self.overrides, *overrides]

    def _told(self, call: Callable[[], int], code: int) -> str:
        told = io.StringIO()
        with chdir(self.root), redirect_stdout(told), redirect_stderr(told):
            status = call()
        assert status == code, told.getvalue()
        return told.getvalue()

    def start(self, command: str, *words: str, **variables: str) -> subprocess.Popen[str]:
        """Start ``bears replies`` in its own process, without a terminal."""
        environment = {name: value for name, value in os.environ.items() if "OPENAI" not in name}
        return subprocess.Popen(
            [sys.executable, "-m", "bears", *self._command(command, words)],
            cwd=self.root,
            env={**environment, "PYTHONPATH": str(ROOT), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # If the tests themselves run in the background, an interrupt would be ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def also(self, *overrides: str) -> Desk:
        return replace(self, overrides=(*self.overrides, *overrides))

    @property
    def journal(self) -> Path:
        return self.root / ".bears" / "journal.jsonl"

    def rows(self, kind: str = "translation") -> list[dict[str, Any]]:
        """Return the journal's rows of a kind."""
        return [row for row in Journal(self.journal).rows() if row["kind"] == kind]

    @property
    def replies(self) -> bytes:
        return (self.root / MEMORY).read_bytes()

    def measured(self) -> dict[str, Any]:
        """Replay and verify with the published replies, and return the metrics."""
        self.stage("translate", translate.main)
        self.stage("verify", verify.main)
        metrics: dict[str, Any] = json.loads((self.root / "metrics/verification.json").read_text())
        return metrics

    def texts(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Return each text before and after translation, by (record_id, field)."""
        after = self.root / "data/mini/translated"
        found = {}
        questions = read_questions(after / "queries.json")
        for raw, question in zip(self.questions(), questions, strict=True):
            found[raw.question_id, "question"] = (raw.question, question.question)
            found[raw.question_id, "gold_answer"] = (raw.gold_answer, question.gold_answer)
        documents = read_documents(after / "corpus.json")
        for source, document in zip(self.documents(), documents, strict=True):
            found[source.doc_id, "content"] = (source.content, document.content)
        return found

    def questions(self) -> list[Question]:
        return read_questions(self.root / SAMPLED / "queries_raw.json")

    def documents(self) -> list[Document]:
        return read_documents(self.root / SAMPLED / "corpus_raw.json")

    def negative(self) -> Document:
        """Return a document that is translated and not gold."""
        return next(
            d for d in self.documents() if not d.is_gold and d.original_source == "hotpotqa"
        )


def checkout(root: Path) -> None:
    """Write a project that has this repository's configuration, without people's decisions.

    What it has no file of its own for comes from conf/ here, as in a project of `bears init`.
    """
    root.mkdir(parents=True, exist_ok=True)
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, root / name)


@cache
def _sampled(folder: Path, size: tuple[str, ...]) -> Path:
    """Return the workspace that desks are copies of, made once per session by the stages."""
    root = folder / ("small" if size else "whole")
    checkout(root)
    shutil.copytree(ROOT / "data/local/mini", root / "data/local/mini")
    (root / MEMORY.parent / "made").mkdir(parents=True)
    (root / MEMORY).touch()
    made = Desk(root, ("language=pseudo", *size))
    made.stage("download", download.main)
    made.stage("sample", sample.main)
    return root


def desk(
    to: Path, factory: pytest.TempPathFactory, url: str, size: tuple[str, ...] = SMALL
) -> Desk:
    """Return a desk whose translator uses the server at ``url``."""
    root = to / "desk"
    shutil.copytree(_sampled(factory.getbasetemp(), size), root)
    usual = ("translator=gpt-4.1", "language=pseudo", f"translator.base_url={url}")
    return Desk(root, (*usual, "translator.api_key_env=''", *size))


def asked(prompts: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the (field, text) of each request."""
    heads = {
        "List the names": "terms",
        "Translate this question": "question",
        "Translate this short answer": "gold_answer",
        "Translate this text": "content",
    }
    parts = (prompt["messages"][-1]["content"].partition("\n\n") for prompt in prompts)
    return [(next(heads[s] for s in heads if head.startswith(s)), text) for head, _, text in parts]


def journalled(rows: Sequence[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return the (field, text) of each journal row."""
    return {(row["field"], row["text"].strip()) for row in rows}


Here = Callable[..., tuple[Desk, ProviderServer]]


@pytest.fixture
def here(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, provider: Callable[..., Any]
) -> Here:
    """Return a function that makes a desk beside a server with faults."""

    def made(behaviour: str = "good", size: tuple[str, ...] = SMALL, **faults: Any) -> Any:
        server = provider(behaviour, **faults)
        return desk(Path(mkdtemp(dir=tmp_path)), tmp_path_factory, server.url, size), server

    return made
