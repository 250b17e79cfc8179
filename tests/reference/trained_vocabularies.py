"""Vocabularies of every kind that tokenizer_folders.py puts into folders, trained on its corpus."""

import sentencepiece
from tokenizations import CORPUS
from tokenizers import Tokenizer, models, pre_tokenizers, trainers


def train(folder):
    """Write the corpus and every vocabulary into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.txt").write_text(CORPUS, encoding="utf-8")
    for name, specials in (
        ("gpt2", ["<|endoftext|>"]),
        ("roberta", ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]),
    ):
        bpe = Tokenizer(models.BPE())
        bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        bpe.train(
            [str(folder / "corpus.txt")],
            trainers.BpeTrainer(
                vocab_size=330,
                special_tokens=specials,
                initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                show_progress=False,
            ),
        )
        (folder / name).mkdir(exist_ok=True)
        bpe.model.save(str(folder / name))
    words = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.train(
        [str(folder / "corpus.txt")],
        trainers.WordPieceTrainer(
            vocab_size=180,
            special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
            show_progress=False,
        ),
    )
    ids = words.get_vocab()
    (folder / "vocab.txt").write_text("\n".join(sorted(ids, key=ids.get)) + "\n", encoding="utf-8")
    common = {
        "input": str(folder / "corpus.txt"),
        "character_coverage": 1.0,
        "hard_vocab_limit": False,
        "minloglevel": 2,
        "num_threads": 1,
    }
    bpe_pieces = {
        "normalization_rule_name": "identity",
        "byte_fallback": True,
        "vocab_size": 380,
        "model_type": "bpe",
    }
    as_written = {"add_dummy_prefix": False, "remove_extra_whitespaces": False}
    unigram = {"model_type": "unigram", "vocab_size": 150}
    t5 = unigram | {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    own = {
        "user_defined_symbols": ["<|user|>", "\u2581\u2581", "cat"],
        "control_symbols": ["<ctl>"],
    }
    gemma = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3}
    albert = {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1}
    for name, extra in {
        "llama": bpe_pieces,
        "llama_own": bpe_pieces | own,
        "llama_bare": bpe_pieces | as_written | {"byte_fallback": False, "vocab_size": 160},
        "gemma": bpe_pieces | as_written | gemma | {"bos_piece": "<bos>", "eos_piece": "<eos>"},
        "t5": t5,
        "t5_plain": t5 | {"normalization_rule_name": "identity"},
        "xlmr": unigram | {"unk_id": 0, "bos_id": 1, "eos_id": 2},
        "albert": unigram | albert | {"control_symbols": ["[CLS]", "[SEP]", "[MASK]"]},
    }.items():
        sentencepiece.SentencePieceTrainer.train(**common, **extra, model_prefix=str(folder / name))
