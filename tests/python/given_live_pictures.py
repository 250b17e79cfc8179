"""Live models that read a picture beside a text: what is served equals what transformers computes
of what the model's processor gives."""

import random

import headlight
import numpy as np
import picture_models
import torch
from engine_client import Client, Refused, pattern
from given_live_architectures import WORST, near, zeroed
from given_live_frames import VALUES
from given_live_requests import refusal, steps
from headlight.engine.fields import FIELDS
from headlight.engine.model import LiveModel
from headlight.engine.requests import Requests
from PIL import Image

TEXT = "a red ball"
PICTURE = picture_models.pixels()
OTHER = picture_models.pixels(seed=1)
EVERY = ["*hook_pattern", "*hook_q", "*hook_k", "*hook_resid_*", "logits"]


def of_processor(processor, text, picture=PICTURE, **more):
    out = processor(images=[Image.fromarray(picture)], text=[text], return_tensors="pt", **more)
    return {name: value for name, value in out.items() if name != "labels"}


def eager(model, arguments):
    """Attentions, hidden states and logits, by transformers alone."""
    own = model.config._attn_implementation
    model.set_attn_implementation("eager")
    more = {"output_attentions": True, "output_hidden_states": True, "use_cache": False}
    with torch.no_grad():
        out = model(**arguments, **more)
    model.set_attn_implementation(own)
    return out


def equal(what, header, got, out):
    """A run beside transformers' pass: patterns, what q and k say, the stream, logits."""
    near(f"{what} logits", got["logits"], out.logits[0])
    assert len(header["rules"]) == len(out.attentions), f"{what}: other blocks than the text's"
    for at, want in zip(header["rules"], out.attentions):
        near(f"{what} {at}", got[at + ".hook_pattern"], want[0])
        for head in range(len(want[0])) if header["rules"][at]["says"] else ():
            near(
                f"{what} {at}.{head} of q and k",
                pattern(got, header["rules"], at, head),
                want[0, head],
            )
    for layer, want in enumerate(out.hidden_states[:-1]):
        near(f"{what} stream {layer}", got[f"blocks.{layer}.hook_resid_pre"], want[0])


def pictures_are_read_beside_texts():
    """As the processor spells them, with and without the placeholder in the text."""
    for family, make in picture_models.BESIDE.items():
        model, processor = make()
        with headlight.live(model, processor) as server, Client(server.address) as client:
            told, _ = client.ask("describe")
            assert told["pictures"] == "beside" and told["kind"] in ("decoder", "encoder"), told
            first, _ = client.ask("encode", {"picture": PICTURE}, text=TEXT)
            held = first["picture"]
            assert held["rows"] * held["columns"] == held["count"] > 3, held
            begin, token = held["first"], processor.image_token
            labels = first["tokens"][begin : begin + held["count"]]
            assert (
                labels[held["columns"] + 1] == "1,1"
                and labels == first["labels"][begin:][: len(labels)]
            )
            for text in (TEXT, f"see {token} here", ""):
                header, _ = client.ask("encode", text=text, picture=held["name"])
                given = text if token in text else spelled(processor) + text
                arguments = of_processor(processor, given)
                assert header["ids"] == arguments["input_ids"][0].tolist(), f"{family} {text}"
                typed(text, token, header)
                run, got = client.ask("run", ids=header["ids"], picture=held["name"], capture=EVERY)
                equal(f"{family} {text}", run, got, eager(model, arguments))
                assert run["sides"]["input"]["labels"] == header["labels"]
    print(f"     largest error {WORST[0]:.1e}")


def spelled(processor):
    """A picture before a text, as the chat templates of these models write it."""
    if not processor.chat_template:
        return processor.image_token
    parts = [{"type": "image"}, {"type": "text", "text": "|"}]
    text = processor.apply_chat_template([{"role": "user", "content": parts}], tokenize=False)
    return text.removeprefix("user: ").partition("|")[0]


