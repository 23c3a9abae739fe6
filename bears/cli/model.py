"""``bears model``: a small model on this machine."""

from bears.config import checkout
from bears.errors import ConfigurationError
from bears.llm.small_model import LOG, NAME, install, served

PORT = 8080
"""As conf/*/local.yaml has it."""


def serve(*, port: int = PORT) -> None:
    """Serve a small model on this machine, without an account.

    The first run installs 1.1 GB of packages below .bears/. The model answers at
    http://127.0.0.1:8080/v1, where generator=local, judge=local and every other word `local` ask,
    until Ctrl-C. It is Qwen2.5-Coder with 1.5 billion parameters: enough to try the pipeline, and
    too weak for results that count.

    Args:
        port: if it is not 8080, name it in settings such as generator.base_url
    """
    root = checkout()
    install(root)
    with served(root, port) as (address, process):
        print(f"{NAME} answers at {address} until Ctrl-C")
        print("next, in another terminal: bears replies fill generator=local", flush=True)
        process.wait()
    raise ConfigurationError(f"the server has ended; {root / LOG} says why")


COMMAND = serve
