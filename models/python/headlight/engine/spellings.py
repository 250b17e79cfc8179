"""The tokenizer that a client reads labels from."""

from __future__ import annotations

import json
from typing import Any

BLANK = "▁"  # as pieces of words spell it


def tokenizer_file(tokenizer: Any) -> str | None:
    """A tokenizer.json of these tokens. One that is no file of its own (MarianTokenizer, and others
    in Python alone) is spelled out token by token: that says what ids mean, and not how to segment
    a text, which clients ask the server for."""
    if tokenizer is None:
        return None
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        return str(backend.to_str())
    held = getattr(tokenizer, "get_vocab", dict)()
    if not held:
        return None
    special = {i: str(tokenizer.convert_ids_to_tokens(i)) for i in tokenizer.all_special_ids}
    pieces = [
        special.get(i) or spelled(tokenizer, tokenizer.convert_ids_to_tokens(i))
        for i in range(max(held.values()) + 1)
    ]
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [
                {
                    "id": i,
                    "content": token,
                    "single_word": False,
                    "lstrip": False,
                    "rstrip": False,
                    "normalized": False,
                    "special": True,
                }
                for i, token in sorted(special.items())
            ],
            "decoder": {"type": "Metaspace", "replacement": BLANK, "prepend_scheme": "always"},
            "model": {
                "type": "Unigram",
                "unk_id": max(tokenizer.unk_token_id or 0, 0),
                "byte_fallback": "<0x0A>" in held,
                "vocab": [[piece, 0.0] for piece in pieces],
            },
        }
    )


def spelled(tokenizer: Any, piece: Any) -> str:
    """A token with ▁ for blanks, as its tokenizer joins it to a text."""
    piece = "" if piece is None else str(piece)
    if BLANK in piece or piece.startswith("<0x"):
        return piece
    return str(tokenizer.convert_tokens_to_string([piece])).replace(" ", BLANK) or piece
