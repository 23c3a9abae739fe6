"""Hostile files for every reader, and a process that watches one being read."""

import json
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from bears.errors import BearsError

MEMORY = 2 << 30
"""Bytes of address space beyond what is there already."""
PATIENCE_S = 30
"""Far beyond what a refusal takes, so that a busy machine does not look like a hang."""

ANY = {
    "empty": b"",
    "UTF-16": '{"name": "x"}\n'.encode("utf-16"),
    "Latin-1": b'{"name": "caf\xe9"}\n',
    "NUL": b'{"name": "\x00"}\n',
    "bytes of no text": bytes(range(256)) * 40,
}
JSON = {
    "cut in half": b'[{"name": "half',
    "brackets": b"[" * 100_000,
    "objects": b'{"a":' * 100_000,
    "5,000 digits": b'[{"a": ' + b"9" * 5000 + b"}]",
    "1e400": b'{"questions": 1e400}',
    "a repeated key": b'{"name": "a", "name": "b"}',
    "half of a pair": rb'{"name": "\ud800"}',
    "NaN": b'{"name": NaN}',
    "an unknown key": b'[{"nobody_knows_it": 1}]',
    "a number": b"5",
    "null": b"null",
    "a list of lists": b"[[[]]]",
    "a text over the limit": b'{"name": "' + b"x" * 11_000_000 + b'"}',
}
YAML = {
    "cut in half": b"name: [half",
    "brackets": b"[" * 100_000,
    "lines": b"".join(b" " * i + b"a:\n" for i in range(2000)),
    "billion laughs": b"a: &a [x, x, x, x, x, x, x, x, x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in b"bcdefghi"),
    "5,000 digits": b"name: " + b"9" * 5000,
    "a repeated key": b"name: a\nname: b\n",
    "half of a pair": rb'name: "\ud800"',
    "an unknown key": b"nobody_knows_it: 1\n",
    "a list": b"- name\n",
    "a number": b"5\n",
    "names that are none": b"5: 5\nnull: 1\n[a]: b\n",
    "foreign code": b"name: !!python/object/apply:os.abort []\n",
}
CSV = {
    "cut in half": b'name,"half',
    "a cell of 200,000": b"name,other\n" + b"x" * 200_000 + b",y\n",
    "too many cells": b"name,other\n1,2,3\n",
    "a column twice": b"name,name\n1,2\n",
    "a header alone": b"name\n",
}
LINES = {
    "words": b"one two\n",
    "digits": b"q Q0 d 1 " + b"9" * 5000 + b" t\n",
    "not a number": b"q Q0 d 1 nan t\n",
    "six words": b"a b c d e f\n",
}
BY_SUFFIX: Mapping[str, Mapping[str, bytes]] = {
    ".json": JSON,
    ".jsonl": {name: data + b"\n" for name, data in JSON.items()},
    ".yaml": YAML,
    ".csv": CSV,
    ".trec": LINES | JSON,
}
KINDS: Mapping[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
}


def evils(suffix: str) -> Iterator[tuple[str, Callable[[Path], object]]]:
    """Each evil that fits a file of this suffix: its name, and what puts it at a path."""
    yield from KINDS.items()
    for name, data in {**ANY, **BY_SUFFIX.get(suffix, {})}.items():
        yield name, partial(_write, data)


def _write(data: bytes, path: Path) -> None:
    path.write_bytes(data)


def outcomes(suffix: str, folder: Path, read: Callable[[Path], object]) -> dict[str, str]:
    """What became of reading each evil, in a process of its own: refused, taken, or what else."""
    told = folder / "told.jsonl"
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_read_all, args=(suffix, folder, read, told))
    child.start()
    child.join()
    lines = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
    found = dict(lines)
    if child.exitcode:
        found[str(lines[-1][0])] = f"ended the process with {child.exitcode}"
    return found


def _read_all(suffix: str, folder: Path, read: Callable[[Path], object], told: Path) -> None:
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY,) * 2)
    with told.open("a", encoding="utf-8", buffering=1) as stream:
        for number, (name, put) in enumerate(evils(suffix)):
            path = folder / str(number) / f"evil{suffix}"
            path.parent.mkdir()
            put(path)
            print(json.dumps([name, "hung or crashed"]), file=stream)
            signal.alarm(PATIENCE_S)
            print(json.dumps([name, _outcome(read, path)]), file=stream)
    os._exit(0)  # without what pytest does when it ends


def _outcome(read: Callable[[Path], object], path: Path) -> str:
    try:
        found = read(path)
        if isinstance(found, Iterator):
            for _ in found:
                pass
    except BearsError as error:
        return "refused" if str(error).strip() else "refused without a word"
    except BaseException as error:
        return f"{type(error).__name__}: {error!s:.200}"
    return "taken"
