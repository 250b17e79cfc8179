"""Some of a long list of cases, drawn anew in each run from a seed that is printed; all of them in
./test long. HEADLIGHT_SEED draws those of another run."""

import os
import random


def drawn(cases, share):
    """A share of the cases, at least one, in their order."""
    cases = list(cases)
    if "HEADLIGHT_LONG" in os.environ:
        return cases
    seed = int(os.environ.get("HEADLIGHT_SEED") or random.SystemRandom().randrange(10**6))
    count = max(1, round(share * len(cases)))
    print(f"     seed {seed}: {count} of {len(cases)}")
    chosen = random.Random(seed).sample(range(len(cases)), count)
    return [cases[i] for i in sorted(chosen)]
