"""Models of a few thousand random weights, saved in the layouts of the real ones.

Their loading code, tokenizers and arithmetic are those of transformers; only the sizes are not.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

TEXTS = [
    "The kitten sleeps on the sofa.",
    "Paris is the largest town of the French Republic.",
    "臺北市是臺灣的首都。",
    "서울은 한국의 수도이다",
    "Mačka spi na kavču in sanja o miših, ki jih ne bo nikoli ujela.",
    "one",
    "Mix flour, water and yeast, then put the dough into the oven, wait an hour and eat it. " * 3,
    "",
]
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 400,
    "pad_token_id": 1,
}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def save_tokenizer(folder: Path, length: int) -> None:
    """A tokenizer of bytes and frequent pairs with XLM-RoBERTa's special tokens."""
    tokenizers, transformers = import_module("tokenizers"), import_module("transformers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=390, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    names = ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token")
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=length,
        **dict(zip(names, SPECIAL, strict=True)),
    ).save_pretrained(folder)


def save_xlm_roberta(folder: Path, length: int, head: str = "XLMRobertaModel") -> Path:
    """What e5, bge-m3 and bge-reranker-v2-m3 are: XLM-RoBERTa that reads ``length`` tokens."""
    torch, transformers = import_module("torch"), import_module("transformers")
    torch.manual_seed(7)
    config = transformers.XLMRobertaConfig(
        **SIZES, max_position_embeddings=length + 2, type_vocab_size=1, num_labels=1
    )
    model = getattr(transformers, head)(config)
    _strengthen(model)
    model.save_pretrained(folder)
    save_tokenizer(folder, length)
    return folder


def _strengthen(model: Any) -> None:
    """Weights as large as trained ones, so that a wrong token or position shows."""
    for weight in model.parameters():
        if weight.dim() > 1:
            import_module("torch").nn.init.normal_(weight, std=0.3)
