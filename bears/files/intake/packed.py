"""Files that are a zip of other files, such as Word's, and may unpack to any size."""

import zipfile
from pathlib import Path
from typing import IO

from bears.errors import FormatError
from bears.files.intake.files import beyond


def check_packed(stream: IO[bytes], path: Path, most: int) -> None:
    """Refuse a zip whose parts unpack to more than ``most`` bytes; then rewind the stream.

    The declared size of a part can be trusted: a reader of zips yields no more than that.

    Raises:
        FormatError: it is not a zip, is encrypted or damaged, or unpacks to too much.
    """
    try:
        with zipfile.ZipFile(stream) as packed:
            parts = packed.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise FormatError(
            f"{path}: it cannot be unpacked ({error}); it is damaged, has a password, or is of an "
            f"old version of Office: save it anew as {path.suffix}"
        ) from None
    if any(part.flag_bits & 1 for part in parts):
        raise FormatError(f"{path}: it is encrypted; save it without a password")
    # Pictures are not read, and hardly shrink; a file that shrinks more is a text.
    size = sum(
        part.file_size
        for part in parts
        if part.filename.endswith((".xml", ".rels")) or part.file_size > 4 * part.compress_size
    )
    if size > most:
        raise beyond(str(path), f"its texts unpack to {size} bytes", most)
    stream.seek(0)