def typed(text, token, header):
    """Offsets name each letter that was typed once, and nothing else."""
    spans = [span for span in header["offsets"] if span[0] < span[1]]
    letters = [
        i for i in range(len(text)) if not text.find(token) <= i < text.find(token) + len(token)
    ]
    if token not in text:
        letters = list(range(len(text)))
    assert spans == [[i, i + 1] for i in letters], f"{text}: {spans}"
    first, count = header["picture"]["first"], header["picture"]["count"]
    assert all(span == [0, 0] for span in header["offsets"][first : first + count])


def encoded(client, text=TEXT, picture=PICTURE):
    """Ids of a text with the picture, and its name."""
    header, _ = client.ask("encode", {"picture": picture}, text=text)
    return {"ids": header["ids"], "picture": header["picture"]["name"]}


def changes_act_as_hooks_do():
    """On heads, layers and rows, patches of another text, and several cases at once."""
    for family in ("llava", "qwen2_vl"):
        model, processor = picture_models.BESIDE[family]()
        layer = model.model.language_model.layers[1]
        arguments = of_processor(processor, spelled(processor) + TEXT)
        other = of_processor(processor, spelled(processor) + "a blue box")
        read = lambda held=arguments: eager(model, held).logits[0]
        with headlight.live(model, processor) as server, Client(server.address) as client:
            given = encoded(client)
            ask = lambda *changes: client.ask("run", **given, capture=["logits"], changes=changes)[
                1
            ]
            hooks = {
                "ablate:1.2": lambda: zeroed(layer.self_attn.o_proj, slice(16, 24), before=True),
                "skip-attention:1": lambda: zeroed(layer.self_attn),
                "skip-mlp:1": lambda: zeroed(layer.mlp),
            }
            for change, hook in hooks.items():
                held = hook()
                want = read()
                held.remove()
                near(f"{family} {change}", ask(change)["logits"], want)
            rows = []
            held = layer.register_forward_pre_hook(lambda _, given: rows.append(given[0].clone()))
            read(other)
            held.remove()
            held = layer.register_forward_pre_hook(lambda _, given: (put(given[0], rows[0]),))
            want = read()
            held.remove()
            near(f"{family} patch", ask("patch-resid:9-12@1=a blue box")["logits"], want)
            cases = [[], ["ablate:1.2"], ["skip-mlp:0", "mask:20>3"], ["positions:off"]]
            _, several = client.ask("outcomes", **given, cases=cases)
            for changes, row in zip(cases, several["logits"]):
                near(f"{family} {changes}", row, ask(*changes)["logits"][-1])
            _, by = client.ask("gradient", **given, metric="#5 - #7", by=["*1.hook_resid_pre"])
            near(
                f"{family} gradient",
                by["blocks.1.hook_resid_pre"],
                gradient(model, layer, arguments),
            )


def put(rows, source):
    """Rows with the 9th to the 12th of another text."""
    rows = rows.clone()
    rows[:, 9:13] = source[:, 9:13]
    return rows


def gradient(model, layer, arguments):
    seen = []
    hook = layer.register_forward_pre_hook(
        lambda _, given: (seen.append(given[0]), given[0].retain_grad()) and None
    )
    out = model(**arguments).logits[0, -1]
    (out[5] - out[7]).backward()
    hook.remove()
    return seen[0].grad[0]


