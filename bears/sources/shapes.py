"""The shapes that a source may have, so that a new set needs a file of conf only."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bears.sources import beir, passage_rows, squad
from bears.sources.folder.read import read_own
from bears.sources.naming import Words
from bears.sources.pairs import WORDS as PAIRS
from bears.sources.pairs import read_pairs
from bears.sources.parts import Reader


@dataclass(frozen=True)
class SourceShape:
    """How rows are laid out.

    Args:
        read: from the files of a source to its records.
        words: our words for its fields and their usual names, to which ``fields`` of a source adds.
        layout: the tables of a shape that has several, and the patterns of their files.
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
    "squad": SourceShape(squad.read_squad, squad.WORDS),
    "multi-hop": SourceShape(passage_rows.multi_hop, passage_rows.MULTI_HOP),
    "qa-with-passages": SourceShape(passage_rows.with_passages, passage_rows.WITH_PASSAGES),
    "pairs": SourceShape(read_pairs, PAIRS),
    "beir": SourceShape(beir.read_beir, beir.WORDS, BEIR),
    "own": SourceShape(read_own, {}, OWN),
}
