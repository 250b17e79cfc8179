#!/usr/bin/env python3
"""Round the matrices of models in F16 to fewer bits, so that the wheel packs them smaller.

    python models/round_weights.py FOLDER ... [--bits 5]

The files keep their format and size. Of the ten bits that F16 has behind a number's first one the
lowest become 0, rounded to the nearest, ties to even: with five left a weight is off by 1.6 % at
most. Vectors (biases, norms) stay as they are, and so does what was rounded before.

Needs numpy and safetensors.
"""

import argparse
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

BITS = 5


def rounded(weights, bits=BITS):
    """An array of float16 with that many bits behind the first one."""
    dropped = 10 - bits
    whole = weights.view(np.uint16).astype(np.uint32)
    whole += (1 << (dropped - 1)) - 1 + ((whole >> dropped) & 1)
    out = (whole >> dropped << dropped).astype(np.uint16).view(np.float16)
    assert np.isfinite(out).all()
    return out


def round_weights(folder, bits=BITS):
    """Round the matrices of the folder's model.safetensors."""
    file = Path(folder) / "model.safetensors"
    with safe_open(file, "np") as held:
        names, metadata = held.keys(), held.metadata()
        weights = {name: held.get_tensor(name) for name in names}
    assert all(w.dtype == np.float16 for w in weights.values()), file
    matrices = {name for name, w in weights.items() if w.ndim > 1}
    new = {name: rounded(w, bits) if name in matrices else w for name, w in weights.items()}
    file.write_bytes(save(new, metadata=metadata))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("folders", type=Path, nargs="+")
    p.add_argument("--bits", type=int, default=BITS, choices=range(1, 10))
    a = p.parse_args()
    for folder in a.folders:
        round_weights(folder, a.bits)


if __name__ == "__main__":
    main()