def texts_and_pictures_reuse_nothing_of_each_other():
    """A text after a picture, and a picture after another, are what a fresh server gives."""
    for family in ("llava", "qwen2_vl"):
        model, processor = picture_models.BESIDE[family]()
        ids = list(range(60, 80))
        everything = ["*hook_k", "*hook_resid_post", "logits"]
        with headlight.live(model, processor) as server, Client(server.address) as client:
            ask = lambda have, **more: client.ask(
                "run", capture=everything, **{"from": have}, **more
            )
            given, other = encoded(client), encoded(client, picture=OTHER)
            _, fresh = ask(0, ids=ids)
            _, first = ask(0, **given)
            for have, fields, want, reused in (
                (12, {"ids": ids}, fresh, 0),
                (0, {"ids": ids[:12]}, None, 0),
                (12, {"ids": ids}, fresh, 12),
                (20, given, first, 0),
                (20, other, None, 0),
                (20, given, first, 0),
                (12, {"ids": ids}, fresh, 0),
                (12, {"ids": ids}, fresh, 12),
            ):
                header, got = ask(have, **fields)
                begin = header["from"]
                assert begin == reused, f"{family} reuses {begin} rows"
                for name in want or ():
                    near(f"{family} {name}", got[name], want[name][begin:])
            plain = client.ask("run", ids=given["ids"], capture=["logits"])[1]["logits"]
            assert np.abs(plain - first["logits"]).max() > 1e-2, "a text alone has no picture"
            changed = ask(0, **other)[1]["logits"]
            assert np.abs(changed - first["logits"]).max() > 1e-2, "another picture"


def texts_are_continued_as_transformers_does():
    for family, make in picture_models.BESIDE.items():
        model, processor = make()
        arguments = of_processor(processor, spelled(processor) + TEXT)
        with torch.no_grad():
            want = model.generate(**arguments, max_new_tokens=6, do_sample=False, eos_token_id=[])
        with headlight.live(model, processor) as server, Client(server.address) as client:
            got, done = steps(client, **encoded(client), tokens=6, stop=[])
        got, want = [s["ids"] for s in got], want[0, arguments["input_ids"].shape[1] :].tolist()
        assert done == "length" and got == want, f"{family}: {got} are not {want}"


def tiles_are_counted_where_they_make_no_grid():
    model, processor = picture_models.idefics3(split=True)
    arguments = of_processor(processor, "<image>" + TEXT)
    with headlight.live(model, processor) as server, Client(server.address) as client:
        header, _ = client.ask("encode", {"picture": PICTURE}, text=TEXT)
        held, ids = header["picture"], arguments["input_ids"][0].tolist()
        assert header["ids"] == ids and held["rows"] == held["columns"] == 0
        last = len(ids) - ids[::-1].index(3)
        assert (held["first"], held["count"]) == (ids.index(3), last - ids.index(3))
        assert header["tokens"][held["first"]] == "img 0" and "<row_1_col_2>" in header["tokens"]
        run, got = client.ask("run", ids=ids, picture=held["name"], capture=EVERY)
        equal("tiles", run, got, eager(model, arguments))


def conversations_show_a_picture():
    model, processor = picture_models.llava()
    parts = [{"type": "image"}, {"type": "text", "text": TEXT}]
    messages = [{"role": "user", "content": parts}]
    with headlight.live(model, processor) as server, Client(server.address) as client:
        assert client.ask("describe")[0]["can"]["chat"]
        said = refusal(lambda: client.ask("chat", messages=messages))
        assert "picture" in said, said
        name = encoded(client)["picture"]
        told, _ = client.ask("chat", messages=messages, picture=name)
        text = processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        want = of_processor(processor, text, add_special_tokens=False)
        assert told["text"] == text and told["ids"] == want["input_ids"][0].tolist()
        assert told["picture"]["count"] == 16
        plain = [{"role": "user", "content": "hi"}]
        assert "picture" not in client.ask("chat", messages=plain, picture=name)[0]
        twice = [{"role": "user", "content": [*parts, *parts]}]
        assert "2 times" in refusal(lambda: client.ask("chat", messages=twice, picture=name))


def pictures_are_kept_for_their_client():
    """Four of them, by name, until it leaves."""
    model, processor = picture_models.llava()
    with headlight.live(model, processor) as server:
        with Client(server.address) as client:
            names = [
                encoded(client, picture=picture_models.pixels(8, 8, seed))["picture"]
                for seed in range(5)
            ]
            assert len(set(names)) == 5
            again = encoded(client, picture=picture_models.pixels(8, 8, 4))
            assert again["picture"] == names[4], "a name is a digest of the pixels"
            for name in names[1:]:
                client.ask("encode", text=TEXT, picture=name)
            client.ask("run", **again)
            lost(client, names[0], again["ids"])
        with Client(server.address) as client:
            lost(client, names[4], again["ids"])
            held = encoded(client, picture=picture_models.pixels(8, 8, 4))
            client.ask("run", **held)


