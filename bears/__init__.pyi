from bears.library import Benchmark as Benchmark
from bears.library import Index as Index
from bears.library import Scores as Scores
from bears.library import build as build
from bears.library import compare as compare
from bears.library import read as read
