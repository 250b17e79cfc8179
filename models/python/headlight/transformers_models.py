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
from .eager_attention import Rows, follows
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
        dropout: float = 0.0,
        softcap: float | None = None,
        sliding_window: int | None = None,
        position_bias: Any = None,
        **more: Any,
    ) -> tuple[Any, None]:
        scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
        causal = (
            bool(
                more.get("is_causal")
                if more.get("is_causal") is not None
                else getattr(module, "is_causal", False)
            )
            and query.shape[2] == key.shape[2]
        )
        if attention_mask is None and causal:
            attention_mask = torch.ones(
                query.shape[2], key.shape[2], dtype=torch.bool, device=query.device
            ).tril()[None, None]
        mask = None if attention_mask is None else attention_mask[..., : key.shape[2]]
        if recorder.patterns or not recorder.shows(module):
            added = [a for a in (mask, position_bias) if a is not None]
            rows = Rows(
                torch,
                query,
                key,
                scaling,
                softcap,
                [a[..., : key.shape[2]] for a in added],
                more.get("s_aux"),
            )
            if recorder.shows(module):
                recorder.note_patterns(
                    module,
                    (query.shape[1], query.shape[2], key.shape[2]),
                    lambda h: rows.pattern(recorder.batch, h),
                )
            return rows.attend(value), None
        window = int(sliding_window or 0)
        tokens = (query.shape[2], key.shape[2])
        causal = causal or follows(torch, mask, True, window, tokens)
        if (
            position_bias is not None
            or more.get("s_aux") is not None
            or not follows(torch, mask, causal, window, tokens)
        ):
            raise NeedsPatterns
        recorder.note(
            module,
            query,
            key,
            {
                "scale": float(scaling),
                "cap": float(softcap or 0),
                "window": window,
                "causal": causal,
            },
        )
        if softcap is not None:
            return Rows(
                torch, query, key, scaling, softcap, [] if mask is None else [mask], None
            ).attend(value), None
        groups = query.shape[1] // key.shape[1]
        keys, values = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        out = torch.nn.functional.scaled_dot_product_attention(
            query, keys, values, attn_mask=mask, scale=scaling
        )
        return out.transpose(1, 2).contiguous(), None

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
    before = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in before:
            module.training = training


@contextmanager
def hooked(model: Any, recorder: Recorder, torch: Any) -> Iterator[None]:
    """For models that do not use the interface: takes the patterns from what attention modules
    return, and drops them there."""
    seen: set[Any] = set()

    def hook(module: Any, _: Any, output: Any) -> Any:
        found = (
            [t for t in output if isinstance(t, torch.Tensor) and t.dim() == 4]
            if isinstance(output, tuple)
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
        return tuple(None if t is found[0] else t for t in output)

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
    known = inspect.signature(base.forward).parameters
    arguments = {
        name: value
        for name, value in arguments.items()
        if name in known or any(p.kind is p.VAR_KEYWORD for p in known.values())
    }
    way = "queries and keys" if _has_interface(model) else "outputs"
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
            _check_fits(sides, base.config)
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


def _check_fits(sides: Mapping[str, Any], config: Any) -> None:
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


def _has_interface(model: Any) -> bool:
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


def _run(model: Any, base: Any, arguments: Mapping[str, Any], recorder: Recorder, way: str) -> None:
    torch, transformers = sys.modules["torch"], sys.modules["transformers"]
    known = inspect.signature(base.forward).parameters
    more: dict[str, Any] = {}
    if "use_cache" in known or any(p.kind is p.VAR_KEYWORD for p in known.values()):
        more["use_cache"] = False
    if way == "outputs":
        more["output_attentions"] = True
        inside = hooked(base, recorder, torch)
    else:
        transformers.AttentionInterface.register(NAME, attention(recorder, torch))
        transformers.AttentionMaskInterface.register(
            NAME, sys.modules["transformers.masking_utils"].eager_mask
        )
        inside = attending(model, NAME)
    device = next(model.parameters()).device
    movable = device.type != "meta"  # accelerate moves what such a model reads
    with torch.no_grad(), inside, evaluating(model):
        base(
            **{
                name: value.to(device) if movable and hasattr(value, "to") else value
                for name, value in arguments.items()
            },
            **more,
        )
