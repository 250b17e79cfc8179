"""Live models that read a picture alone: tokens, patterns, streams and changes, beside what
transformers gives."""

import tempfile
from pathlib import Path

import headlight
import numpy as np
import picture_models
import torch
import transformers
from engine_client import Client
from given_live_architectures import WORST, near, zeroed
from given_live_pictures import EVERY, OTHER, PICTURE, encoded, lost
from given_live_requests import refusal
from headlight.engine.command import load, parser
from PIL import Image

WIDE = picture_models.pixels(32, 64)
GLOBS = [glob for glob in EVERY if glob != "logits"]
# Class, image processor, settings, tokens before the patches.
KINDS = {
    "vit": (("ViT",), ["[CLS]"]),
    "classifier": (("ViTForImageClassification",), ["[CLS]"]),
    "siglip": (("SiglipVisionModel", "Siglip"), []),
    "clip": (("CLIPVisionModel", "CLIP"), ["[CLS]"]),
    "dinov2": (("Dinov2WithRegisters",), ["[CLS]", "[REG0]", "[REG1]"]),
    "dinov3": (("DINOv3ViT",), ["[CLS]", "[REG0]", "[REG1]"]),
    "deit": (("DeiT",), ["[CLS]", "[REG0]"]),
}


def made(kind):
    more = {"num_register_tokens": 2} if kind.startswith("dino") else {}
    if kind == "classifier":
        config = transformers.ViTConfig(**picture_models.VISION, num_labels=5)
        return picture_models.random_model("ViTForImageClassification", config), (
            picture_models.square("ViT")
        )
    return picture_models.alone(*KINDS[kind][0], **more)


def pictures_are_read_alone():
    for kind, (_, before) in KINDS.items():
        model, processor = made(kind)
        with headlight.live(model, processor) as server, Client(server.address) as client:
            told, _ = client.ask("describe")
            assert told["pictures"] == "alone" and told["kind"] == "encoder", told
            assert told["tokenizer"] is None and len(told["blocks"]) == 2
            header, _ = client.ask("encode", {"picture": PICTURE})
            first, count = len(before), 16
            want = {"first": first, "rows": 4, "columns": 4, "count": count}
            assert {n: header["picture"][n] for n in want} == want, header["picture"]
            assert header["tokens"] == before + [f"{i // 4},{i % 4}" for i in range(count)]
            assert header["ids"] == list(range(first + count))
            name = header["picture"]["name"]
            run, got = client.ask("run", ids=header["ids"], picture=name, capture=GLOBS)
            arguments = processor(images=[Image.fromarray(PICTURE)], return_tensors="pt")
            out = hidden(model, arguments)
            for layer, at in enumerate(run["rules"]):
                near(f"{kind} {at}", got[at + ".hook_pattern"], out.attentions[layer][0])
                near(
                    f"{kind} {at}",
                    got[f"blocks.{layer}.hook_resid_pre"],
                    out.hidden_states[layer][0],
                )
            assert run["sides"]["input"]["tokens"] == header["tokens"]
    print(f"     largest error {WORST[0]:.1e}")


def hidden(model, arguments):
    own = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = model(**arguments, output_attentions=True, output_hidden_states=True)
    model.set_attn_implementation(own)
    return out


def changes_act_on_patches():
    model, processor = made("vit")
    arguments = processor(images=[Image.fromarray(PICTURE)], return_tensors="pt")
    layers = [m for n, m in model.named_modules() if n.endswith(("layer.1", "layers.1"))]
    with headlight.live(model, processor) as server, Client(server.address) as client:
        given, other = encoded(client, None), encoded(client, None, OTHER)
        ask = lambda **more: client.ask("run", **{**given, **more}, capture=GLOBS)[1]
        attention = [
            m for n, m in layers[0].named_modules() if n.endswith(("attention.output", "o_proj"))
        ]
        held = zeroed(attention[-1])
        want = hidden(model, arguments).hidden_states[2][0]
        held.remove()
        near("skip-attention", ask(changes=["skip-attention:1"])["blocks.1.hook_resid_post"], want)
        a, b = ask(), ask(picture=other["picture"])
        name = "blocks.1.hook_resid_pre"
        assert np.abs(a[name] - b[name]).max() > 1e-2, "another picture"
        rows = {"rows.0": b[name]}
        _, got = client.ask("run", rows, **given, capture=GLOBS, changes=["patch-resid:*@1"])
        near("patched", got["blocks.1.hook_resid_post"], b["blocks.1.hook_resid_post"])
        masked = ask(mask="window:2")["blocks.0.attn.hook_pattern"]
        assert masked[:, 0, 2:].max() == 0


