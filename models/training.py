"""Stories, byte-level BPE and optimizers, which the trainings of the story model and of
models/formation share.

Needs torch >= 2.9 (torch.optim.Muon), transformers and tokenizers.
"""

import json

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

END = "<|endoftext|>"  # id 0: begin, end, unknown and padding at once


def read_stories(path):
    """The stories of a file, separated by a line END."""
    return [s.strip() for s in path.read_text(encoding="utf-8").split(END) if s.strip()]


def train_tokenizer(texts, out, vocab, context):
    """Byte-level BPE of so many tokens for texts of at most `context`; writes tokenizer.json and
    tokenizer_config.json."""
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        special_tokens=[END],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tok.train_from_iterator(texts, trainer)
    PreTrainedTokenizerFast(
        tokenizer_object=tok,
        bos_token=END,
        eos_token=END,
        unk_token=END,
        pad_token=END,
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    ).save_pretrained(out)
    config = json.loads((out / "tokenizer_config.json").read_text())
    config["tokenizer_class"] = (
        "PreTrainedTokenizerFast"  # a name that transformers 4 and 5 both know
    )
    (out / "tokenizer_config.json").write_text(json.dumps(config, indent=2))
    return tok


def fast_arithmetic():
    """bfloat16, where the processor computes it; elsewhere it is a hundred times slower."""
    return torch.autocast(
        "cpu", dtype=torch.bfloat16, enabled=torch.cpu._is_avx512_bf16_supported()
    )


def make_optimizers(model, lr):
    """Muon for the matrices, AdamW for tables, biases and norms."""
    is_matrix = lambda name, p: (
        p.ndim == 2 and not any(table in name for table in ("embed", "wte", "wpe"))
    )
    named = list(model.named_parameters())
    muon = torch.optim.Muon(
        [p for n, p in named if is_matrix(n, p)],
        lr=lr,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        adjust_lr_fn="match_rms_adamw",
    )
    adam = torch.optim.AdamW(
        [p for n, p in named if not is_matrix(n, p)],
        lr=lr,
        betas=(0.9, 0.98),
        weight_decay=0.0,
        fused=True,
    )
    return [muon, adam]
