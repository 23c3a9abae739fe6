"""Encoding by Ray gives what encoding here gives, and goes on after a kill in the same way.

Ray's tests run in namespaces of their own: it opens many ports, takes the host's address for
127.0.0.1, and what it starts must end with the test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from bears.errors import RetrieverUnavailable
from bears.retrieval.dense.dense import Dense
from bears.retrieval.dense.engines.local import Local
from bears.retrieval.dense.engines.ray_tasks import RayTasks
from bears.retrieval.vectors import Vectors
from tests.retrieving import Letters, Recorded, documents, indexed
from tests.workspace import ROOT

RUN = "import sys; sys.argv = sys.argv[1:]; exec(open(sys.argv[0]).read())"
"""Runs a script with the current folder to import from, as ``python -m stages.index`` has it."""

STORIES = """
import json, os, signal, subprocess, sys, tempfile, time
from dataclasses import dataclass
from pathlib import Path
from bears.errors import BearsError, RetrieverUnavailable
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.dense.engines.local import Local
from bears.retrieval.dense.engines.ray_tasks import RayTasks
from bears.retrieval.dense.shards import VectorCache
from tests.retrieving import Recorded, documents

folder = Path(sys.argv[1])
TEXTS = [f"{word} number {n} of a row" * (1 + n % 7) for n in range(50) for word in ("cat", "貓")]

@dataclass
class Slow:
    log: str
    seconds: float = 0.0
    error: str = ""

    identity = {"slow": 1}

    def load(self):
        pass

    def documents(self, texts):
        with open(self.log, "a") as stream:
            stream.write(f"{texts[0]}\\n")
        time.sleep(self.seconds)
        if self.error == "missing":
            raise RetrieverUnavailable("the model is not here")
        if self.error == "full":
            raise OSError(28, "No space left on device", "somewhere")
        return WordLlama(256).documents(texts)

def index(encoder, engine, scratch=None):
    store = Recorded()
    scratch = scratch or Path(tempfile.mkdtemp(dir=folder))
    dense = Dense(encoder, store, engine, shard_size=9)
    dense.index(documents(TEXTS), folder / "out", scratch)
    return store.shards

def plain(shards):
    return [(s.number, s.doc_ids, s.groups, s.texts, s.vectors.tobytes()) for s in shards]

def error(encoder, engine):
    try:
        index(encoder, engine)
    except (BearsError, OSError) as error:
        return f"{type(error).__name__}: {error}"

def kept():
    return len(VectorCache(folder / "kept", Slow.identity).find(TEXTS))

