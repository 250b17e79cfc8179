"""The program as a client of live models that read pictures: what it shows equals what transformers
computes of what the processor gives."""

import json
import tempfile
from pathlib import Path

import headlight
import numpy as np
import picture_models
import torch
from given_live_images import made
from given_live_pictures import PICTURE, TEXT, eager, of_processor
from given_live_program import WORST, numbers, ran, values
from PIL import Image


def shown(address, path, *options):
    """A head's map by the program: labels and weights."""
    view = ("--view", "head", "--head", "1.1", "--image", path)
    return numbers("--engine", address, *view, *options)[0]


def near(what, table, want):
    error = float(np.abs(np.nan_to_num(values(table)) - want.numpy()).max())
    WORST[0] = max(WORST[0], error)
    assert error <= 2e-5, f"{what}: {error:.1e}"


def saved(folder):
    path = Path(folder) / "picture.png"
    Image.fromarray(PICTURE).save(path)
    return path


def pictures_are_shown_beside_texts():
    for family in ("llava", "qwen2_vl"):
        model, processor = picture_models.BESIDE[family]()
        with tempfile.TemporaryDirectory() as folder, headlight.live(model, processor) as server:
            path = saved(folder)
            spelled = ("<image>\n" if family == "llava" else "<vs><image><ve>") + TEXT
            arguments = of_processor(processor, spelled)
            out = eager(model, arguments)
            table = shown(server.address, path, "--text", TEXT)
            near(family, table, out.attentions[1][0, 1])
            assert "0,0" in table["rows"] and "0,0" in table["columns"], table["rows"]
            done = ran("generate", "--engine", server.address, "--text", TEXT, "--image", path)
            assert done.returncode == 0, done.stderr
            said = ("--text", TEXT, "--image", path, "--tokens", "4", "--json")
            done = ran("generate", "--engine", server.address, *said)
            with torch.no_grad():
                own = model.generate(**arguments, max_new_tokens=4, do_sample=False)
            written = [step["id"] for step in json.loads(done.stdout)["steps"]]
            own = own[0, arguments["input_ids"].shape[1] :].tolist()
            assert written == own, (family, written, own)


def patches_are_never_left_out():
    """Leaving out runs the text without each of its parts; the image is no such part."""
    model, processor = picture_models.BESIDE["llava"]()
    with tempfile.TemporaryDirectory() as folder, headlight.live(model, processor) as server:
        said = ("--engine", server.address, "--text", TEXT, "--image", saved(folder), "--json")
        done = ran("attribute", *said)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        runs = int(told["note"].split()[1])
        patches = sum("," in token for token in told["tokens"])
        assert "the image stays" in told["note"], told["note"]
        assert 0 < runs <= len(told["tokens"]) - patches, told["note"]


def conversations_have_pictures():
    model, processor = picture_models.BESIDE["qwen2_vl"]()
    with tempfile.TemporaryDirectory() as folder, headlight.live(model, processor) as server:
        path = saved(folder)
        chat = Path(folder) / "chat.json"
        chat.write_text(json.dumps([{"role": "user", "content": TEXT}]))
        table = shown(server.address, path, "--chat", chat)
        content = [{"type": "image"}, {"type": "text", "text": TEXT}]
        spelled = processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True
        )
        out = eager(model, of_processor(processor, spelled, add_special_tokens=False))
        near("a conversation", table, out.attentions[1][0, 1])


def pictures_alone_are_shown():
    model, processor = made("dinov2")
    with tempfile.TemporaryDirectory() as folder, headlight.live(model, processor) as server:
        path = saved(folder)
        table = shown(server.address, path)
        given = processor(images=[Image.fromarray(PICTURE)], return_tensors="pt")
        near("DINOv2", table, eager(model, dict(given)).attentions[1][0, 1])
        assert table["rows"][:4] == ["[CLS]", "[REG0]", "[REG1]", "0,0"], table["rows"][:4]
        none = ran("heads", "--engine", server.address, "--text", "words")
        assert none.returncode == 1 and "--image" in none.stderr, none.stderr
        done = ran(
            "render", "--view", "picture", "--engine", server.address, "--image", path, "-o",
            Path(folder) / "x.png",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


def a_model_of_texts_refuses_a_picture():
    from given_live_native import loaded

    model, tokenizer = loaded("gpt2", "AutoModelForCausalLM")
    with tempfile.TemporaryDirectory() as folder, headlight.live(model, tokenizer) as server:
        said = ("--engine", server.address, "--text", "the cat", "--image", saved(folder))
        done = ran("heads", *said)
        assert done.returncode == 1 and "reads text, not images" in done.stderr, done.stderr
