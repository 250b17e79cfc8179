"""Tiny random models that read pictures, with real processors made here: a tokenizer of bytes, and
image processors of few pixels."""

import numpy as np
import tokenizers
import torch
import transformers

SPECIAL = ["<pad>", "<bos>", "<eos>", "<image>", "<boi>", "<eoi>", "<vs>", "<ve>", "<video>"]
SPECIAL += ["<fake_token_around_image>", "<global-img>", "<end_of_utterance>"]
SPECIAL += [f"<row_{row}_col_{column}>" for row in (1, 2, 3) for column in (1, 2, 3)]
TEXT = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "head_dim": 8}
TEXT |= {"num_key_value_heads": 2, "intermediate_size": 48, "vocab_size": 300}
TEXT |= {"max_position_embeddings": 256, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
VISION = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
VISION |= {"intermediate_size": 32, "image_size": 32, "patch_size": 8}
CHAT = (
    "{% for message in messages %}{{ message['role'] }}: {% if message['content'] is string %}"
    "{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}SPELLING{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)


def tokenizer(**named):
    """Bytes, and a few special tokens."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate([*SPECIAL, *alphabet])}
    held = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    held.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    held.decoder = tokenizers.decoders.ByteLevel()
    held.add_special_tokens([tokenizers.AddedToken(t, special=True) for t in SPECIAL])
    held.post_processor = tokenizers.processors.TemplateProcessing(
        single="<bos> $A", special_tokens=[("<bos>", 1)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=held,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        **({"extra_special_tokens": named} if named else {}),
    )


def random_model(kind, config, seed=3):
    """Weights that make patterns far from uniform."""
    torch.manual_seed(seed)
    model = getattr(transformers, kind)(config).eval().float()
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() > 1:
                torch.nn.init.normal_(weights, std=0.15 if "embed" in name else 0.25)
            elif "norm" not in name:
                weights.add_(torch.randn_like(weights) * 0.02)
    return model


def square(kind, size=32):
    """An image processor of one size."""
    held = {"height": size, "width": size}
    made = getattr(transformers, f"{kind}ImageProcessorPil")
    if kind == "CLIP":
        return made(size={"shortest_edge": size}, crop_size=held)
    return made(size=held)


def llava():
    text = transformers.LlamaConfig(**TEXT)
    vision = transformers.CLIPVisionConfig(**VISION)
    config = transformers.LlavaConfig(vision_config=vision, text_config=text, image_token_id=3)
    processor = transformers.LlavaProcessor(
        square("CLIP"),
        tokenizer(),
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT.replace("SPELLING", "<image>\n"),
    )
    return random_model("LlavaForConditionalGeneration", config), processor


def qwen2_vl():
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
    text = {**TEXT, "rope_parameters": rope, "tie_word_embeddings": False}
    vision = {"depth": 2, "embed_dim": 16, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2}
    vision |= {"patch_size": 4, "spatial_merge_size": 2, "temporal_patch_size": 2}
    config = transformers.Qwen2VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=3,
        video_token_id=8,
        vision_start_token_id=6,
        vision_end_token_id=7,
    )

    class WithoutVideos(transformers.Qwen2VLProcessor):
        """Its videos need torchvision."""

        def check_argument_for_proper_class(self, name, given):
            if given is not None:
                return super().check_argument_for_proper_class(name, given)

    images = transformers.Qwen2VLImageProcessorPil(
        patch_size=4, merge_size=2, min_pixels=64, max_pixels=1600
    )
    held = tokenizer(image_token="<image>", video_token="<video>")
    template = CHAT.replace("SPELLING", "<vs><image><ve>")
    processor = WithoutVideos(images, held, None, chat_template=template)
    return random_model("Qwen2VLForConditionalGeneration", config), processor


def idefics3(split=False):
    text = transformers.LlamaConfig(**TEXT)
    vision = {**VISION, "image_size": 32, "patch_size": 8}
    config = transformers.Idefics3Config(
        text_config=text, vision_config=vision, image_token_id=3, scale_factor=2, pad_token_id=0
    )
    images = transformers.Idefics3ImageProcessorPil(
        size={"longest_edge": 64}, max_image_size={"longest_edge": 32}, do_image_splitting=split
    )
    template = CHAT.replace("SPELLING", "<image>")
    processor = transformers.Idefics3Processor(
        images, tokenizer(), image_seq_len=4, chat_template=template
    )
    return random_model("Idefics3ForConditionalGeneration", config), processor


def gemma3():
    text = transformers.Gemma3TextConfig(
        **TEXT, query_pre_attn_scalar=8, layer_types=["sliding_attention"] * 2 + ["full_attention"]
    )
    config = transformers.Gemma3Config(
        text_config=text,
        vision_config={**VISION, "vision_use_head": False},
        mm_tokens_per_image=4,
        image_token_id=3,
        boi_token_index=4,
        eoi_token_index=5,
    )
    named = {"image_token": "<image>", "boi_token": "<boi>", "eoi_token": "<eoi>"}
    processor = transformers.Gemma3Processor(
        transformers.Gemma3ImageProcessorPil(size={"height": 32, "width": 32}),
        tokenizer(**named),
        image_seq_length=4,
        chat_template=CHAT.replace("SPELLING", "<boi>"),
    )
    return random_model("Gemma3ForConditionalGeneration", config), processor


def paligemma():
    text = transformers.GemmaConfig(**{**TEXT, "vocab_size": 1600})
    config = transformers.PaliGemmaConfig(
        vision_config=transformers.SiglipVisionConfig(**VISION, vision_use_head=False),
        text_config=text,
        image_token_id=3,
        projection_dim=32,
    )
    images = square("Siglip")
    images.image_seq_length = 16
    processor = transformers.PaliGemmaProcessor(images, tokenizer(image_token="<image>"))
    return random_model("PaliGemmaForConditionalGeneration", config), processor


def alone(kind, processor="ViT", **more):
    """A model that reads a picture alone."""
    config = getattr(transformers, f"{kind.removesuffix('Model')}Config")(**{**VISION, **more})
    return random_model(kind if kind.endswith("Model") else f"{kind}Model", config), square(
        processor
    )


BESIDE = {"llava": llava, "qwen2_vl": qwen2_vl, "idefics3": idefics3, "gemma3": gemma3}
BESIDE |= {"paligemma": paligemma}


def pixels(height=40, width=64, seed=0):
    """A picture with shapes."""
    draw = np.random.default_rng(seed)
    rows, columns = np.mgrid[:height, :width]
    waves = np.stack(
        [np.sin(rows / (3 + c) + draw.normal()) * np.cos(columns / 5) for c in range(3)]
    )
    noise = draw.normal(scale=0.2, size=waves.shape)
    return np.clip((waves + noise).transpose(1, 2, 0) * 100 + 128, 0, 255).astype(np.uint8)
