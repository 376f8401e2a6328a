"""A server on loopback that speaks the OpenAI protocol as far as one endpoint, and misbehaves when told to.

    with serving(answers) as server:
        OpenAIRow(..., base_url=server.url)

`answers` is {the user turn's text, or the name of the answer's schema: answer}.
`server.misbehave(text, *ways)` makes it fail for requests whose user turn holds `text`: the first by the
first way, and so on, the last for all that follow; "well" answers.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "small"


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answers: Mapping[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.ways: dict[str, list[str]] = {}
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.at_once = 0
        self.most_at_once = 0
        self.pause_s = 0.0
        self.lock = threading.Lock()
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def misbehave(self, text: str, *ways: str) -> None:
        self.ways[text] = list(ways)

    def way_for(self, text: str) -> str:
        with self.lock:
            for part, ways in self.ways.items():
                if part in text:
                    return ways.pop(0) if len(ways) > 1 else ways[0]
        return "well"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is what some tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        listed = [{"id": MODEL, "object": "model", "created": 0, "owned_by": "nobody"}]
        self.send(200, {"object": "list", "data": listed} if self.path == "/v1/models" else {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.bodies.append(body)
            server.keys.append(self.headers.get("Authorization"))
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        try:
            time.sleep(server.pause_s)
            self.answer(body)
        finally:
            with server.lock:
                server.at_once -= 1

    def answer(self, body: dict[str, Any]) -> None:
        text = body["messages"][-1]["content"]
        asked = body.get("response_format", {}).get("json_schema", {}).get("name", "")
        answer = self.server.answers.get(text) or self.server.answers.get(asked, "{}")
        match self.server.way_for(text):
            case "well":
                self.send(200, completion(answer))
            case "500":
                self.send(500, {"error": {"message": "the server is tired"}})
            case "429":
                self.send(429, {"error": {"message": "too many"}}, {"Retry-After": "0.01"})
            case "401":
                key = self.headers["Authorization"].removeprefix("Bearer ")
                self.send(401, {"error": {"message": f"Incorrect API key provided: {key}"}})
            case "hang":
                self.server.stopped.wait(60)
            case "trickle":
                self.send_response(200)
                self.send_header("Content-Length", "100000")
                self.end_headers()
                while not self.server.stopped.wait(0.05):
                    self.wfile.write(b" ")
                    self.wfile.flush()
            case "close":
                self.close_connection = True
            case "half a body":
                self.raw(200, json.dumps(completion(answer)).encode()[:60])
            case "half a body, cut off":
                self.raw(200, json.dumps(completion(answer)).encode()[:60], length=500)
                self.close_connection = True
            case "no answer in it":
                self.send(200, {"id": "x", "choices": []})
            case "not even an object":
                self.raw(200, b'"fine"')
            case "half an answer":
                self.send(200, completion(answer[: len(answer) // 2]))
            case "cut off":
                self.send(200, completion(answer[: len(answer) // 2], finish_reason="length"))
            case "refuse":
                self.send(200, completion(None, refusal="I would rather not."))
            case "no usage":
                said = completion(answer)
                del said["usage"]
                self.send(200, said)
            case way:
                raise AssertionError(f"no such way: {way}")

    def send(self, status: int, content: dict[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self.raw(status, json.dumps(content).encode(), headers=headers)

    def raw(
        self, status: int, body: bytes, length: int | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)


def completion(answer: str | None, finish_reason: str = "stop", refusal: str | None = None) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": answer, "refusal": refusal},
            }
        ],
        "usage": {
            "prompt_tokens": 40,
            "completion_tokens": 7,
            "total_tokens": 47,
            "prompt_tokens_details": {"cached_tokens": 30},
        },
    }


@contextmanager
def serving(answers: Mapping[str, str]) -> Iterator[ModelServer]:
    server = ModelServer(answers)
    # The loop looks every 0.01 s whether it shall end; the default would cost each test half a second.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
