"""The changes and masks that changes.py compares, for one stack of blocks and for pairs."""

COMMON = [
    "temperature:0.5",
    "temperature:2.5",
    "temperature:0",
    "temperature:inf",
    "mask:*>0@*",
    "mask:3>*",
    "mask:2..>1-2@*",
]


BLOCKS = [
    *COMMON,
    "mask:6>2",
    "mask:4-7>1-3@0.1",
    "mask:0>0",
    "mask:5..>2..@1",
    "unmask:2>7",
    "unmask:0-3>*@0",
    "score:4>1=3.5",
    "score:4>1@0.1=-2",
    "temperature:0@1.0",
    "temperature:3@0",
    "ablate:0.1:zero",
    "ablate:1.0:mean",
    "ablate:1.1:uniform",
    "ablate:0.0:hard",
    "ablate:0.1:keep",
    "skip-attention:1",
    "skip-mlp:0",
    "positions:off",
    "positions:shuffle:7",
]


PAIRS = [
    *COMMON,
    "mask:2>1@encoder",
    "mask:*>0@cross",
    "mask:3..>2..@cross.1",
    "mask:1>*@cross.0.1",
    "mask:2>0-1@decoder",
    "mask:*>*@cross.0",
    "unmask:0>2@decoder.1",
    "score:2>1@cross=4",
    "score:1>0@decoder.0.1=-3",
    "score:3>5@encoder.0=2",
    "temperature:0.3@cross",
    "temperature:0@encoder.0",
    "temperature:4@decoder.1.0",
    "ablate:cross.0.1:zero",
    "ablate:cross.1.0:mean",
    "ablate:cross.0.0:uniform",
    "ablate:cross.1.1:hard",
    "ablate:cross.1.1:keep",
    "ablate:encoder.0.0:mean",
    "ablate:decoder.1.1:mean",
    "skip-attention:encoder.0",
    "skip-attention:decoder.1",
    "skip-attention:cross.0",
    "skip-mlp:encoder.0",
    "skip-mlp:decoder.0",
    "positions:off",
    "positions:shuffle:7",
    "positions:off@encoder",
    "positions:shuffle:3@decoder",
]


# Rows of the unchanged run, or noise, in place; beside a change, so that the two runs differ there.
PUT_BLOCKS = [
    ["ablate:0.1:zero", "patch-resid:4@1"],
    ["temperature:0.5@0.0", "patch-attention:2-4@1"],
    ["skip-mlp:0", "patch-mlp:3@1"],
    ["ablate:0.0:mean", "patch-head:*@1.1"],
    ["noise:3-5=7"],
    ["noise:2=3", "patch-resid:5..@1"],
    ["skip-attention:0", "patch-head:1-3@1.0"],
    ["mask:*>0@0", "patch-resid:0@1"],
]


PUT_PAIRS = [
    ["ablate:encoder.0.1:zero", "patch-resid:4@encoder.1"],
    ["ablate:cross.0.1:zero", "patch-resid:2@decoder.1"],
    ["temperature:0.5@cross.0", "patch-attention:1-2@decoder.1"],
    ["temperature:2@decoder.0", "patch-attention:3@cross.1"],
    ["skip-mlp:encoder.0", "patch-mlp:3@encoder.1"],
    ["skip-mlp:decoder.0", "patch-mlp:1..@decoder.1"],
    ["ablate:encoder.0.0:mean", "patch-head:*@encoder.1.1"],
    ["ablate:cross.0.0:hard", "patch-head:2@cross.1.1"],
    ["noise:3-5=7"],
]
