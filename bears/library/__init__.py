"""The project as a library: build, index, search, evaluate, compare, without DVC or a project."""

from bears.library.benchmark import Benchmark, build, read
from bears.library.index import Index
from bears.library.scores import Scores, compare
from bears.types import Chunk

__all__ = ["Benchmark", "Chunk", "Index", "Scores", "build", "compare", "read"]
