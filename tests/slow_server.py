"""A server that sends a line of headers from time to time, and never the last one."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Dripping(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for number in range(100):
                self.wfile.write(f"X-Line-{number}: 1\r\n".encode())
                time.sleep(0.2)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def dripping() -> Iterator[str]:
    """Yield the address of the server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Dripping)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