def lost(client, name, ids):
    for verb, more in (("encode", {"text": ""}), ("run", {"ids": ids})):
        try:
            client.ask(verb, picture=name, **more)
            raise AssertionError(f"{verb} knew a picture that is gone")
        except Refused as problem:
            assert problem.code == "picture" and name in str(problem), problem


def what_is_no_picture_is_said():
    model, processor = picture_models.llava()
    with headlight.live(model, processor) as server, Client(server.address) as client:
        given = encoded(client)
        for wrong in (
            PICTURE.astype(np.float32),
            PICTURE[:, :, :2].copy(),
            PICTURE[0],
            PICTURE[:0],
            np.zeros((8001, 8000, 3), np.uint8),
            np.zeros((1, 201, 3), np.uint8),
        ):
            said = refusal(lambda: client.ask("encode", {"picture": wrong}, text=TEXT))
            assert "icture" in said and len(said) < 300, said
        for small in ((1, 1), (1, 7), (3, 5), (200, 1)):
            client.ask("run", **encoded(client, picture=picture_models.pixels(*small)))
        given = encoded(client)
        ids = given["ids"]
        for wrong in (ids[1:2], ids[5:], [*ids, 3], [70, 71], ids[:4] + [70] + ids[4:], []):
            said = refusal(lambda: client.ask("run", **{**given, "ids": wrong}))
            assert "tokens of a picture" in said and "needs 16" in said, said
        assert "name it" in refusal(lambda: client.ask("run", {"picture": PICTURE}, ids=ids))
        for more in ({"pair": "b"}, {"target": "b"}):
            assert "beside one text" in refusal(
                lambda: client.ask("encode", text=TEXT, picture=given["picture"], **more)
            )
        assert "2 times" in refusal(
            lambda: client.ask("encode", text="<image><image>", picture=given["picture"])
        )
        assert "another type" in refusal(lambda: client.ask("run", ids=ids, picture=7))


def models_of_texts_refuse_pictures():
    model, processor = picture_models.llava()
    uniform = lambda ids: np.full((2, 3, len(ids), len(ids)), 1 / len(ids), np.float32)
    for held in ((model.model.language_model, processor.tokenizer), (model,), (uniform,)):
        with headlight.live(*held) as server, Client(server.address) as client:
            assert not client.ask("describe")[0].get("pictures")
            for verb in ("encode", "run"):
                for tensors, more in (({"picture": PICTURE}, {}), ((), {"picture": "a"})):
                    said = refusal(
                        lambda: (
                            client.ask(verb, tensors, ids=[5, 6], **more)
                            if verb == "run"
                            else client.ask(verb, tensors, text="a", **more)
                        )
                    )
                    assert "picture" in said, said


def random_fields_with_a_picture_get_a_sentence():
    """Requests that name a picture, and have others' fields of any type."""
    model, processor = picture_models.llava()
    answers, draw = Requests(LiveModel(model, processor)), random.Random(5)
    told = next(answers.answer("encode", {"text": TEXT}, {"picture": PICTURE}, lambda: False))
    name, ids, said = told.header["picture"]["name"], told.header["ids"], 0
    for _ in range(60):
        verb = draw.choice("encode chat run generate outcomes gradient".split())
        fields = {name: draw.choice(VALUES) for name in FIELDS[verb] if draw.random() < 0.4}
        fields |= {"picture": draw.choice([name, name, *VALUES])}
        if draw.random() < 0.7 and "ids" in FIELDS[verb]:
            fields["ids"] = draw.choice([ids, ids[3:]])
        if verb == "generate":
            fields["tokens"] = 1
        try:
            for _ in answers.answer(verb, fields, {}, lambda: False):
                pass
        except headlight.HeadlightError as problem:
            said += 1
            assert "\n" not in str(problem) and len(str(problem)) < 400, problem
    assert said > 10
