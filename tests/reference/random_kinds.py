"""Which families random_models.py takes to be alike, and what their modules are called."""

BART_LIKE = tuple(
    """
    marian bart plbart mvp mbart m2m_100 pegasus bigbird_pegasus blenderbot blenderbot_small
""".split()
)
BERT_LIKE = tuple(
    """
    bert roberta xlm_roberta camembert electra ernie data2vec_text ibert roberta_prelayernorm
    xlm_roberta_xl megatron_bert rembert roformer mpnet big_bird squeezebert esm
""".split()
)
DECODERS_ALONE = tuple(
    f"{kind}_decoder"
    for kind in """
    bart mbart plbart mvp marian pegasus blenderbot blenderbot_small bigbird_pegasus
""".split()
)
# Families of which one class alone is opened, or whose other heads are of models that are not text.
ONE_HEAD = (
    *DECODERS_ALONE,
    *"""
    trocr whisper emu3_text exaone mllama_text phi4_multimodal moshi fuyu got_ocr2 git
    gpt_neox_japanese apertus layoutlm tapas roc_bert led longt5 switch_transformers t5gemma
    seamless_m4t seamless_m4t_v2 fsmt gemma3n encoder_decoder mamba2 mamba falcon_mamba falcon_h1
""".split(),
)
DINO = ("dinov2", "dinov2_registers")
WITHOUT_HEAD_DIM = (
    *"""
    gpt2 opt bloom albert distilbert gptj codegen gpt_neo gpt_bigcode openai_gpt mpt biogpt ctrl
    xglm bert_generation
""".split(),
    *(kind for kind in BERT_LIKE if kind != "esm"),
    *BART_LIKE,
)

# Modules whose output is what a block adds to the residual stream, in the order in which they run.
ATTN_OUT = {
    "gpt2": r"h\.\d+\.attn$",
    "gpt_neox": r"layers\.\d+\.attention$",
    "gemma2": r"post_attention_layernorm$",
    "gemma3": r"language_model\.layers\.\d+\.post_attention_layernorm$",
    "gemma3_text": r"post_attention_layernorm$",
    "gemma4": r"language_model\.layers\.\d+\.post_attention_layernorm$",
    "gemma4_text": r"post_attention_layernorm$",
    "olmo2": r"post_attention_layernorm$",
    "olmo3": r"post_attention_layernorm$",
    "exaone4": r"post_attention_layernorm$",
    "glm4": r"post_self_attn_layernorm$",
    "afmoe": r"post_attention_layernorm$",
    "kolibri1": r"post_self_attn_layernorm$",
    "flex_olmo": r"post_attention_layernorm$",
    "hyperclovax": r"post_norm1$",
    "bloom": r"self_attention\.dense$",
    "falcon": r"self_attention\.dense$",
    "gptj": r"h\.\d+\.attn$",
    "codegen": r"h\.\d+\.attn$",
    "gpt_neo": r"h\.\d+\.attn$",
    "gpt_bigcode": r"h\.\d+\.attn$",
    "openai_gpt": r"attn\.resid_dropout$",
    "mpt": r"attn\.out_proj$",
    "ctrl": r"multi_head_attention\.dense$",
    "distilbert": r"out_lin$",
    "albert": r"attention\.dense$",
    "modernbert": r"attn\.Wo$",
    "modernbert_decoder": r"attn\.Wo$",
    "layoutlm": r"attention\.output\.dense$",
    "tapas": r"attention\.output\.dense$",
    "roc_bert": r"attention\.output\.dense$",
    "git": r"attention\.output\.dense$",
    "encoder_decoder": r"\.attention\.output\.dense$",
    "gpt_neox_japanese": r"attention$",
    "led": r"\.self_attn$",
    "longt5": r"SelfAttention$",
    "switch_transformers": r"SelfAttention$",
    "t5gemma": r"post_self_attn_layernorm$",
    "bert_generation": r"attention\.output\.dense$",
    "t5": r"SelfAttention$",
    "mt5": r"SelfAttention$",
    "umt5": r"SelfAttention$",
    **dict.fromkeys(BERT_LIKE, r"attention\.output\.dense$"),
    "mpnet": r"attn\.o$",
    "squeezebert": r"post_attention\.conv1d$",
    "deberta": r"attention\.output\.dense$",
    "deberta_v2": r"attention\.output\.dense$",
    "luke": r"attention\.output\.dense$",
    "xlm": r"out_lin$",
    "flaubert": r"out_lin$",
    "dinov2": r"layer_scale1$",
    "dinov2_registers": r"layer_scale1$",
    "vit": r"attention\.(output\.dense|o_proj)$",
}
BANDS = ("led", "longt5")  # their encoders return patterns as bands, at times n wide by chance
CROSS_OUT = {
    "t5": r"EncDecAttention$",
    "mt5": r"EncDecAttention$",
    "umt5": r"EncDecAttention$",
    "longt5": r"EncDecAttention$",
    "switch_transformers": r"EncDecAttention$",
    "t5gemma": r"post_cross_attn_layernorm$",
    "encoder_decoder": r"crossattention\.output\.dense$",
    "led": r"encoder_attn$",
    "fsmt": r"encoder_attn$",
    "seamless_m4t": r"cross_attention$",
    "seamless_m4t_v2": r"cross_attention$",
    **dict.fromkeys(BART_LIKE, r"encoder_attn$"),
}

# Classes of a family's module that are no model of the same layers with another head.
HALVES = {
    **dict.fromkeys(BART_LIKE, "Decoder|Encoder|CausalLM"),
    "t5": "Stack|Encoder|Token",
    "mt5": "Stack|Encoder|Token",
    "gemma3": "Text|CausalLM|Classification",
    "gemma3_text": "Gemma3Model|Conditional|Gemma3ForSequence",
    "umt5": "Stack|Encoder|Token",
    "gemma3n_text": "Gemma3nModel|Conditional|Audio|Vision",
    "gemma4": "Text|CausalLM|Audio|Vision",
    "gemma4_text": "Gemma4Model|Conditional|Audio|Vision",
    "aria_text": "^Aria(?!Text)",
    "llama4_text": "^Llama4(?!Text|ForCausal)",
    "qwen3_5_text": "^Qwen3_5(?!Text|ForCausal)",
    "qwen3_5_moe_text": "^Qwen3_5Moe(?!Text|ForCausal)",
}
