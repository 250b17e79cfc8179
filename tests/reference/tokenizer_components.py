"""tokenizer.json files of random components, and the classes of every character, against the
package tokenizers; see tokenizer_folders.py."""

import json
import random
import unicodedata

from tokenizations import CORPUS, SPELLINGS, result, texts
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

rng = random.Random()


def maybe(probability=0.5):
    return rng.random() < probability


PATTERNS = [
    " ",
    "the",
    "a",
    r"\s+",
    r"\w+",
    r"\d",
    r"[^\w\s]",
    r"x*",
    r"(?=[A-Z])",
    r"\b",
    "^",
    "$",
    r"\p{L}+|\p{N}",
    r" ?\p{L}+",
    r"\p{Lu}",
    r"[aeiou]{2}",
    r"\s*$",
    r"(?i:THE)",
]
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]


def pattern():
    chosen = rng.choice(PATTERNS)
    return Regex(chosen) if maybe(0.8) else chosen


def replacement():
    """A replacement of nothing at a text's start makes tokenizers read beyond its own alignments:
    none is drawn."""
    chosen = pattern()
    empty = isinstance(chosen, Regex) and normalizers.Replace(chosen, "-").normalize_str(
        ""
    ) + normalizers.Replace(chosen, "-").normalize_str("A") not in ("A", "-")
    return normalizers.Replace(
        chosen, "" if empty else rng.choice(["", "-", "\u2581", "long text"])
    )


def random_normalizer():
    make = [
        lambda: normalizers.NFC(),
        lambda: normalizers.NFKC(),
        lambda: normalizers.NFD(),
        lambda: normalizers.NFKD(),
        lambda: normalizers.Lowercase(),
        lambda: normalizers.StripAccents(),
        lambda: normalizers.Strip(left=maybe(), right=maybe()),
        lambda: normalizers.Nmt(),
        lambda: normalizers.ByteLevel(),
        lambda: normalizers.Prepend(rng.choice(["\u2581", "x ", "pre"])),
        replacement,
        lambda: normalizers.BertNormalizer(
            clean_text=maybe(),
            handle_chinese_chars=maybe(),
            strip_accents=rng.choice([None, True, False]),
            lowercase=maybe(),
        ),
    ]
    steps = [rng.choice(make)() for _ in range(rng.randint(0, 2))]
    if len(steps) == 2 and isinstance(steps[1], normalizers.Replace):
        # Where it inserts between characters that another step made of one, only the offset differs
        steps = steps[1:]
    return steps[0] if len(steps) == 1 else normalizers.Sequence(steps) if steps else None


def random_pre_tokenizer():
    make = [
        lambda: pre_tokenizers.ByteLevel(add_prefix_space=maybe(), use_regex=maybe()),
        lambda: pre_tokenizers.Whitespace(),
        lambda: pre_tokenizers.WhitespaceSplit(),
        lambda: pre_tokenizers.BertPreTokenizer(),
        lambda: pre_tokenizers.Punctuation(rng.choice(BEHAVIORS)),
        lambda: pre_tokenizers.Digits(individual_digits=maybe()),
        lambda: pre_tokenizers.Metaspace(
            prepend_scheme=rng.choice(["always", "first", "never"]), split=maybe()
        ),
        lambda: pre_tokenizers.CharDelimiterSplit(rng.choice(" ae")),
        lambda: pre_tokenizers.Split(pattern(), rng.choice(BEHAVIORS), invert=maybe(0.3)),
        lambda: pre_tokenizers.UnicodeScripts(),
        lambda: pre_tokenizers.FixedLength(rng.randint(1, 6)),
    ]
    steps = [rng.choice(make)() for _ in range(rng.randint(0, 3))]
    return steps[0] if len(steps) == 1 else pre_tokenizers.Sequence(steps) if steps else None


def random_model(tokenizer):
    kind = rng.choice(["BPE", "BPE", "WordPiece", "WordLevel", "Unigram"])
    alphabet = pre_tokenizers.ByteLevel.alphabet() if maybe() else []
    common = {"special_tokens": ["<unk>"], "show_progress": False}
    if kind == "BPE":
        marks = {
            "unk_token": rng.choice([None, "<unk>"]),
            "continuing_subword_prefix": rng.choice([None, None, "##"]),
            "end_of_word_suffix": rng.choice([None, None, "</w>"]),
        }
        tokenizer.model = models.BPE(
            fuse_unk=maybe(),
            ignore_merges=maybe(),
            byte_fallback=maybe(0.2),
            **{k: v for k, v in marks.items() if v},
        )
        return trainers.BpeTrainer(
            vocab_size=rng.choice([60, 200, 400]), initial_alphabet=alphabet, **common
        )
    if kind == "WordPiece":
        tokenizer.model = models.WordPiece(
            unk_token="<unk>", max_input_chars_per_word=rng.choice([5, 100])
        )
        return trainers.WordPieceTrainer(vocab_size=150, **common)
    if kind == "WordLevel":
        tokenizer.model = models.WordLevel(unk_token="<unk>")
        return trainers.WordLevelTrainer(vocab_size=80, **common)
    tokenizer.model = models.Unigram()
    return trainers.UnigramTrainer(vocab_size=150, unk_token="<unk>", **common)


