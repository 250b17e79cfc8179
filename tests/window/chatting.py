"""A conversation in the window: written, answered, edited, its turns compared and masked."""

import os
import subprocess

from drive import Window
from places import PROGRAM, REFERENCE

CHAT = ("--model", REFERENCE / "qwen3", "--text", "The cat sat", "--report-texts")


def _ready(w, roles, condition=lambda r: True):
    return w.wait(lambda r: r.get("turns") == roles and not r["busy"] and condition(r))


def a_conversation_is_written_answered_and_masked(display):
    """The draft is read live; Enter sends it and the model answers; the next message keeps the
    answer; a system prompt comes first; a mask of its turn goes on and off."""
    with Window(PROGRAM, display, *CHAT) as w:
        w.settled()
        w.click("chat/way/Chat")
        _ready(w, ["user", "assistant"], lambda r: r["view"] == "Chat")
        w.click("sentence")
        w.key("Return")
        r = _ready(w, ["user", "assistant"], lambda r: r.get("written") and r["text"] == "")
        answer = r["written"]["labels"]
        assert answer, r["written"]
        w.type("Where")
        _ready(w, ["user", "assistant", "user", "assistant"], lambda r: r["text"] == "Where")
        w.key("ctrl+a", "BackSpace")
        _ready(w, ["user", "assistant"], lambda r: r["text"] == "" and not r.get("written"))
        w.type("Who sat")
        w.key("Return")
        roles = ["user", "assistant"] * 2
        _ready(w, roles, lambda r: r.get("written") and r["text"] == "")
        w.click("chat/system")
        w.wait(lambda r: r["field_focused"])
        w.type("Be kind")
        w.key("Return")
        _ready(w, ["system", *roles], lambda r: r.get("written") and r["text"] == "")
        w.point("chat/row/0", 0.5, 0.5)
        w.click("chat/0/mask")
        r = _ready(w, ["system", *roles], lambda r: r["changes"] == 1)
        assert r["change_list"][0].startswith("mask:"), r["change_list"]
        w.wait(lambda r: "chat/turns/before" in r["widgets"] and "chat/changes" in r["widgets"])
        assert "system 0 masked" in " ".join(w.report()["texts"]), w.report()["texts"]
        w.point("chat/row/0", 0.5, 0.5)
        w.click("chat/0/mask")
        _ready(w, ["system", *roles], lambda r: r["changes"] == 0)
        w.key("ctrl+z")
        _ready(w, ["system", *roles], lambda r: r["changes"] == 1)


def a_cell_of_turns_ranks_heads_and_locks_a_pair(display):
    with Window(PROGRAM, display, *CHAT, "--do", "chat on; view chat") as w:
        _ready(w, ["user", "assistant"])
        w.wait(lambda r: "chat/turns" in r["widgets"])
        x, y, wide, high = w.report()["widgets"]["chat/turns"]
        w.click("chat/turns", 0.25, 0.75)  # assistant → user
        r = w.wait(lambda r: r["chat_attended"] == 0 and r["locked"])
        assert r["chat_asked"] == 1, r["chat_asked"]
        query, key = r["locked"]
        assert key < query
        w.wait(lambda r: any(path.startswith("chat/ranked/") for path in r["widgets"]))
        for view in ("Lines", "Text"):  # show the pair alone, until its sign is clicked
            w.show(view)
            w.wait(lambda r: "turns" in r["widgets"] and not r["busy"])
        w.click("turns")
        w.wait(lambda r: r["chat_attended"] == -1 and "turns" not in r["widgets"])
        w.click("chat/way/Text")
        w.wait(
            lambda r: r.get("turns") is None and not r["busy"] and r["shown_text"] == "The cat sat"
        )


def a_message_is_edited_and_removed(display):
    with Window(PROGRAM, display, *CHAT, "--do", "chat on; view chat") as w:
        _ready(w, ["user", "assistant"])
        w.click("sentence")
        w.key("Return")
        _ready(w, ["user", "assistant"], lambda r: r.get("written") and r["text"] == "")
        w.point("chat/row/0", 0.5, 0.5)
        w.click("chat/0/edit")
        w.wait(lambda r: r["text"] == "The cat sat" and r["field_focused"])
        w.key("End")
        w.type(" down")
        w.key("shift+Return")
        w.wait(lambda r: r["text"] == "The cat sat down⏎")
        w.key("BackSpace")
        _ready(w, ["user", "assistant"], lambda r: r["shown_text"] == "The cat sat down")
        w.key("Escape")
        w.wait(lambda r: r["text"] == "" and not r["busy"])
        w.point("chat/row/0", 0.5, 0.5)
        w.click("chat/0/remove")
        w.wait(
            lambda r: (
                not r["busy"]
                and r.get("turns") in (["assistant"], None, ["assistant", "assistant"])
            )
        )
        w.key("ctrl+z")
        w.wait(lambda r: not r["busy"] and r.get("turns", [""])[0] == "user")


def a_model_without_a_template_says_so(display):
    with Window(PROGRAM, display, "--text", "The cat sat") as w:
        w.settled()
        assert "chat/way/Chat" not in w.report()["widgets"]
    told = subprocess.run(
        [PROGRAM, "--do", "view chat"],
        env=dict(os.environ, DISPLAY=display.name),
        capture_output=True,
        text=True,
    )
    assert told.returncode == 2, told
    assert "no chat template" in told.stderr, told.stderr
