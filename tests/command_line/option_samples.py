"""A value for each option that differs from its default, and what an option needs beside it."""

import tempfile

from lively import Process
from program import MODELS

SERVER = Process(tempfile.mkdtemp(prefix="headlight-engine-"))  # ends with these tests
SAMPLES = {  # a value that is not the default; [] of a flag
    "--model": ["translator"],
    "--engine": [SERVER.address],
    "--text": ["Tom had a car"],
    "--text-file": ["line.txt"],
    "--adapter": ["adapter"],
    "--chat": ["chat.json"],
    "--pair": ["more"],
    "--target": ["mehr"],
    "--ids": ["5,9,12"],
    "--target-ids": ["1,2"],
    "--token-types": ["0,0,1"],
    "--image": [MODELS / "vit/gradient_rgb.png"],
    "--mask": ["window:2"],
    "--ablate": ["0.0:uniform"],
    "--temperature-attn": ["0.5"],
    "--change": ["temperature:0.3"],
    "--trace": ["t.safetensors"],
    "--metric": ["cat - dog"],
    "--animate": ["layers"],
    "--generate": ["2"],
    "--delay": ["100"],
    "--numbered": [],
    "--all-heads": [],
    "--one-text": [],
    "--view": ["head"],
    "--layer": ["1"],
    "--head": ["1"],
    "--cell": ["2,1"],
    "--with": ["1.1"],
    "--text-b": ["Lily had an unbelievable dog"],
    "--model-b": [MODELS / "gpt2"],
    "--show": ["next"],
    "--what": ["attn_out"],
    "--mean": ["all"],
    "--max": ["all"],
    "--hard": [],
    "--as-lines": [],
    "--origins": ["flow"],
    "--sink-apart": [],
    "--corpus": ["other.json"],
    "--corpus-show": ["experts"],
    "--chat-measure": ["max"],
    "--chat-template": ["hidden"],
    "--chat-thinking": ["shown"],
    "--prompts": ["other_prompts.json"],
    "--averaged": ["direct"],
    "--at-most": ["3"],
    "--each": [],
    "--graph": [],
    "--strongest": ["7"],
    "--influence": ["metric"],
    "--after": ["1"],
    "--probes": ["8"],
    "--beside": ["layer"],
    "--method": ["contribution"],
    "--baseline": ["zero"],
    "--points": ["5"],
    "--parts": ["sentences"],
    "--heads": ["0.0,0.1"],
    "--share": ["30"],
    "--architecture": ["gpt-3"],
    "--part": ["mlp"],
    "--steps": ["block"],
    "--size": ["700x500"],
    "--preset": ["words.json"],
    "--width-mm": ["120"],
    "--height-mm": ["100"],
    "--width-px": ["500"],
    "--height-px": ["400"],
    "--dpi": ["200"],
    "--font-pt": ["12"],
    "--colormap": ["viridis"],
    "--contrast": ["log"],
    "--queries": ["columns"],
    "--marks": ["dots"],
    "--turn-labels": ["always"],
    "--title": ["A title"],
    "--live": ["stories"],
    "--caption": ["A caption"],
    "--no-labels": [],
    "--no-axis-titles": [],
    "--methods": [],
    "--no-color-bar": [],
    "--grid-lines": [],
    "--values": [],
    "--join-words": [],
    "--transparent": [],
    "--drop-sink": [],
    "--tokens": ["0-3"],
    "--keys": ["0-2"],
    "--only-heads": ["1.0,1.1"],
}


OF_VERBS = {
    "--effect-on": [" cat"],
    "--sort": ["entropy"],
    "--json": [],
    "--random-repeat": ["5"],
    "--first-line": ["9"],
    "--sums": [],
    "--seed": ["7"],
    "--tokens": ["3"],
    "--temperature": ["0.9"],
    "--top-k": ["2"],
    "--top-p": ["0.1"],
    "--beams": ["3"],
    "--length-penalty": ["4"],
    "--ids-out": [],
    "--trace-b": ["t.safetensors"],
    "--align": ["position"],
    "--strengths": [],
    "--clean": ["Lily saw a cat"],
    "--corrupted": ["Lily saw a dog"],
    "--steps": ["7"],
    "--over": ["written"],
    "--gradients": ["-"],
    "--head": ["1.2"],
    "--composition": [],
    "--pairs": ["3"],
    "--noise": ["1"],
    "--clean-ids": ["5,9"],
    "--corrupted-ids": ["5,8"],
    "--estimate": [],
    "--capture": ["*hook_q"],
    "--station": ["scale"],
    "--model-b": [MODELS / "gpt2_bf16"],
    "--list": [],
    "--set": ["width=8"],
    "--query": ["1"],
    "--probes": ["3"],
    "--heads": ["1.1"],
    "--strongest": ["3"],
    "--part": ["mlp"],
    "--per-head": [],
}


INTEGRATED = ["--method", "integrated-gradients"]


WITH = {  # the options that an option needs beside it to act
    ("patch", "--head"): ["--what", "head"],
    ("graph", "--metric"): ["--origins", "relevance"],
    ("influence", "--baseline"): INTEGRATED,
    ("influence", "--points"): INTEGRATED,
    ("influence", "--text-b"): [*INTEGRATED, "--baseline", "text"],
    **{
        (view, change): ["--layer", "1"]
        for view in ("text", "origins", "learn")
        for change in ("--mask", "--ablate", "--change", "--temperature-attn")
    },
    ("influence", "--after"): ["--influence", "hidden"],
    ("influence", "--probes"): ["--influence", "hidden"],
    ("influence", "--beside"): ["--influence", "hidden"],
    ("influence", "--layer"): ["--influence", "hidden"],
    ("influence", "--head"): ["--influence", "hidden"],
}


# a method of no metric asks for its position alone
OF_VIEWS = {
    ("influence", "--text-b"): ["The dog sat"],
    ("influence", "--metric"): ["cat - dog@1"],
    ("experts", "--metric"): ["the"],
}


# Of an image: the figure marks what is explained, model B must read images too, and long labels are
# turned anyway.
ELSEWHERE = {
    ("corpus", "--corpus-show"),  # of a mixture
    ("lens", "--metric"),
    ("lens", "--cell"),
    ("delta", "--metric"),
    ("compare", "--model-b"),
    ("head", "--turn-labels"),
}
