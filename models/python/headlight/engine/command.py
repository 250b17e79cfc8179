"""`python -m headlight live NAME`: load a model and serve it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import Any

from ..errors import HeadlightError
from .live import Live, live
from .pictures import parameters_of, reads_alone

AUTO = ("AutoModelForCausalLM", "AutoModelForSeq2SeqLM", "AutoModelForMaskedLM", "AutoModel")


def parser() -> argparse.ArgumentParser:
    out = argparse.ArgumentParser(
        prog="python -m headlight live",
        description="Serve a transformers model by the protocol of docs/engine.md; under torchrun, "
        "spread over its processes.",
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
    """Return the model, and what reads its texts and pictures."""
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
    if processes() > 1:
        more |= _spread(transformers, options)
    config = transformers.AutoConfig.from_pretrained(
        options.name, trust_remote_code=options.trust_remote_code
    )
    model = _model(transformers, options, config, more)
    return model, _tokenizer(transformers, options, model)


def _model(transformers: Any, options: argparse.Namespace, config: Any, more: Any) -> Any:
    """The model, of the class that its configuration names, or the first one that takes it."""
    beside = (
        [] if getattr(config, "vision_config", None) is None else ["AutoModelForImageTextToText"]
    )
    kinds = [_named(transformers, config)]
    kinds += [getattr(transformers, auto, None) for auto in (*beside, *AUTO)]
    last = ValueError(f"transformers knows no class for {options.name}.")
    for kind in filter(None, kinds):
        try:
            return kind.from_pretrained(options.name, **more).eval()
        except ValueError as problem:  # of another kind
            if "tp_plan" in str(problem):
                raise HeadlightError(
                    f"transformers has no plan by which processes share {kind.__name__}; start one "
                    "process, with --device-map auto for several devices."
                ) from None
            last = problem
    raise last


def _named(transformers: Any, config: Any) -> Any:
    """The class that the configuration names; of two towers (CLIP's, SigLIP's) that of pictures."""
    named = (getattr(config, "architectures", None) or [""])[0]
    held = getattr(transformers, named, None)
    if held is not None and all(
        getattr(config, part, None) is not None for part in ("vision_config", "text_config")
    ):
        own = getattr(transformers, f"{named.removesuffix('Model')}VisionModel", None)
        return own if named.endswith("Model") and own is not None else held
    return held


def _tokenizer(transformers: Any, options: argparse.Namespace, model: Any) -> Any:
    """What reads its texts and pictures: a processor where it reads pictures, or else a tokenizer,
    or nothing."""
    kinds = ["AutoTokenizer"]
    if reads_alone(model):
        kinds = ["AutoImageProcessor"]
    elif "pixel_values" in parameters_of(model):
        kinds = ["AutoProcessor", "AutoTokenizer"]
    for kind in kinds:
        try:
            return getattr(transformers, kind).from_pretrained(
                options.name, trust_remote_code=options.trust_remote_code
            )
        except (OSError, ValueError, ImportError, TypeError, KeyError) as problem:
            if kind == "AutoProcessor" and os.environ.get("RANK", "0") == "0":
                print(f"headlight: {_without_pictures(problem)}", file=sys.stderr, flush=True)
            elif kind == "AutoImageProcessor":
                raise HeadlightError(
                    f"{type(model).__name__} reads pictures, and its image processor cannot be "
                    f"made: {_first(problem)}"
                ) from None
    return None


def _without_pictures(problem: Exception) -> str:
    return f"pictures are not read, because the processor cannot be made: {_first(problem)}"


def _first(problem: Exception) -> str:
    """The first line of what something raised."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(problem).__name__


def processes() -> int:
    """How many of them torchrun has started."""
    return int(os.environ.get("WORLD_SIZE") or 1) if "RANK" in os.environ else 1


def _spread(transformers: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Ask for tensor parallelism over the processes of torchrun."""
    if options.device_map:
        raise HeadlightError(
            "--device-map spreads a model over the devices of one process, and torchrun has "
            f"started {processes()}; leave one of them out."
        )
    try:
        return {"distributed_config": transformers.distributed.DistributedConfig(tp_plan="auto")}
    except (AttributeError, ImportError, TypeError):
        raise HeadlightError(
            f"transformers {transformers.__version__} has no DistributedConfig(tp_plan=…), which "
            "spreads a model over processes; install a newer one."
        ) from None


def main(arguments: list[str]) -> None:
    """Serve until Ctrl+C."""
    options = parser().parse_args(arguments)
    try:
        server = live(*load(options), port=options.port)
    except (HeadlightError, OSError, ValueError) as problem:
        if isinstance(problem, HeadlightError) and os.environ.get("RANK", "0") != "0":
            sys.exit(1)  # the first process says it too
        sys.exit(f"headlight: {str(problem).strip().splitlines()[0]}")
    _catch_signals(server)
    if server.address:
        _say(server)
    try:
        server.wait()
    except KeyboardInterrupt:
        pass
    except HeadlightError as problem:
        _leave(f"headlight: {problem}")
    if processes() > 1:
        sys.modules["torch"].distributed.destroy_process_group()


def _say(server: Live) -> None:
    print(server.address, flush=True)
    at = server.address
    if server.token:
        at += f"/{server.token}"
        print(f"token {server.token}", file=sys.stderr, flush=True)
    print(f"{server.about['runs']}, {server.about['device']}; Ctrl+C ends it", file=sys.stderr)
    print(f"To see it: headlight --engine {at}", file=sys.stderr, flush=True)


def _catch_signals(server: Live) -> None:
    """Ctrl+C ends the first process, which lets the others go; SIGTERM is how torchrun ends all
    once one has died, and may come in the middle of a pass that waits for that one."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background job ignores the first
        signal.signal(number, signal.default_int_handler)
    if processes() > 1:
        said = (
            "headlight: torchrun ends this server, as it does once one of its processes has died."
        )
        signal.signal(signal.SIGTERM, lambda *_: _leave(said if server.address else ""))
        signal.signal(signal.SIGINT, _interrupt if server.address else signal.SIG_IGN)


def _interrupt(*_: object) -> None:
    """End at the first Ctrl+C: torchrun sends it once more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _leave(said: str) -> None:
    """End without waiting for what hangs in a pass."""
    if said:
        print(said, file=sys.stderr, flush=True)
    os._exit(1)
