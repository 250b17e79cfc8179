"""Record a transformers model that is in memory. torch and transformers are those of the model;
this module imports neither.

Each attention block's queries and keys go to the file as they are computed, and Headlight makes
patterns of them. Where something else acts on the scores (T5's bias, ALiBi, a mask of its own kind,
padding), the pass is run once more and patterns are written, a head at a time."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .arrays import described_tokens, rows_of_ids, which
from .checks import check_arguments, check_weights
from .eager_attention import Call
from .errors import HeadlightError
from .parallel import Group, check_divides
from .recorder import NeedsPatterns, Recorder
from .trace_writer import OfOthers, TraceWriter

NAME = "headlight_capture"
# Inputs that a batch is counted by.
READ = (
    "input_ids",
    "inputs_embeds",
    "pixel_values",
    "input_features",
    "input_values",
    "decoder_input_ids",
)


def attention(recorder: Recorder, torch: Any) -> Any:
    """An attention function for transformers' interface: records, then attends."""

    def attend(
        module: Any,
        query: Any,
        key: Any,
        value: Any,
        attention_mask: Any,
        scaling: float | None = None,
        **more: Any,
    ) -> tuple[Any, None]:
        call = Call.of(torch, module, query, key, value, attention_mask, scaling, more)
        if recorder.patterns or not recorder.shows(module):
            rows = call.rows()
            if recorder.shows(module):
                recorder.note_patterns(
                    module,
                    (query.shape[1], query.shape[2], key.shape[2]),
                    lambda h: rows.pattern(recorder.batch, h),
                )
            return rows.attend(), None
        rule = call.rule()
        if not rule.pop("follows") or call.bias is not None or call.sinks is not None:
            raise NeedsPatterns
        recorder.note(module, query, key, rule)
        return call.attend(), None

    return attend


@contextmanager
def attending(model: Any, implementation: str) -> Iterator[None]:
    """The model attends by this function of transformers' interface, and then by its own again."""
    configs: dict[int, Any] = {
        id(c): c
        for c in (getattr(module, "config", None) for module in model.modules())
        if hasattr(c, "_attn_implementation_internal")
    }
    for config in list(configs.values()):
        for name in getattr(config, "sub_configs", None) or {}:
            if hasattr(sub := getattr(config, name, None), "_attn_implementation_internal"):
                configs[id(sub)] = sub
    before = [(config, config._attn_implementation_internal) for config in configs.values()]
    try:
        model.set_attn_implementation(implementation)
        yield
    finally:
        for config, held in before:
            config._attn_implementation_internal = held


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """The model without dropout, and then each of its modules as it was."""
    training = [module for module in model.modules() if module.training]
    if training:
        model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


@contextmanager
def hooked(model: Any, recorder: Recorder, torch: Any) -> Iterator[None]:
    """For models that do not use the interface: takes the patterns from what attention modules
    return, and drops them there."""
    seen: set[Any] = set()

    def hook(module: Any, _: Any, output: Any) -> Any:
        found = (
            [t for t in output if isinstance(t, torch.Tensor) and t.dim() == 4]
            if isinstance(output, (tuple, list))
            else []
        )
        if (
            not found
            or not recorder.shows(module)
            or any(child in seen for child in module.modules() if child is not module)
        ):
            return None
        seen.add(module)
        pattern = found[0][recorder.batch]
        recorder.note_patterns(module, pattern.shape, lambda h: pattern[h])
        return type(output)(None if t is found[0] else t for t in output)

    hooks = [module.register_forward_hook(hook) for module in model.modules()]
    try:
        yield
    except (AttributeError, TypeError, OfOthers) as problem:
        if "NoneType" not in str(problem) and not isinstance(problem, OfOthers):
            raise
        raise HeadlightError(
            f"{type(model).__name__} makes something of its own of its patterns; give what it "
            "returns in its place: model(…, output_attentions=True) with tokens=…."
        ) from None
    finally:
        for held in hooks:
            held.remove()


def sides_of(
    model: Any, tokenizer: Any, text: str | None, given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, dict[str, list[Any]]]]:
    """The arguments of the forward pass, and what is known of the tokens of each side."""
    torch = sys.modules["torch"]
    arguments = dict(given.get("inputs") or {})
    start = getattr(model.config, "decoder_start_token_id", None)
    if given.get("ids") is not None:
        arguments["input_ids"] = rows_of_ids(torch, given["ids"])
    elif not arguments:
        if tokenizer is None or text is None:
            raise HeadlightError(
                "A model reads tokens: give its tokenizer and a text, ids=[…], or inputs=… as "
                "the model's forward takes them."
            )
        if not isinstance(text, str):
            raise HeadlightError(
                f"A text is a string, and this is of the type {type(text).__name__}; give "
                "ids=[…] for ids, or inputs=… for what a tokenizer returned (batch=1 names its "
                "second row)."
            )
        arguments = dict(tokenizer(text, given.get("pair"), return_tensors="pt"))
    if given.get("target_ids") is not None:
        arguments["decoder_input_ids"] = rows_of_ids(torch, given["target_ids"])
    elif (
        getattr(model.config, "is_encoder_decoder", False) and "decoder_input_ids" not in arguments
    ):
        written = (
            []
            if not given.get("target")
            else tokenizer(text_target=given["target"])["input_ids"][:-1]
        )
        arguments["decoder_input_ids"] = torch.tensor(
            [[start if start is not None else 0, *written]]
        )
    check_arguments(model, arguments)
    batch, sides = batch_of(arguments, given), {}
    for side in ("", "decoder_") if getattr(model.config, "is_encoder_decoder", False) else ("",):
        ids = arguments.get(side + "input_ids")
        named = given.get("target_tokens" if side else "tokens")
        if ids is not None:
            if not ids.shape[-1]:
                raise HeadlightError("There are no tokens to read; give some text, or ids=[…].")
            sides[side] = described_tokens(ids[batch if ids.shape[0] > 1 else 0], tokenizer)
        if named is not None:
            sides[side] = {
                **described_tokens(named, tokenizer),
                "ids": sides.get(side, {}).get("ids", []),
            }
    return arguments, sides