def name(process):
    try:
        return (process / "comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # It ended while we looked.

def others():
    names = map(name, Path("/proc").glob("[0-9]*"))
    return [name for name in names if name in ("raylet", "gcs_server") or "ray::" in name]

def left_running():
    # They end on their own, but not at once.
    for _ in range(1500):
        if not others():
            break
        time.sleep(0.1)
    return others()
"""


def told(tmp_path: Path, story: str) -> Any:
    """Run a story in namespaces of its own; gives the value of its last line.

    The shell stays, since Ray's workers end when they find their parent gone, and somebody has to
    take note of its end.
    """
    if not find_spec("ray"):
        pytest.skip("ray is not here")
    script = tmp_path / "story.py"
    script.write_text(f"RUN = {RUN!r}\n{STORIES}{story}", encoding="utf-8")
    namespaces = ["unshare", "-rnpf", "--mount-proc", "--kill-child", "sh", "-c"]
    command = [*namespaces, 'ip link set lo up && "$@"; exit $?', "sh", sys.executable, "-c", RUN]
    done = subprocess.run(
        [*command, str(script), str(tmp_path)],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        env={**os.environ, "HOME": str(tmp_path)},
        timeout=500,
    )
    if done.returncode and ("unshare" in done.stderr or "ip: " in done.stderr):
        pytest.skip(f"no namespace can be had here: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_ray_gives_the_numbers_of_this_process_also_where_a_worker_is_lost(tmp_path: Path) -> None:
    same, without_one, missing, full, lost, running = told(
        tmp_path,
        """
@dataclass
class Dying(Slow):
    def documents(self, texts):
        if self.error or not Path(self.log).exists():
            Path(self.log).touch()
            os._exit(1)
        return WordLlama(256).documents(texts)

if __name__ == "__main__":
    here = plain(index(WordLlama(256), Local()))
    there = plain(index(WordLlama(256), RayTasks(workers=2)))
    without_one = plain(index(Dying(str(folder / "died")), RayTasks(workers=2)))
    lost = error(Dying(str(folder / "died"), error="always"), RayTasks(workers=2))
    missing = error(Slow(str(folder / "log"), error="missing"), RayTasks(workers=1))
    full = error(Slow(str(folder / "log"), error="full"), RayTasks(workers=1))
    same = here == there and len(here) == 12
    print(json.dumps([same, here == without_one, missing, full, lost, left_running()]))
""",
    )
    assert same
    assert without_one
    assert missing == "RetrieverUnavailable: the model is not here"
    assert full == "OSError: [Errno 28] No space left on device: 'somewhere'"
    assert lost.startswith("RetrieverUnavailable: the worker of a shard was lost, and so were")
    assert running == []


@pytest.mark.slow
def test_a_run_by_ray_that_was_killed_goes_on_and_leaves_no_process(tmp_path: Path) -> None:
    before, started, same, others = told(
        tmp_path,
        """
if __name__ == "__main__":
    log = folder / "log"
    ray = RayTasks(workers=1)
    if sys.argv[2:]:
        index(Slow(str(log), 1.5), ray, folder / "kept")
    child = subprocess.Popen([sys.executable, "-c", RUN, *sys.argv, "child"])
    while kept() < 3 * 9 and child.poll() is None:
        time.sleep(0.1)
    child.send_signal(signal.SIGKILL)
    child.wait()
    left, before = left_running(), kept()
    log.unlink()
    # The rest here: what one engine kept, the other goes on from.
    shards = index(Slow(str(log)), Local(), folder / "kept")
    started = len(log.read_text().splitlines())
    same = plain(shards) == plain(index(WordLlama(256), Local()))
    print(json.dumps([before, started, same, left]))
""",
    )
    assert 3 * 9 <= before < 100
    assert started == 12 - before // 9
    assert same
    assert others == []


@pytest.mark.slow
def test_a_running_cluster_is_used_and_one_too_small_is_refused(tmp_path: Path) -> None:
    refused, nowhere, same = told(
        tmp_path,
        """
if __name__ == "__main__":
    os.environ["RAY_AUTH_TOKEN"] = "0123456789abcdef" * 4
    bin = Path(sys.executable).parent
    start = [bin / "ray", "start", "--head", "--port=6399", "--num-cpus=2", "--disable-usage-stats"]
    subprocess.run([*start, "--include-dashboard=false"], check=True, stdout=sys.stderr)
    address = "127.0.0.1:6399"
    refused = error(WordLlama(256), RayTasks(workers=3, address=address))
    there = plain(index(WordLlama(256), RayTasks(workers=2, address=address)))
    nowhere = error(WordLlama(256), RayTasks(address="127.0.0.1:6398"))
    same = there == plain(index(WordLlama(256), Local()))
    print(json.dumps([refused, nowhere, same]))
""",
    )
    assert "engine.workers is 3: they take 3 CPU, but the cluster has 2" in refused
    assert "engine.address is '127.0.0.1:6398': no Ray cluster answers there" in nowhere
    assert same


HOSTS = """
def on(host, *words):
    command = ["nsenter", "--target", str(host.pid), "--net", *map(str, words)]
    subprocess.run(command, check=True, stdout=sys.stderr)

def second_host():
    # A network of its own, and a cable to ours.
    host = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    ours = os.readlink("/proc/self/ns/net")
    while os.readlink(f"/proc/{host.pid}/ns/net") == ours:
        time.sleep(0.01)
    for words in (
        f"ip link add near type veth peer name far netns {host.pid}",
        "ip address add 10.9.0.1/24 dev near",
        "ip link set near up",
    ):
        subprocess.run(words.split(), check=True)
    for words in ("address add 10.9.0.2/24 dev far", "link set far up", "link set lo up"):
        on(host, "ip", *words.split())
    return host

def start_ray(host):
    os.environ |= {"RAY_AUTH_TOKEN": "0123456789abcdef" * 4, "RAY_AUTH_MODE": "token"}
    # How soon a silent host counts as lost: by default after half a minute.
    os.environ |= {"RAY_health_check_period_ms": "1000", "RAY_health_check_failure_threshold": "3"}
    ray = [Path(sys.executable).parent / "ray", "start", "--num-cpus=1", "--disable-usage-stats"]
    head = [*ray, "--head", "--node-ip-address=10.9.0.1", "--port=6399"]
    subprocess.run([*head, "--include-dashboard=false"], check=True, stdout=sys.stderr)
    on(host, *ray, "--address=10.9.0.1:6399", "--node-ip-address=10.9.0.2")

@dataclass
class Placed(Slow):
    def documents(self, texts):
        with open(self.log, "a") as stream:
            stream.write(os.readlink("/proc/self/ns/net") + chr(10))
        time.sleep(self.seconds)
        return WordLlama(256).documents(texts)

def pull_the_cable(host):
    subprocess.run(["ip", "link", "set", "near", "down"], check=True)
"""


@pytest.mark.slow
def test_a_host_that_is_lost_in_the_middle_changes_no_byte(tmp_path: Path) -> None:
    same, places, after = told(
        tmp_path,
        HOSTS
        + """
if __name__ == "__main__":
    import threading
    host, log = second_host(), folder / "log"
    far = os.readlink(f"/proc/{host.pid}/ns/net")
    start_ray(host)
    log.touch()

    def lost():
        while log.read_text().split().count(far) < 2:
            time.sleep(0.05)
        pull_the_cable(host)

    threading.Thread(target=lost, daemon=True).start()
    engine = RayTasks(workers=2, address="10.9.0.1:6399")
    there = plain(index(Placed(str(log), 1.0), engine))
    places = log.read_text().split()
    here = plain(index(WordLlama(256), Local()))
    print(json.dumps([there == here, len(set(places)), len(places) - len(there)]))
""",
    )
    assert same
    assert places == 2
    # What the lost host had under way was asked of the other one.
    assert after >= 1


class Unwilling(Letters):
    """A model that must not be asked."""

    def documents(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError(f"asked for {texts}")


@pytest.mark.skipif(not find_spec("ray"), reason="ray is not here")
def test_where_every_vector_is_there_no_cluster_is_started(tmp_path: Path) -> None:
    class Full(Recorded):
        def write(self, shards: Any, folder: Path) -> None:
            super().write(shards, folder)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        indexed(Dense(Letters(), Full(), Local()), documents("abc"), tmp_path)
    store = Recorded()
    indexed(Dense(Unwilling(), store, RayTasks()), documents("abc"), tmp_path)
    [shard] = store.shards
    assert (shard.number, shard.doc_ids, shard.texts) == (0, ("d0", "d1", "d2"), ("a", "b", "c"))
    assert (shard.vectors == Letters().documents("abc")).all()


def test_without_ray_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RetrieverUnavailable, match=r"pip install \"ray==2.60.\*\""):
        indexed(Dense(Letters(), Recorded(), RayTasks()), documents("abc"), tmp_path)


def test_local_is_what_a_retriever_gets_that_names_no_engine_and_ray_imports_nothing() -> None:
    code = (
        "import sys; from bears.retrieval.dense.dense import Dense; "
        "from bears.retrieval.dense.engines.ray_tasks import RayTasks; RayTasks('ray'); "
        "assert not {'ray', 'pyarrow', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
