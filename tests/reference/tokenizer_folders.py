#!/usr/bin/env python3
"""Folders with every file that a tokenizer may lie in present, absent or contradicting, for each
tokenizer class that Headlight's families use, and tokenizer.json files of random components,
against AutoTokenizer and tokenizers, new in each run:

    python tokenizer_folders.py build/headlight [--seed N] [--folders N] [--files N] [--keep FOLDER]
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

os.environ |= {
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "RUST_LOG": "off",
    "RUST_BACKTRACE": "0",
}
parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--seed", type=int, default=None)
parser.add_argument("--folders", type=int, default=80)
parser.add_argument("--files", type=int, default=80)
parser.add_argument("--keep")
options = parser.parse_args()
PROGRAM = Path(options.program).resolve()
SEED = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
rng = random.Random(SEED)
print(f"seed {SEED}", flush=True)

sys.path.insert(0, str(Path(__file__).parent))
import tokenizer_components as components
import transformers
from tokenizations import SPELLINGS, Comparison, result, texts
from tokenizers import Tokenizer, models
from trained_vocabularies import train

transformers.logging.set_verbosity_error()
# New ones in ./test long: some combinations that no tokenizer has still differ.
components.rng.seed(SEED if options.seed is not None or "HEADLIGHT_LONG" in os.environ else 71)
WORK = Path(options.keep or tempfile.mkdtemp(prefix="headlight folders "))
comparison = Comparison(PROGRAM)


def maybe(probability=0.5):
    return rng.random() < probability


# --- the vocabularies, trained once

VOCABULARIES = WORK / "vocabularies"


def copy(source, folder, name=None):
    (folder / (name or source.name)).write_bytes(source.read_bytes())


# --- folders: a class's own files, then other files beside them

KINDS = [  # name, types of models, classes, files
    (
        "gpt2",
        ["gpt2", "opt"],
        ["GPT2Tokenizer", "GPT2TokenizerFast"],
        {"vocab.json": "gpt2/vocab.json", "merges.txt": "gpt2/merges.txt"},
    ),
    (
        "phi",
        ["phi"],
        ["CodeGenTokenizer", "GPT2Tokenizer"],
        {"vocab.json": "gpt2/vocab.json", "merges.txt": "gpt2/merges.txt"},
    ),
    (
        "qwen",
        ["qwen2", "qwen3"],
        ["Qwen2Tokenizer", "Qwen2TokenizerFast"],
        {"vocab.json": "gpt2/vocab.json", "merges.txt": "gpt2/merges.txt"},
    ),
    (
        "neox",
        ["gpt_neox"],
        ["GPTNeoXTokenizer", "GPTNeoXTokenizerFast"],
        {"vocab.json": "gpt2/vocab.json", "merges.txt": "gpt2/merges.txt"},
    ),
    (
        "roberta",
        ["roberta", "bart", "t5"],
        ["RobertaTokenizer", "BartTokenizer", "RobertaTokenizerFast"],
        {"vocab.json": "roberta/vocab.json", "merges.txt": "roberta/merges.txt"},
    ),
    (
        "bert",
        ["bert", "distilbert", "electra"],
        ["BertTokenizer", "DistilBertTokenizer", "ElectraTokenizerFast"],
        {"vocab.txt": "vocab.txt"},
    ),
    (
        "llama",
        ["llama"],
        ["LlamaTokenizer", "LlamaTokenizerFast", "CodeLlamaTokenizer"],
        {"tokenizer.model": "llama.model"},
    ),
    (
        "llama_own",
        ["llama", "mistral"],
        ["LlamaTokenizer", None],
        {"tokenizer.model": "llama_own.model"},
    ),
    (
        "llama_bare",
        ["llama", "mistral"],
        ["LlamaTokenizer", None],
        {"tokenizer.model": "llama_bare.model"},
    ),
    (
        "gemma",
        ["gemma", "gemma2"],
        ["GemmaTokenizer", "GemmaTokenizerFast"],
        {"tokenizer.model": "gemma.model"},
    ),
    ("t5", ["t5", "mt5"], ["T5Tokenizer", "T5TokenizerFast"], {"spiece.model": "t5.model"}),
    ("t5_plain", ["t5"], ["T5Tokenizer"], {"spiece.model": "t5_plain.model"}),
    (
        "xlmr",
        ["xlm-roberta"],
        ["XLMRobertaTokenizer", "XLMRobertaTokenizerFast"],
        {"sentencepiece.bpe.model": "xlmr.model"},
    ),
    ("camembert", ["camembert"], ["CamembertTokenizer"], {"sentencepiece.bpe.model": "xlmr.model"}),
    (
        "albert",
        ["albert"],
        ["AlbertTokenizer", "AlbertTokenizerFast"],
        {"spiece.model": "albert.model"},
    ),
]
FLAGS = {
    "add_prefix_space": [True, False],
    "do_lower_case": [True, False],
    "strip_accents": [True, False, None],
    "tokenize_chinese_chars": [True, False],
    "legacy": [True, False],
    "add_bos_token": [True, False],
    "add_eos_token": [True, False],
    "trim_offsets": [True, False],
    "keep_accents": [True, False],
    "extra_ids": [0, 5],
}


def described(content, **more):
    return {
        "content": content,
        "lstrip": maybe(0.2),
        "rstrip": maybe(0.2),
        "single_word": maybe(0.15),
        "normalized": maybe(0.3),
        **more,
    }


def named_tokens(kind):
    own = {
        "bert": ["[CLS]", "[SEP]", "[UNK]", "[MASK]"],
        "albert": ["[CLS]", "[SEP]", "<unk>", "[MASK]"],
        "gemma": ["<bos>", "<eos>", "<unk>"],
    }.get(kind, ["<s>", "</s>", "<unk>", "<|endoftext|>", "<|im_start|>"])
    keys = rng.sample(
        ["bos_token", "eos_token", "pad_token", "mask_token", "cls_token", "sep_token"],
        k=rng.randint(0, 2),
    )
    return {key: rng.choice(own) for key in keys}


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=maybe()), encoding="utf-8")


def side_files(folder, kind, size):
    """tokenizer_config.json, special_tokens_map.json and added_tokens.json, each there or not, some
    against each other."""
    config, chosen = {}, rng.sample(SPELLINGS, k=5)
    for key, values in FLAGS.items():
        if maybe(0.35):
            config[key] = rng.choice(values)
    if maybe(0.3):
        config |= named_tokens(kind)
    if maybe(0.25):
        config[rng.choice(["additional_special_tokens", "extra_special_tokens"])] = chosen[:2]
    if maybe(0.1):
        config["extra_special_tokens"] = {"boi_token": chosen[3]}
    if maybe(0.1):
        config["image_token"] = "<image>"
    first = size + rng.choice([0, 0, 0, 3])
    if maybe(0.35):
        config["added_tokens_decoder"] = {
            str(first + i): described(c, special=maybe())
            for i, c in enumerate(chosen[: rng.randint(1, 4)])
        }
    if maybe(0.3):
        write(
            folder / "special_tokens_map.json",
            {k: rng.choice([v, described(v)]) for k, v in named_tokens(kind).items()}
            | ({"additional_special_tokens": chosen[1:3]} if maybe() else {}),
        )
    if maybe(0.3):
        write(
            folder / "added_tokens.json",
            {c: first + i for i, c in enumerate(chosen[: rng.randint(1, 3)])},
        )
    return config


def contradict(path):
    """A tokenizer.json that says something else than its class."""
    root = json.loads(path.read_text(encoding="utf-8"))
    change = rng.randrange(5)
    if change == 0:
        root["added_tokens"].append(
            {"id": rng.choice([2, 5000]), **described("<odd>", special=maybe())}
        )
    if change == 1:
        root["post_processor"] = json.loads(Tokenizer(models.BPE()).to_str())["post_processor"]
    if change == 2 and root["added_tokens"]:
        root["added_tokens"].pop(rng.randrange(len(root["added_tokens"])))
    if change == 3:
        root["normalizer"] = {"type": "Lowercase"}
    path.write_text(json.dumps(root, ensure_ascii=False), encoding="utf-8")


def make_folder(number):
    kind, types, classes, files = (
        KINDS[number % len(KINDS)] if number < 2 * len(KINDS) else rng.choice(KINDS)
    )
    folder = WORK / f"{number:03}_{kind}"
    folder.mkdir(parents=True)
    for name, source in files.items():
        copy(VOCABULARIES / source, folder, name)
    said = rng.choice(classes)
    write(
        folder / "config.json",
        {"model_type": rng.choice(types)}
        | ({"tokenizer_class": said} if said and maybe(0.1) else {}),
    )
    base = {"tokenizer_class": said} if said else {}
    write(folder / "tokenizer_config.json", base)
    with_json = maybe(0.5)
    size = 400
    try:
        plain = transformers.AutoTokenizer.from_pretrained(folder)
        size = len(plain)
        if with_json:
            plain.backend_tokenizer.save(str(folder / "tokenizer.json"))
            if maybe(0.5):
                contradict(folder / "tokenizer.json")
            if maybe(0.5):
                for name in files:
                    (folder / name).unlink()
    except Exception:
        pass
    config = base | side_files(folder, kind, size)
    # a T5 with the vocabulary of RoBERTa is nothing without its class
    if maybe(0.2) and kind != "roberta":
        config.pop("tokenizer_class", None)
    if maybe(0.15) and (folder / "tokenizer.json").exists():
        config["tokenizer_class"] = rng.choice(
            [
                "PreTrainedTokenizerFast",
                "TokenizersBackend",
                "NobodysTokenizer",
                "BloomTokenizerFast",
                *(["LlamaTokenizerFast"] if kind in ("gpt2", "qwen", "llama", "gemma") else []),
            ]
        )
        write(
            folder / "config.json",
            {"model_type": rng.choice(types + ["modernbert", "bloom", "mistral", "llama"])},
        )
    if config or maybe():
        write(folder / "tokenizer_config.json", config)
    else:
        (folder / "tokenizer_config.json").unlink()
    return folder


def check_folder(number):
    folder = make_folder(number)
    try:
        reference = transformers.AutoTokenizer.from_pretrained(folder)
        backend = reference.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
    except Exception as e:
        comparison.refused += 1
        if options.keep:
            print(f"{folder.name}: {type(e).__name__} {str(e)[:160]!r}")
        return
    unknown = backend.model.unk_token if hasattr(backend.model, "unk_token") else None
    rows = [
        {"text": t, "special": maybe(0.8)} | ({"pair": "the dog"} if maybe(0.2) else {})
        for t in texts(rng)
    ]
    # Without an unknown token characters are lost, and tokenizers' offsets after them are those of
    # other characters.
    exact = unknown is not None or isinstance(backend.model, models.Unigram)

    def encode(row):
        pair = row.get("pair")
        encoding = backend.encode(row["text"], pair, add_special_tokens=row["special"])
        return result(
            encoding,
            exact
            and "".join(backend.decode([i], skip_special_tokens=False) for i in encoding.ids) != "",
        )

    comparison.compare(folder.name, folder, rows, encode)


began = time.monotonic()
train(VOCABULARIES)
components.check_characters(WORK, comparison)
for number in range(options.files):
    components.check_file(number, WORK, comparison)
print(
    (
        f"{comparison.compared} tokenizations of {options.files} files, {comparison.refused} of "
        f"which tokenizers cannot read, {time.monotonic() - began:.1f} s"
    ),
    flush=True,
)
unread = comparison.refused
for number in range(options.folders):
    check_folder(number)
if 3 * (comparison.refused - unread) > options.folders:
    comparison.report(
        "folders",
        "that transformers reads",
        "two thirds",
        (
            f"{options.folders - comparison.refused + unread}; SentencePiece models need the "
            "package "
            "protobuf"
        ),
    )
print(
    f"{comparison.compared} tokenizations of {options.folders} folders and {options.files} files "
    f"compared, {comparison.refused} that the other side cannot read, {len(comparison.failures)} "
    f"differ, {time.monotonic() - began:.1f} s"
)
print(f"{'FAIL' if comparison.failures else 'ok'} tokenizer_folders, seed {SEED}")
sys.exit(bool(comparison.failures))