def batch_of(arguments: Mapping[str, Any], given: Mapping[str, Any]) -> int:
    """Which text of the batch is recorded."""
    named = None if given.get("batch") is None else int(given["batch"])
    read = next(
        (arguments[name] for name in READ if getattr(arguments.get(name), "shape", None)), None
    )
    return named or 0 if read is None else which(read.shape[0], named)


def record(
    model: Any,
    tokenizer: Any,
    text: str | None,
    given: Mapping[str, Any],
    start: Callable[[dict[str, Any]], TraceWriter],
    group: Group | None = None,
) -> TraceWriter:
    """One forward pass (two where patterns have to be written), recorded into start(sides), a new
    TraceWriter, which is left open. group: the processes that hold the model together; each of them
    calls this."""
    model = getattr(model, "_orig_mod", model)  # the module inside torch.compile
    check_weights(model)
    arguments, sides = sides_of(model, tokenizer, text, given)
    base = getattr(model, "base_model", model)
    arguments = {name: value for name, value in arguments.items() if takes(base, name)}
    way = "queries and keys" if has_interface(model) else "outputs"
    while way:
        writer = start(sides)
        then = "" if way == "outputs" else "outputs"
        try:
            _run(
                model,
                base,
                arguments,
                Recorder(
                    writer, base, batch_of(arguments, given), way != "queries and keys", group
                ),
                way,
            )
            if len({stack for stack, *_ in writer.blocks}) == (
                2 if getattr(base.config, "is_encoder_decoder", False) else 1
            ):
                return writer
            then = "" if writer.blocks else then
        except NeedsPatterns:
            then = "patterns"
        except (RuntimeError, IndexError):
            writer.drop()
            check_divides(group, base.config)
            check_fits(sides, base.config)
            raise
        except BaseException:
            writer.drop()
            raise
        writer.drop()
        way = then
    raise HeadlightError(
        f"{type(model).__name__} showed no attention that could be recorded; load it with "
        'attn_implementation="eager".'
    )


def check_fits(sides: Mapping[str, Any], config: Any) -> None:
    """After a pass that failed: says so where there are more tokens than positions."""
    tokens, positions = (
        max((len(side["tokens"]) for side in sides.values()), default=0),
        getattr(config, "max_position_embeddings", None),
    )
    if isinstance(positions, int) and tokens > positions:
        raise HeadlightError(
            f"{tokens} tokens are more than this model's {positions} positions; give a shorter "
            "text."
        )


def has_interface(model: Any) -> bool:
    """Whether the model attends by functions that can be registered: with transformers 4.53 or
    later, where its code asks for them."""
    transformers, can = (
        sys.modules["transformers"],
        getattr(model, "_can_set_attn_implementation", None),
    )
    registers = (
        hasattr(transformers, "AttentionInterface")
        and hasattr(transformers, "AttentionMaskInterface")
        and "transformers.masking_utils" in sys.modules
    )
    return registers and hasattr(model, "set_attn_implementation") and (can is None or bool(can()))


def takes(module: Any, name: str) -> bool:
    """Whether its forward pass takes an argument of this name."""
    known = inspect.signature(module.forward).parameters
    return name in known or any(p.kind is p.VAR_KEYWORD for p in known.values())


def cache_name(module: Any) -> str:
    """The argument that takes a cache of keys and values, renamed in transformers 5; "": none."""
    known = inspect.signature(module.forward).parameters
    held = next((name for name in ("cache", "past_key_values") if name in known), "")
    return held or ("past_key_values" if takes(module, "past_key_values") else "")


def on_device(model: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments where the model's first weights are; accelerate moves what others read."""
    device = next(model.parameters()).device
    if device.type == "meta":
        return dict(arguments)
    return {
        name: value.to(device) if hasattr(value, "to") else value
        for name, value in arguments.items()
    }


def _run(model: Any, base: Any, arguments: Mapping[str, Any], recorder: Recorder, way: str) -> None:
    torch, transformers = sys.modules["torch"], sys.modules["transformers"]
    more: dict[str, Any] = {"use_cache": False} if takes(base, "use_cache") else {}
    if way == "outputs":
        more["output_attentions"] = True
        inside = hooked(base, recorder, torch)
    else:
        register(transformers, NAME, attention(recorder, torch))
        inside = attending(model, NAME)
    with torch.no_grad(), inside, evaluating(model):
        base(**on_device(model, arguments), **more)


def register(transformers: Any, name: str, attend: Any) -> None:
    """Give transformers' interface an attention function, whose masks are those of eager
    attention."""
    transformers.AttentionInterface.register(name, attend)
    transformers.AttentionMaskInterface.register(
        name, sys.modules["transformers.masking_utils"].eager_mask
    )
