"""The random draws that families share (random_families.py)."""

import random


class Draw(random.Random):
    """The random draws that configurations share."""

    def sizes(self, kv=False):
        heads = self.choice([2, 3, 4, 6])
        d_head = self.choice([8, 10, 16])
        shared = self.choice([n for n in (1, 2, 3, 6) if heads % n == 0]) if kv else heads
        return heads, d_head, shared

    def rope(self, theta=10000.0):
        kind = self.choice(["default", "default", "linear", "dynamic", "llama3", "yarn"])
        p = {"rope_type": kind, "rope_theta": self.choice([theta, 500.0, 1e6])}
        if kind != "default":
            p["factor"] = self.choice([2.0, 4.0, 3.5])
        if kind == "llama3":
            p.update(low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
        if kind == "yarn":
            p.update(original_max_position_embeddings=16)
        return p

    def flag(self):
        return self.random() < 0.5

    # Of classes whose usual ids lie beyond a small vocabulary.
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}

    def window(self, *usual):
        """The width of a sliding window; over several blocks of queries where the text is long."""
        return 70 if self.long else self.choice(usual)

    def context(self, usual=64):
        return 320 if self.long else usual


def llama_like(d, config, head, **more):
    heads, d_head, shared = d.sizes(kv=True)
    base = dict(
        hidden_size=heads * d.choice([8, 12]),
        num_attention_heads=heads,
        num_key_value_heads=shared,
        head_dim=d_head,
        num_hidden_layers=d.choice([2, 3]),
        intermediate_size=d.choice([40, 64, 100]),
        vocab_size=d.choice([97, 130]),
        max_position_embeddings=d.context(),
        rms_norm_eps=d.choice([1e-6, 1e-3]),
        tie_word_embeddings=d.flag(),
        rope_parameters=d.rope(),
    )
    merged = {**base, **more}
    if merged["head_dim"] is None:
        del merged["head_dim"]
    return config(**merged), head
