"""The weights of one head, of architectures that keep its projections under the usual names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import HeadlightError
from .changes import Block
from .ranks import full

if TYPE_CHECKING:
    from .model import LiveModel

NAMES = {
    "W_Q": ("q_proj", "q", "query", "q_lin", "wq"),
    "W_K": ("k_proj", "k", "key", "k_lin", "wk"),
    "W_V": ("v_proj", "v", "value", "v_lin", "wv"),
    "W_O": ("o_proj", "out_proj", "o", "dense", "out_lin", "c_proj", "wo"),
}
FUSED = ("c_attn",)  # GPT-2's: queries, keys and values beside each other


def head_weights(live: LiveModel, block: Block, head: int) -> dict[str, Any]:
    """Return W_Q, W_K, W_V [d_model, d_head] and W_O [d_head, d_model], and biases b_Q … where
    there are some."""
    attention = live.found.attention.get(block)
    heads, kv_heads = live.heads[block]
    kv = head // (heads // kv_heads)
    children = dict(attention.named_children()) if attention is not None else {}
    if fused := next((children[n] for n in FUSED if n in children), None):
        weight = full(fused.weight).detach()  # [d_model, 3 · d_model]
        thirds, biases = weight.chunk(3, 1), full(fused.bias).detach().chunk(3)
    else:
        three = [_child(children, name) for name in ("W_Q", "W_K", "W_V")]
        if any(part is None or getattr(part, "weight", None) is None for part in three):
            raise _unknown(live)
        thirds = [full(part.weight).detach().T for part in three]
        biases = [None if part.bias is None else full(part.bias).detach() for part in three]
    out: dict[str, Any] = {}
    for name, whole, bias, of, number in zip(
        "QKV", thirds, biases, (heads, kv_heads, kv_heads), (head, kv, kv)
    ):
        if whole.shape[1] % of:
            raise _unknown(live)
        width = whole.shape[1] // of
        here = slice(number * width, (number + 1) * width)
        out[f"W_{name}"] = whole[:, here]
        if bias is not None:
            out[f"b_{name}"] = bias[here]
    out["W_O"] = _output(live, block, children, heads, head)
    return {name: part.float() for name, part in out.items()}


def _child(children: dict[str, Any], name: str) -> Any:
    return next((children[n] for n in NAMES[name] if n in children), None)


def _output(live: LiveModel, block: Block, children: dict[str, Any], heads: int, head: int) -> Any:
    module = _child(children, "W_O") or _beside(live, block)
    if module is None or getattr(module, "weight", None) is None:
        raise _unknown(live)
    weight = full(module.weight).detach()
    rows = weight if type(module).__name__ == "Conv1D" else weight.T
    width = rows.shape[0] // heads
    return rows[head * width : (head + 1) * width]


def _beside(live: LiveModel, block: Block) -> Any:
    """Return BERT's output projection, a module next to its attention."""
    modules, attention = dict(live.base.named_modules()), live.found.attention[block]
    name = next(name for name, module in modules.items() if module is attention)
    return modules.get(name.rpartition(".")[0] + ".output.dense")


def _unknown(live: LiveModel) -> HeadlightError:
    return HeadlightError(
        f"{type(live.model).__name__} keeps the projections of its heads in a way that this server "
        "does not know, so the weights of one head cannot be sent."
    )
