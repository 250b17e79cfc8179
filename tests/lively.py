"""A server of the live engine's protocol (docs/engine.md) without a model: a token for each letter,
and vectors made of sines. Of the standard library alone."""

import json
import math
import socket
import struct
import threading
from pathlib import Path

PREFACE = struct.Struct("<4sIQ")
RULE = {"says": True, "causal": True, "window": None, "scale": 1.0, "cap": None}
HEADS, LAYERS, WIDTH, VOCABULARY = 3, 2, 4, 128


def _frame(header, tensors=(), top_ids=()):
    body, listed = b"", []
    if top_ids:
        shape = [len(top_ids), 1]
        listed.append({"name": "top_ids", "dtype": "I64", "shape": shape, "offset": 0})
        body = struct.pack(f"<{len(top_ids)}q", *top_ids)
        body += bytes(-len(body) % 64)
    for name, shape, numbers in tensors:
        listed.append({"name": name, "dtype": "F32", "shape": shape, "offset": len(body)})
        body += struct.pack(f"<{len(numbers)}f", *numbers)
        body += bytes(-len(body) % 64)
    text = json.dumps({**header, **({"tensors": listed} if listed else {})}).encode()
    return PREFACE.pack(b"HLE1", len(text), len(body)) + text + body


class Process:
    """A server of docs/engine.md with a token for each letter, and vectors made of sines."""

    def __init__(self, folder, pictures=None):
        self.pictures = pictures  # "beside": it reads one, as four patches before the text
        self.path = Path(folder) / "headlight" / "lively-1-ab.sock"
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        self.asked, self.refusal, self.client = [], "", None
        self.listen()

    def listen(self):
        self.path.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(self.path))
        self.socket.listen(4)
        threading.Thread(target=self._serve, args=(self.socket,), daemon=True).start()

    @property
    def address(self):
        return f"unix:{self.path}"

    def die(self):
        self.socket.close()
        self.path.unlink()
        self.client.shutdown(socket.SHUT_RDWR)

    def _serve(self, listening):
        while True:
            try:
                self.client, _ = listening.accept()
            except OSError:
                return
            try:
                while True:
                    self.client.sendall(self._answer(self._request()))
            except (OSError, EOFError):
                self.client.close()

    def _request(self):
        def read(count):
            out = b""
            while len(out) < count:
                part = self.client.recv(count - len(out))
                if not part:
                    raise EOFError
                out += part
            return out

        _, header, body = PREFACE.unpack(read(PREFACE.size))
        request = json.loads(read(header))
        request["body"] = read(body)
        return request

    def _answer(self, request):
        told = {"id": request["id"]}
        self.asked.append(request)
        verb = request["verb"]
        if verb == "hello":
            return _frame({**told, "protocol": 1, "runs": "lively 1.0", "device": "cpu:0"})
        if verb == "describe":
            return _frame({**told, **self._described()})
        if verb == "encode":
            letters = [ord(c) % VOCABULARY for c in request["text"]]
            if request.get("picture") or request["body"]:
                told["picture"] = {"name": "p", "first": 0, "count": 4, "rows": 2, "columns": 2}
                patches = ["0,0", "0,1", "1,0", "1,1"]
                return _frame(
                    {**told, "ids": [1, 1, 1, 1, *letters], "tokens": [*patches, *request["text"]]}
                )
            return _frame({**told, "ids": letters, "tokens": list(request["text"])})
        if verb == "lens":
            rows = request["tensors"][0]["shape"][0]
            likely = [2.0 * math.sin(r + i) for r in range(rows) for i in range(VOCABULARY)]
            if request.get("all"):
                return _frame(told, [("logits", [rows, VOCABULARY], likely)])
            return _frame(told, [("top_log_p", [rows, 1], [-0.5] * rows)], [7] * rows)
        if verb == "run" and self.refusal:
            return _frame({**told, "error": self.refusal, "code": "model"})
        if verb == "run":
            return self._run(told, request)
        return _frame({**told, "cancelled": 0})

    def _described(self):
        blocks = [
            {
                "path": str(layer),
                "at": f"blocks.{layer}.attn",
                "heads": HEADS,
                "kv_heads": HEADS,
                "d_head": WIDTH,
                "d_value": WIDTH,
                "rule": RULE,
            }
            for layer in range(LAYERS)
        ]
        return {
            "name": "lively",
            "family": "lively",
            "kind": "decoder",
            "d_model": HEADS * WIDTH,
            "vocabulary": VOCABULARY,
            "logits": VOCABULARY,
            "positions": 512,
            "config": {},
            "can": {"reuse": True},
            "pictures": self.pictures,
            "blocks": blocks,
        }

    def _run(self, told, request):
        ids = request["ids"]
        first = min(request.get("from", 0), len(ids) - 1)
        tensors = []
        for layer in range(LAYERS):
            for salt, name in enumerate(("q", "k")):
                numbers = [
                    2 * math.sin(id * (3 + salt) + layer + 5 * h + 7 * c)
                    for id in ids[first:]
                    for h in range(HEADS)
                    for c in range(WIDTH)
                ]
                at = f"blocks.{layer}.attn.hook_{name}"
                tensors.append((at, [len(ids) - first, HEADS, WIDTH], numbers))
        rows = [[len(ids) - first, HEADS * WIDTH], [0.5] * (len(ids) - first) * HEADS * WIDTH]
        for layer in range(LAYERS):
            for name in ("resid_pre", "attn_out", "mlp_out", "resid_post"):
                tensors.append((f"blocks.{layer}.hook_{name}", *rows))
        tensors.append(("hook_resid_final", *rows))
        rules = {f"blocks.{layer}.attn": RULE for layer in range(LAYERS)}
        return _frame({**told, "from": first, "rules": rules}, tensors)

    def runs(self):
        """Passes of the model, and under the mask; not those of the inspector's ablation."""
        return [r for r in self.asked if r["verb"] == "run" and not r.get("changes")]
