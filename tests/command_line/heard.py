"""Every option that a verb declares changes what it says, or is refused by name: none is read and
then unheard. The options are those that the program lists for shells, so that a new one needs a row
here."""

import functools
import json
import os
import re
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor

from drawn import drawn
from option_samples import ELSEWHERE, OF_VERBS, OF_VIEWS, SAMPLES, WITH
from program import FOLDER, MODELS, PROGRAM, refused, run, view_keys

TEXT, OTHER = "Lily saw an unbelievable cat", "Lily saw an unbelievable dog"
# Change how, and not what, is said.
SILENT = set("--help --quiet --threads --output -o -h --format --version".split())


def declared(verb):
    """The options of a verb, as a shell completes them."""
    words = re.search(rf'^        {verb}\) words="([^"]*)"', run("completions bash").out, re.M)[1]
    return [word for word in words.split() if word.startswith("--") and word not in SILENT]


@functools.cache
def said(*arguments):
    r = subprocess.run(
        [str(PROGRAM), *map(str, arguments)], capture_output=True, cwd=FOLDER, timeout=120
    )
    return r.returncode, r.stdout, r.stderr.decode(errors="replace")


def unheard(base, option, values, also=()):
    """Whether the option neither changes what is said nor is refused by its name; a command that is
    refused without it says nothing of it."""
    status, plain, _ = said(*base, *also)
    now, out, err = said(*base, *also, option, *values)
    if now:
        return not re.search(rf"{option}\b|{option[2:]}", err) and status == 0
    return out == plain


