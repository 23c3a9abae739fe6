"""Serve a model until standard input ends: the program for the environment of `small_model`.

It prints its address once the model is loaded. It imports nothing from bears.
"""

import sys

import xllamacpp

if __name__ == "__main__":
    path, name, port, context = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = path, {name}
    params.hostnames, params.port = ["127.0.0.1"], int(port)
    params.n_parallel, params.n_ctx = 2, int(context)
    params.ui = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
