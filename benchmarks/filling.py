"""Measure a fill, journal and gates included, against a server of known latency.

    python -m benchmarks.filling [texts] [latency] [concurrency]

The ratio is wall time over ceil(texts / concurrency) * latency, the least that it can take.
"""

from __future__ import annotations

import math
import random
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from bears.config import compose, read_selection
from bears.config.typed import parse
from bears.language.profile import Language
from bears.llm.workflow import Workflow
from bears.translation.source_texts import SourceTexts
from bears.translation.task import TranslationTask
from bears.translation.translator import TranslatorSettings
from bears.types import Document
from tests.provider_server import ROOT, ProviderServer

WORDS = 60
SELECTION = {"benchmark": "mini", "translator": "per-field", "language": "pseudo"}


def main(texts: int = 2000, latency: float = 0.2, concurrency: int = 64) -> None:
    """Print wall time, ratio and CPU of one fill."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ProviderServer("tests.scripted_model:plain", latency=latency) as server,
    ):
        workflow = _workflow(Path(folder), server.url, texts, concurrency)
        wall, cpu = time.perf_counter(), time.process_time()
        report = workflow.fill()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    least = math.ceil(texts / concurrency) * latency
    print(f"{report.stored} of {texts} stored, {report.missing} missing")
    print(f"wall {wall:.2f} s, ratio {wall / least:.3f}, CPU {cpu:.2f} s")


def _workflow(root: Path, url: str, texts: int, concurrency: int) -> Workflow[TranslationTask]:
    (root / "conf").mkdir()
    shutil.copy(ROOT / "conf" / "models.yaml", root / "conf")
    words = re.findall("[A-Za-z]+", (ROOT / "data/local/mini/hotpotqa.json").read_text("utf-8"))
    rng = random.Random(0)
    documents = [
        Document(f"d{i}", f"{' '.join(rng.sample(words, WORDS))} {i}.", "hotpotqa", str(i), False)
        for i in range(texts)
    ]
    overrides = [
        f"translator.base_url={url}",
        f"translator.concurrency={concurrency}",
        "translator.api_key_env=''",
    ]
    selection = {**read_selection(ROOT / "params.yaml"), **SELECTION, "overrides": overrides}
    config = compose(ROOT / "conf", selection)
    settings = parse(TranslatorSettings, config["translator"], "translator")
    language = parse(Language, config["language"], "language")
    source_texts = SourceTexts([], documents, {"hotpotqa": "en"}, language.name)
    task = TranslationTask(settings, language, config["gates"], source_texts)
    return Workflow(task, root / "memory.jsonl", root)


if __name__ == "__main__":
    kinds = (int, float, int)
    main(*(kind(word) for kind, word in zip(kinds, sys.argv[1:], strict=False)))
