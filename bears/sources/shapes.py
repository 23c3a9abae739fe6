"""The shapes that a source may have, so that a new set is a file of conf and no code."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bears.sources import beir, own, passage_rows, squad
from bears.sources.naming import Words
from bears.sources.pairs import WORDS as PAIRS
from bears.sources.pairs import read as read_pairs
from bears.sources.parts import Reader


@dataclass(frozen=True)
class Shape:
    """How rows are laid out.

    Args:
        read: from them to rows of our own.
        words: our words for its fields, which ``fields`` of a source may call otherwise.
        layout: of a shape that is several tables: each, and the patterns of its files in a folder.
    """

    read: Reader
    words: Words
    layout: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


BEIR = {
    "corpus": (
        *("corpus.jsonl", "corpus.jsonl.gz", "corpus/*.jsonl", "corpus/*.jsonl.gz"),
        *("corpus/*.parquet", "corpus*.parquet", "corpus.csv", "corpus.tsv", "corpus.json"),
    ),
    "queries": (
        *("queries.jsonl", "queries.jsonl.gz", "queries/*.jsonl", "queries/*.jsonl.gz"),
        *("queries/*.parquet", "queries*.parquet", "queries.csv", "queries.tsv", "queries.json"),
    ),
    "qrels": (
        *("qrels/{split}.tsv", "{split}.tsv", "qrels/{split}.trec", "qrels/{split}.txt"),
        *("qrels/{split}*.json*", "qrels/{split}*.parquet", "default/{split}*", "data/{split}*"),
        *("qrels/{split}.csv", "qrels/{split}.tsv.gz", "qrels*{split}*", "{split}*.parquet"),
        *("qrels.tsv", "qrels.txt", "qrels.trec", "qrels.csv", "qrels.json*", "qrels.parquet"),
    ),
}
OWN = {"folder": (".",)}
SHAPES = {
    "squad": Shape(squad.read, squad.WORDS),
    "multi-hop": Shape(passage_rows.multi_hop, passage_rows.MULTI_HOP),
    "qa-with-passages": Shape(passage_rows.with_passages, passage_rows.WITH_PASSAGES),
    "pairs": Shape(read_pairs, PAIRS),
    "beir": Shape(beir.read, beir.WORDS, BEIR),
    "own": Shape(own.read, {}, OWN),
}