def what_a_picture_alone_cannot_be_asked_is_said():
    model, processor = made("classifier")
    with headlight.live(model, processor) as server:
        with Client(server.address) as client:
            given = encoded(client, None)
            for fields in ({}, {"text": "a"}, {"ids": [0, 1]}):
                assert "picture" in refusal(lambda: client.ask("run", **fields))
            assert "picture" in refusal(lambda: client.ask("encode", text="a"))
            assert "no text" in refusal(
                lambda: client.ask("encode", text="a", picture=given["picture"])
            )
            for ids in ([0, 1], given["ids"][::-1], [*given["ids"], 17]):
                said = refusal(lambda: client.ask("run", ids=ids, picture=given["picture"]))
                assert "0 to 16" in said, said
            for verb, more in (
                ("outcomes", {"cases": [[]]}),
                ("gradient", {"metric": "#1"}),
                ("run", {"capture": ["logits"]}),
                ("generate", {}),
                ("run", {"changes": ["patch-resid:1@1=a text"]}),
                ("run", {"changes": ["noise:1=3"]}),
                ("run", {"changes": ["positions:off"]}),
            ):
                said = refusal(lambda: client.ask(verb, **given, **more))
                assert len(said) < 300, said
            for verb in ("lens", "decode", "chat"):
                refusal(lambda: client.ask(verb))
            assert "pictures" in refusal(lambda: client.ask("weights"))
        with Client(server.address) as client:
            lost(client, given["picture"], given["ids"])
    sizes = {"image_size": 32, "patch_size": 4, "embed_dim": 8, "window_size": 4}
    config = transformers.SwinConfig(**sizes, depths=[1, 1], num_heads=[2, 2])
    swin = picture_models.random_model("SwinModel", config)
    large = picture_models.square("ViT", 64)
    for held in ((model,), (swin, processor), (model, large)):
        try:
            headlight.live(*held).close()
            raise AssertionError("it was served")
        except headlight.HeadlightError as problem:
            assert "image processor" in str(problem) or "one sequence" in str(problem), problem


def folders_are_served_with_their_processors():
    """`python -m headlight live FOLDER`: a processor, an image processor, or a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("llava", "clip"):
            model, processor = picture_models.llava() if kind == "llava" else made(kind)
            path = Path(folder) / kind
            model.save_pretrained(path)
            processor.save_pretrained(path)
            served, held = load(parser().parse_args([str(path), "--dtype", "float32"]))
            assert type(served) is type(model)
            with headlight.live(served, held) as server, Client(server.address) as client:
                given = encoded(client, "a" if kind == "llava" else None)
                client.ask("run", **given)
        (Path(folder) / "llava/processor_config.json").write_text('{"processor_class": "None"}')
        served, held = load(parser().parse_args([str(Path(folder) / "llava")]))
        with headlight.live(served, held) as server, Client(server.address) as client:
            assert client.ask("describe")[0]["pictures"] is None
            client.ask("run", text="a")


def what_a_processor_crops_is_said():
    """CLIP's reads the middle: other pixels beside it change nothing."""
    model, processor = made("clip")
    with headlight.live(model, processor) as server, Client(server.address) as client:
        told = client.ask("encode", {"picture": WIDE})[0]["picture"]
        assert told["seen"] == [16.0, 0.0, 32.0, 32.0], told
        beside = WIDE.copy()
        beside[:, :14] = 0
        both = [processor(images=[Image.fromarray(p)], return_tensors="pt") for p in (WIDE, beside)]
        assert torch.equal(both[0]["pixel_values"], both[1]["pixel_values"])
        square = picture_models.pixels(32, 32)
        whole = client.ask("encode", {"picture": square})[0]["picture"]
        assert "seen" not in whole, whole
