"""Build, index, search, evaluate, compare and plot with BEARS as a library.

Run it as a program, or cell by cell in an editor that knows `# %%`. A test runs it.
"""

# %% Build a benchmark: texts, and questions that name the texts that answer them.
import json
from pathlib import Path

import vl_convert

import bears

DOCUMENTS = {
    "sofia": "Sofia, at the foot of Vitosha, is the capital of Bulgaria.",
    "plovdiv": "Plovdiv, on the Maritsa, is one of the oldest cities of Europe.",
    "varna": "Varna is a port on the Black Sea with long beaches.",
    "burgas": "Burgas is the second port of the country; its airport serves the coast.",
    "rila": "The Rila monastery was founded by a hermit in the tenth century.",
    "musala": "Musala, at 2,925 metres, is the highest mountain of the Balkans.",
}
QUESTIONS = [
    {"question": "What is the capital of Bulgaria?", "answer": "Sofia", "documents": ["sofia"]},
    {"question": "Which ports are on the coast?", "documents": ["varna", "burgas"]},
    {"question": "Who founded the Rila monastery?", "documents": ["rila"]},
    {
        "question": "How high is the tallest peak?",
        "answer": "2,925 metres",
        "documents": ["musala"],
    },
    # Grades say that one document answers better than another.
    {"question": "Which city is very old?", "documents": {"plovdiv": 2, "sofia": 1}},
]
benchmark = bears.build(DOCUMENTS, QUESTIONS, language="en")
print(benchmark)

# %% Index it with two retrievers, and search. Settings are those of docs/settings.md.
indexes = {
    "bm25": benchmark.index("bm25", "retriever.k1=1.2"),
    "wordllama": benchmark.index("wordllama"),
}
for hit in indexes["wordllama"].search("a city by the sea", depth=2):
    print(f"{hit.score:.3f}  {hit.doc_id}")

# %% Evaluate. A run maps each question_id to its ranking.
runs = {name: index.run(benchmark.questions) for name, index in indexes.items()}
scores = {name: benchmark.evaluate(run) for name, run in runs.items()}
print(scores["bm25"].means[["ndcg@10", "recall@3"]])
print(scores["bm25"].by_question["ndcg@10"])


# %% Evaluate a retriever of your own: a function from a question to a ranking.
def letters(question: str) -> dict[str, float]:
    """Score each document by the share of the question's letter pairs that it has."""
    pairs = {question[i : i + 2].lower() for i in range(len(question) - 1)}
    return {
        name: sum(pair in text.lower() for pair in pairs) / len(pairs)
        for name, text in DOCUMENTS.items()
    }


scores["letters"] = benchmark.evaluate(letters)

# %% Compare all pairs of systems: differences, intervals, and a verdict.
comparison = bears.compare(scores, measures=["ndcg@10", "recall@3"])
print(comparison[["measure", "a", "b", "difference", "low", "high", "verdict"]])

# %% Plot the recall curves. vl-convert draws Vega-Lite without a browser.
CUTOFFS = [1, 2, 3, 4, 5]
names = [f"recall@{k}" for k in CUTOFFS]
curves = {name: benchmark.evaluate(run, names).means for name, run in runs.items()}
chart = {
    "width": 320,
    "height": 200,
    "data": {
        "values": [
            {"system": system, "k": k, "recall": float(means[f"recall@{k}"])}
            for system, means in curves.items()
            for k in CUTOFFS
        ]
    },
    "mark": {"type": "line", "point": True},
    "encoding": {
        "x": {"field": "k", "type": "ordinal"},
        "y": {"field": "recall", "type": "quantitative", "scale": {"domain": [0, 1]}},
        "color": {"field": "system", "type": "nominal"},
    },
}
Path("recall.svg").write_text(vl_convert.vegalite_to_svg(json.dumps(chart)), encoding="utf-8")
