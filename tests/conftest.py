"""What several test files need."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# How long an example may take is wall time, which a busy machine does not keep.
settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real records of the public datasets; their licences keep them out of the repository."""
    folder = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the real datasets are not here ({folder})")
    return folder
