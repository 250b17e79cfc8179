"""A model fetched from the Hugging Face hub by the window."""

import shutil
import tempfile
import time
from pathlib import Path

from drive import Window
from hub_server import Hub, pull
from places import PROGRAM, REFERENCE


def a_model_comes_from_the_hub(display):
    """By name and by a suggestion; refused in a sentence, cancelled, gone on with, opened, and in
    the list then."""
    held = lambda name: {
        f.name: f.read_bytes()
        for f in (REFERENCE / name).iterdir()
        if not f.name.startswith(("cases", "expected"))
    }
    home = Path(tempfile.mkdtemp(prefix="headlight-hub-"))
    pickle = {"pytorch_model.bin": b"pickle"}
    with Hub(
        {
            "tiny/gpt2": {
                name: data for name, data in held("gpt2").items() if name != "model.safetensors"
            }
            | pickle,
            "EleutherAI/pythia-70m": held("gpt_neox"),
        }
    ) as hub:
        hub.pulls["tiny/gpt2"] = [pull(2, held("gpt2") | pickle)]
        place = {
            "HF_HOME": str(home),
            "HF_ENDPOINT": hub.endpoint,
            "HF_HUB_CACHE": "",
            "HF_HUB_OFFLINE": "",
            "HF_TOKEN": "",
            "http_proxy": "",
        }
        with Window(PROGRAM, display, "--text", "Lily had", environment=place) as w:
            w.settled()
            w.key("ctrl+o")
            r = w.wait(lambda r: "hub/get" in r["widgets"] and "models/stories" in r["widgets"])
            assert (
                sum(path.startswith("hub/") and path.count("/") == 2 for path in r["widgets"]) == 6
            ), "six to begin with"
            w.click("hub/openai-community/gpt2")
            r = w.wait(lambda r: r["fetch_error"] and "hub/error" in r["widgets"])
            assert "no model of that name" in r["fetch_error"]
            assert r["model"] == "stories", r["fetch_error"]
            hub.slow = 0.1
            w.click("hub/EleutherAI/pythia-70m")
            w.wait(
                lambda r: (
                    r["fetching"] and "hub/cancel" in r["widgets"] and "hub/get" not in r["widgets"]
                )
            )
            part = lambda: sum(f.stat().st_size for f in home.rglob("*.incomplete"))
            w.wait(lambda r: part() > 30_000)
            w.click("hub/cancel")
            w.wait(lambda r: not r["fetching"] and "hub/get" in r["widgets"])
            assert part() > 30_000
            assert not w.report()["fetch_error"], (
                "what came is kept, and users are not told their own actions"
            )
            hub.slow = 0
            w.click("hub/EleutherAI/pythia-70m")
            r = w.wait(lambda r: r["fetched"] and "hub/open" in r["widgets"])
            assert r["model"] == "stories"
            assert not r["opening"], "nothing is opened before that is asked for"
            w.click("hub/open")
            r = w.wait(
                lambda r: (
                    r["model"] == "EleutherAI/pythia-70m"
                    and not r["busy"]
                    and not r["model_menu"]
                    and not r["fetched"]
                )
            )
            assert any(
                "Range" in headers for _, _, path, headers in hub.requests if "safetensors" in path
            )
            w.key("ctrl+o")
            w.wait(lambda r: r["model_menu"] and r["typing"] and "hub/get" in r["widgets"])
            w.fill("hub", "tiny/gpt2", lambda r: r["hub_typed"] == "tiny/gpt2")
            w.key("Return")
            w.wait(lambda r: r["fetched"] and "refs/pr/2" in r["notice"])
            w.key("Escape")
            w.wait(lambda r: not r["model_menu"] and "fetched/dismiss" in r["widgets"])
            w.click("fetched/open")
            w.wait(
                lambda r: (
                    r["model"] == "tiny/gpt2"
                    and not r["busy"]
                    and "fetched/open" not in r["widgets"]
                )
            )
            w.key("ctrl+o")
            w.wait(
                lambda r: {"models/EleutherAI/pythia-70m", "models/tiny/gpt2"} <= set(r["widgets"])
            )
            w.key("Escape")
            hub.slow = 0.1
        with Window(
            PROGRAM,
            display,
            "--text",
            "Lily had",
            "--model",
            "tiny/gpt2",
            "--do",
            "fetch EleutherAI/pythia-70m; open fetched",
            environment=place,
        ) as w:
            assert w.wait(lambda r: r["model"] == "EleutherAI/pythia-70m" and not r["busy"])[
                "model"
            ]
            shutil.rmtree(home)
            w.key("ctrl+o")
            w.click("hub/EleutherAI/pythia-70m")
            w.wait(lambda r: r["fetching"])
            begin = time.time()
            assert w.close()[0] == 0 and time.time() - begin < 5, "a fetch holds no window open"
    shutil.rmtree(home, ignore_errors=True)
