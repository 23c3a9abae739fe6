"""Servers and models that several files ask for, started or made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.qdrant_server import QdrantServer
from tests.retrieving import NO_MODELS
from tests.tiny_models import save_xlm_roberta


@pytest.fixture(scope="session")
def qdrant_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with QdrantServer(tmp_path_factory.mktemp("qdrant")) as running:
        yield running.url


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder that reads 64 tokens."""
    pytest.importorskip("torch", reason=NO_MODELS)
    return save_xlm_roberta(tmp_path_factory.mktemp("tiny"), 64)
