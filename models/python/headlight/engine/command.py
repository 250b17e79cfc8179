"""`python -m headlight live NAME`: load a model and serve it."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import Any

from ..errors import HeadlightError
from .live import live

AUTO = ("AutoModelForCausalLM", "AutoModelForSeq2SeqLM", "AutoModelForMaskedLM", "AutoModel")


def parser() -> argparse.ArgumentParser:
    out = argparse.ArgumentParser(
        prog="python -m headlight live",
        description="Serve a transformers model by the protocol of docs/engine.md.",
    )
    out.add_argument("name", help="a folder, or a model's name on the Hugging Face hub")
    out.add_argument("--device-map", help="how accelerate spreads the model: auto")
    out.add_argument("--dtype", default="auto", help="float32, bfloat16, float16 or auto")
    out.add_argument("--port", type=int, help="a port of 127.0.0.1 (0: any) instead of a socket")
    out.add_argument(
        "--trust-remote-code", action="store_true", help="run the Python code that comes with it"
    )
    return out


def load(options: argparse.Namespace) -> tuple[Any, Any]:
    """Return the model, of the class that its configuration names, and its tokenizer."""
    try:
        import transformers  # it takes seconds, and --help needs none of it
    except ImportError:
        raise HeadlightError(
            "A live model needs torch and transformers; install them by pip install torch "
            "transformers."
        ) from None
    more: dict[str, Any] = {"dtype": options.dtype, "trust_remote_code": options.trust_remote_code}
    if options.device_map:
        more["device_map"] = options.device_map
    config = transformers.AutoConfig.from_pretrained(
        options.name, trust_remote_code=options.trust_remote_code
    )
    named = (getattr(config, "architectures", None) or [""])[0]
    kinds = [getattr(transformers, named, None), *(getattr(transformers, a) for a in AUTO)]
    last = ValueError(f"transformers knows no class for {options.name}.")
    for kind in filter(None, kinds):
        try:
            model = kind.from_pretrained(options.name, **more).eval()
            break
        except ValueError as problem:  # of another kind
            last = problem
    else:
        raise last
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            options.name, trust_remote_code=options.trust_remote_code
        )
    except (OSError, ValueError):
        tokenizer = None
    return model, tokenizer


def main(arguments: list[str]) -> None:
    """Serve until Ctrl+C."""
    options = parser().parse_args(arguments)
    try:
        server = live(*load(options), port=options.port)
    except (HeadlightError, OSError, ValueError) as problem:
        sys.exit(f"headlight: {str(problem).strip().splitlines()[0]}")
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background job ignores the first
        signal.signal(number, signal.default_int_handler)
    print(server.address, flush=True)
    at = server.address
    if server.token:
        at += f"/{server.token}"
        print(f"token {server.token}", file=sys.stderr, flush=True)
    print(f"{server.about['runs']}, {server.about['device']}; Ctrl+C ends it", file=sys.stderr)
    print(f"To see it: headlight --engine {at}", file=sys.stderr, flush=True)
    try:
        server.wait()
    except KeyboardInterrupt:
        pass
