"""What rounding in float32 alone may do to a model: some random ones magnify it, by a norm of a
small length, or a cut gate. Shared by random_models.py and random_configs.py."""

import torch

TRIES = 4
TIMES = 2  # two orders of the same sums differ by chance


def moved_by_rounding(model, difference):
    """The largest difference() of a model in float64 while each of its weights moves by up to
    float32's spacing; the weights are put back."""
    moved, kept = 0.0, [p.detach().clone() for p in model.parameters()]
    noise = torch.Generator().manual_seed(TRIES)
    for _ in range(TRIES):
        for p, own in zip(model.parameters(), kept):
            by = 2 * torch.rand(own.shape, generator=noise, dtype=torch.float64) - 1
            p.data = own * (1 + by * torch.finfo(torch.float32).eps)
        moved = max(moved, difference())
    for p, own in zip(model.parameters(), kept):
        p.data = own
    return moved


def allowed(ours, limit, theirs, model, difference):
    """By how much a tensor may differ from float64's, given `ours` and `theirs` (transformers in
    float32): at least `limit`."""
    limit = max(limit, TIMES * theirs)
    return limit if ours <= limit else max(limit, TIMES * moved_by_rounding(model, difference))