def _write_adapter(folder):
    """An adapter of the built-in story model's first layer."""
    folder.mkdir(exist_ok=True)
    base = str(PROGRAM.parent.parent / "models/stories")
    config = {"peft_type": "LORA", "r": 1, "lora_alpha": 4, "base_model_name_or_path": base}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    header, data = {}, b""
    for name, count in (("attn.c_attn", 768), ("mlp.c_fc", 1024)):
        for part, shape in (("lora_A", [1, 256]), ("lora_B", [count, 1])):
            values = [((7 * i) % 11 - 5) / 20 for i in range(shape[0] * shape[1])]
            more = struct.pack(f"<{len(values)}f", *values)
            header[f"base_model.model.transformer.h.0.{name}.{part}.weight"] = {
                "dtype": "F32",
                "shape": shape,
                "data_offsets": [len(data), len(data) + len(more)],
            }
            data += more
    text = json.dumps(header).encode()
    (folder / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def _written_before():
    """Write the files that samples name."""
    (FOLDER / "line.txt").write_text("Tom had a car")
    for name, texts in (("these", "The cat sat on the mat."), ("other", "Tom had a car.")):
        (FOLDER / f"{name}.txt").write_text(texts)
        run("heads", "--corpus", f"{name}.txt", "-o", f"{name}.json")
    (FOLDER / "words.json").write_text(
        '{"format": "headlight-figure", "version": 1, "name": "words", "width-mm": "120", '
        '"join-words": "true", "drop-sink": "true"}'
    )
    for name, word in (("these", "cat"), ("other", "dog")):
        (FOLDER / f"{name}_prompts.json").write_text(
            json.dumps(
                {
                    "text": f"{{A}} saw a {word}. {{A}}",
                    "metric": "saw",
                    "fill": {"A": ["Lily", "Tom"]},
                }
            )
        )
    _write_adapter(FOLDER / "adapter")
    (FOLDER / "thoughts.json").write_text(
        json.dumps(
            [
                {"role": "user", "content": "The cat sat"},
                {"role": "assistant", "content": "<think>Where?</think>On the mat."},
            ]
        )
    )
    run("trace -o t.safetensors", "--text", OTHER)


# Make other files, or are of the figure's file alone.
ONE_RUN = {
    "--animate",
    "--generate",
    "--delay",
    "--numbered",
    "--all-heads",
    "--one-text",
    "--view",
}
SHOWN = {
    "alignment": ["--model", "translator", "--text", "The unbelievable xylophonist."],
    "picture": ["--model", MODELS / "vit", "--image", MODELS / "vit/gradient_rgb.png"],
    "compare": ["--text", TEXT, "--text-b", OTHER],
    "positions": ["--model", MODELS / "t5", "--text", "the cat"],
    "chat": ["--model", MODELS / "qwen3", "--chat", "thoughts.json"],
    "contacts": ["--model", MODELS / "esm", "--text", "MKTAYIAKQRQ"],
    "experts": ["--model", MODELS / "mixtral", "--text", "The old harbour"],
    "patch": ["--text", "The cat sat", "--text-b", "The dog sat"],
    "influence": ["--text", "The cat sat"],
    "corpus": ["--corpus", "these.json"],
    "prompts": ["--text", TEXT, "--prompts", "these_prompts.json"],
}
FORMATS = ("json", "svg")  # numbers and figures
CHANGES = {"--mask", "--ablate", "--temperature-attn", "--change"}
STYLE = {"--colormap", "--contrast", "--queries", "--marks", "--turn-labels"}
# Words are turned anyway; lengths need models of one shape.
ALIKE = [(["--join-words"], "--turn-labels"), (["--show", "delta"], "--model-b")]
# Values that must say different things.
SEVERAL = {option: ([], ["all"], ["0.1,1.2"]) for option in ("--mean", "--max")}


def _views():
    views = view_keys()
    options = [option for option in declared("render") if option not in ONE_RUN]
    assert len(views) > 15
    assert not set(options) - SAMPLES.keys(), f"no sample of {set(options) - SAMPLES.keys()}"
    return views, options


def _rendered(view, form, source=None):
    return [
        "render",
        *(source or SHOWN.get(view, ["--text", TEXT])),
        "--view",
        view,
        "-o",
        "-",
        "--format",
        form,
    ]


def _sweep(check, rows):
    """Check rows and list the wrong ones."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [said for said in pool.map(lambda row: check(*row), rows) if said]
    assert not wrong, "unheard: " + "; ".join(wrong)


def every_option_changes_the_numbers_and_the_figure_of_a_view_or_is_refused():
    """render --view V × every option, of a text and of an image."""
    _written_before()
    views, options = _views()

    def check(view, source, form, option):
        base, also = _rendered(view, form, source), WITH.get((view, option), [])
        return unheard(
            base, option, OF_VIEWS.get((view, option), SAMPLES[option]), also
        ) and f"{view} {form} {option}" + (" of an image" if source else "")

    rows = []
    for view in views:
        for source in (None, SHOWN["picture"]):
            status, _, err = said(*_rendered(view, "json", source))
            assert status == 0 or source, err
            for option in options if status == 0 else []:
                tells = (
                    option in CHANGES
                    and not source
                    or option not in RUN
                    or source
                    and option not in CHANGES
                    and option != "--trace"
                )
                if (
                    tells
                    and option not in _rendered(view, "json", source)
                    and not (source and (view, option) in ELSEWHERE)
                ):
                    rows += [(view, source, form, option) for form in FORMATS]
    _sweep(check, drawn(rows, 0.2))


def _words_of_options():
    """The words that an option chooses from, as its help lists them, without the one that it is by
    itself."""
    rows = re.findall(
        r"^  (?:-\w,)?(--[\w-]+) TEXT:\{([^}]*)\}(?:=(\S+))?", run("render --help").out, re.M
    )
    return {
        option: [word for word in words.split(",") if word != usual]
        for option, words, usual in rows
    }


def every_option_of_a_view_is_heard_beside_each_of_its_choices_or_refused():
    """render --view V × every word and flag that V alone has × every option of V."""
    _written_before()
    views, options = _views()
    views = drawn(views, 0.25)
    options, words = [option for option in options if option not in RUN], _words_of_options()
    acts = {
        (view, option): "does not act"
        not in said(*_rendered(view, "svg"), option, *SAMPLES[option])[2]
        for view in views
        for option in options
    }
    of_views = {option for option in options if not all(acts[view, option] for view in views)} - {
        "--preset"
    }

    def check(view, form, choice, option):
        base = [*_rendered(view, form), *choice]
        ready = said(*base)[0] == 0 and option not in base and (choice, option) not in ALIKE
        return (
            ready
            and unheard(base, option, OF_VIEWS.get((view, option), SAMPLES[option]))
            and f"{view} {form} {' '.join(map(str, choice))} {option}"
        )

    rows = []
    for view in views:
        own = [option for option in options if option in of_views and acts[view, option]]
        choices = [
            [option, word]
            for option in own
            if option not in STYLE
            for word in words.get(option, [])
        ]
        choices += [
            [option, *value]
            for option in own
            if option not in words
            for value in SEVERAL.get(option, [[]] if not SAMPLES[option] else [])
        ]
        choices += [
            [option, *SAMPLES[option]]
            for option in own
            if option in ("--heads", "--architecture", "--with")
        ]
        rows += [
            (view, form, choice, option)
            for choice in choices
            for option in own
            if option != choice[0]
            for form in FORMATS
        ]
    _sweep(check, drawn(rows, 0.2))


def every_way_to_name_several_heads_says_something_else_or_is_refused():
    for view in ("head", "text", "picture", "alignment"):
        for option, ways in SEVERAL.items():
            told = [said(*_rendered(view, "json"), option, *way) for way in ways]
            outs = [out for status, out, err in told if status == 0]
            assert len(set(outs)) == len(outs), (view, option)
            assert all(status == 0 or option in err for status, _, err in told), (view, option)


# Options of what is run, whatever is made of it.
RUN = set(
    """
    --model --engine --adapter --text --text-file --pair --target --ids --target-ids --token-types
    --image
    --mask --ablate --temperature-attn --change --trace --seed
""".split()
)


PATCHED = ["--clean", "Lily saw a cat", "--corrupted", "Lily saw a dog", "--metric", "cat - dog"]
VERBS = {  # the command, and what else an option needs to act
    "heads": (["--text", TEXT], {}),
    "compare": (
        ["--model", MODELS / "gpt2", "--text", TEXT, "--text-b", OTHER],
        {"--align": ["--text-b", "an unbelievable cat"]},
    ),
    "generate": (
        ["--text", "The dog", "--tokens", "5", "--json"],
        {
            "--length-penalty": ["--beams", "4"],
            "--top-k": ["--temperature", "3"],
            "--top-p": ["--temperature", "3"],
            "--seed": ["--temperature", "3"],
        },
    ),
    "patch": (PATCHED, {}),
    "circuits": ([], {"--tokens": ["--head", "1.1"]}),
    "quantization": (  # its toy has no word of the metric's sample
        ["--model", MODELS / "gpt2_bf16", "--model-b", MODELS / "gpt2"]
        + ["--text", TEXT, "--metric", "log p"],
        {},
    ),
    "learn": (["--station", "scale", "-o", "-", "--format", "json"], {}),
    "lesson": (["list"], {}),
    "page": (["--live", "formation", "--view", "lines", "-o", "-"], {}),
}
BESIDE = [
    (["attribute", "--text", TEXT, "--method", method, "--json"], {})
    for method in (
        "gradient",
        "input-x-gradient",
        "integrated-gradients",
        "contribution",
        "relevance",
        "rollout",
    )
]


def every_option_of_a_verb_changes_what_it_says_or_is_refused():
    _written_before()
    wrong, commands = [], [([verb, *base], needs) for verb, (base, needs) in VERBS.items()] + BESIDE
    for base, needs in commands:
        for option in declared(base[0]):
            values = OF_VERBS.get(option, SAMPLES.get(option))
            assert values is not None, f"no sample of {base[0]} {option}"
            if (
                option not in base
                and option not in RUN
                and unheard(base, option, values, needs.get(option, []))
            ):
                wrong.append(" ".join(map(str, [*base, option])))
    assert not wrong, f"unheard: {wrong}"


def a_station_of_learn_hears_a_head_and_a_query_or_says_that_it_does_not():
    stations = [row.split()[0] for row in run("learn --list").out.splitlines()]
    for station in drawn(stations, 0.4):
        shown = {
            "pictures": ["--model", MODELS / "vit"],
            "three-uses": ["--set", "tired-or-wide=off"],
        }.get(station, [])
        for option, value in (
            ("--head", "1"),
            ("--layer", "encoder.1" if station in ("three-uses", "seq2seq") else "1"),
            ("--query", "1"),
        ):
            if (station, option) == ("three-uses", "--query"):
                continue  # of a head of the encoder, where learn_stations holds its numbers
            assert not unheard(
                ["learn", "--station", station, *shown, "-o", "-", "--format", "svg"],
                option,
                [value],
            ), (station, option)
    three_numbers = ["learn", "--station", "qkv", "--set", "small=on", "-o", "-", "--format", "svg"]
    assert not unheard(three_numbers, "--head", ["1"]), (
        "a station whose state shows no head of the model"
    )


def gradients_of_a_metric_are_refused_where_the_method_explains_none():
    for method in ("contribution", "rollout"):
        refused(
            "--gradients goes with",
            "attribute --gradients g.safetensors",
            "--text",
            TEXT,
            "--method",
            method,
        )


def a_figure_of_lines_goes_to_the_layer_of_the_heads_that_are_named():
    assert len(run("render --view lines --heads 1.1 -o - --format json", "--text", TEXT).out) > 100
    for wrong in (["0.1,1.1"], ["0.1", "--layer", "1"]):
        refused("--layer", "render --view lines -o x.svg", "--text", TEXT, "--heads", *wrong)


def what_a_view_has_no_numbers_for_is_said():
    two, out = ["--text", "The cat sat"], FOLDER / "none.csv"
    for wrong, words in (
        (["--view", "patch"], "--text-b"),
        (["--view", "patch", "--text-b", "The big cat sat"], "same number of tokens"),
        (
            ["--view", "compare", "--show", "delta", "--model-b", MODELS / "gpt2"],
            "different layers",
        ),
    ):
        refused(words, "render", *two, *wrong, "-o", out)
    assert not out.exists()