def random_file():
    tokenizer = Tokenizer(models.BPE())
    normalizer, pre_tokenizer = random_normalizer(), random_pre_tokenizer()
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(CORPUS.splitlines()[:6], random_model(tokenizer))
    tokenizer.add_tokens(
        [
            AddedToken(
                c,
                single_word=maybe(0.2),
                lstrip=maybe(0.2),
                rstrip=maybe(0.2),
                normalized=maybe(),
                special=maybe(),
            )
            for c in rng.sample(SPELLINGS, k=rng.randint(0, 4))
        ]
    )
    root = json.loads(tokenizer.to_str())
    # Of more digits tokenizers reads some a bit wrong, which decides between equal cuts.
    if root["model"]["type"] == "Unigram":
        root["model"]["vocab"] = [
            [piece, round(score, 5)] for piece, score in root["model"]["vocab"]
        ]
    if maybe(0.3):
        for token in root["added_tokens"]:
            token["id"] = rng.choice([token["id"], token["id"] + 7, 3])
    if (
        maybe(0.2)
        and isinstance(root["model"].get("vocab"), dict)
        and root["model"]["type"] != "BPE"
    ):
        word = rng.choice(list(root["model"]["vocab"]))
        root["model"]["vocab"]["doubled"] = root["model"]["vocab"][word]
    return root


def check_file(number, work, comparison):
    try:
        text = json.dumps(random_file(), ensure_ascii=False)
    except BaseException as e:  # tokenizers panics at some trainings
        if isinstance(e, KeyboardInterrupt):
            raise
        comparison.refused += 1
        return
    folder = work / f"file_{number:03}"
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    rows = [{"text": t} for t in texts(rng, 20) if maybe(0.9)]
    try:
        reference = Tokenizer.from_str(text)
        normal = reference.normalizer
        spelled = [
            normal.normalize_str(t.content) if normal and t.normalized else t.content
            for t in reference.get_added_tokens_decoder().values()
        ]
        if len(set(spelled)) < len(spelled):
            return  # which of two that are spelled alike is found is by chance
        wanted = {r["text"]: reference.encode(r["text"]) for r in rows}
    except BaseException as e:  # tokenizers panics at some of them
        if isinstance(e, KeyboardInterrupt):
            raise
        comparison.refused += 1
        return
    model = json.loads(text)["model"]
    exact = model["type"] != "BPE" or (
        model["unk_token"] is not None and not model["byte_fallback"]
    )
    doubled = "doubled" in model["vocab"] if isinstance(model["vocab"], dict) else False

    def encode(row):
        out = result(wanted[row["text"]], exact)
        return {"ids": out["ids"]} if doubled else out

    comparison.compare(folder.name, folder, rows, encode)


# --- \w, white space, digits and signs of every character


def check_characters(work, comparison):
    folder = work / "characters"
    folder.mkdir()
    points = [
        c
        for c in range(1, 0x30000)
        if not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) not in ("Cn", "Co")
    ]
    chosen = [0xB2, 0xBD, 0x200C, 0x200D, 0x24B6, 0x2160, 0x5F, 0x203F] + rng.sample(points, 3000)
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    rows = [
        {"text": "".join(f"a{chr(c)}b" for c in chosen[i : i + 50])}
        for i in range(0, len(chosen), 50)
    ]

    def compare(tokenizer, step):
        tokenizer.save(str(folder / "tokenizer.json"))
        comparison.compare(
            f"characters, {type(step).__name__}",
            folder,
            rows,
            lambda row: result(tokenizer.encode(row["text"]), True),
        )

    for step in (
        pre_tokenizers.Whitespace(),
        pre_tokenizers.Digits(),
        pre_tokenizers.Punctuation(),
        pre_tokenizers.WhitespaceSplit(),
        pre_tokenizers.UnicodeScripts(),
    ):
        tokenizer.pre_tokenizer = step
        compare(tokenizer, step)
    letters = Tokenizer(
        models.BPE(
            {"<unk>": 0} | {chr(c): i + 1 for i, c in enumerate([*range(1, 0x3000), *chosen])},
            [],
            unk_token="<unk>",
        )
    )
    for step in (
        normalizers.NFC(),
        normalizers.NFKC(),
        normalizers.NFD(),
        normalizers.NFKD(),
        normalizers.Lowercase(),
        normalizers.Nmt(),
    ):
        letters.normalizer = step
        compare(letters, step)
