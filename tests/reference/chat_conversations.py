"""Conversations, tools and small templates that chat_templates.py renders."""

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": 'Tells the weather.\nOf a <place> & time; it\'s "free".',
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string", "description": "A town, “Köln” say"},
                    "days": {"type": "integer", "enum": [1, 2, 3]},
                    "units": {"type": "array", "items": {"type": "string"}, "default": []},
                },
                "required": ["place"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "noop",
            "description": "Does nothing",
            "parameters": {"type": "object", "properties": {}},
        },
    },
]
DOCUMENTS = [{"title": "T", "text": "Body"}, {"title": "T2", "text": "Other"}]
VARIABLES = (
    {"enable_thinking": False},
    {"enable_thinking": True},
    {"thinking": True, "reasoning_effort": "high"},
    {"builtin_tools": ["browser", "python"], "date_string": "1 Jan 2030"},
)


def say(role, content, **more):
    return {"role": role, "content": content, **more}


def call(arguments, name="abcdefghi"):
    return {"type": "function", "id": name, "function": {"name": "weather", "arguments": arguments}}


def result(content, name="abcdefghi"):
    return say("tool", content, tool_call_id=name, name="weather")


def text(words):
    return {"type": "text", "text": words}


ASKED = "Was ist  das?\n <b>& “Köln” 日本 🙂 "
TURNS = [
    say("system", "qzx0 be terse"),
    say("user", "qzx1 hello"),
    say("assistant", " qzx2 Hello there. \n"),
    say("user", ASKED),
    say("assistant", "qzx4 bye"),
    say("user", "qzx5 what?"),
]
CONVERSATIONS = {
    "one": [say("user", ASKED)],
    "system": [say("system", " You are terse.\n"), say("user", "Hello!")],
    "turns": TURNS,
    "answered": TURNS[:-1],
    "no system": TURNS[1:],
    "thinking": [
        say("user", "Hi"),
        say("assistant", "Hello", reasoning_content="The user greets.\n"),
        say("user", "More"),
    ],
    "last thinking": [say("user", "Hi"), say("assistant", "Hello", reasoning="It greets.")],
    "think tags": [
        say("user", "Hi"),
        say("assistant", "<think>\nThe user greets.\n</think>\n\nHello"),
        say("user", "More"),
        say("assistant", "<think>x</think>y"),
    ],
    "parts": [say("system", [text("Be kind.")]), say("user", [text("Look: "), text("here")])],
    "image": [say("user", [{"type": "image"}, text("What is this?")])],
    "calls": [
        say("user", "qzx0 weather?"),
        say("assistant", "", tool_calls=[call({"place": "Köln", "days": 2})]),
        result('{"sun": true}'),
        say("assistant", "qzx3 sunny"),
        say("user", "qzx4 thanks"),
    ],
    "no content": [
        say("user", "Weather?"),
        say(
            "assistant",
            None,
            tool_calls=[
                call({"place": "A", "list": [1, 2.5, True, None], "o": {"x": "é"}}),
                call({"place": "B"}, "abcdefgh2"),
            ],
        ),
        result("rain"),
        result("snow", "abcdefgh2"),
    ],
    "arguments as text": [
        say("user", "W"),
        say("assistant", "Let me see.", tool_calls=[call('{"place": "Köln"}')]),
        result("ok"),
    ],
    "two answers": [say("assistant", "first"), say("assistant", "second")],
    "developer": [say("developer", "Dev"), say("user", "x")],
}
WITH_TOOLS = ("one", "system", "turns", "calls", "no content", "arguments as text", "thinking")


def cases():
    """(name, messages, options) of each text to render."""
    for name, messages in CONVERSATIONS.items():
        for prompt in (False, True):
            options = {"add_generation_prompt": prompt}
            yield name, messages, options
            if name in WITH_TOOLS:
                yield name + " with tools", messages, {**options, "tools": TOOLS}
    for name in ("answered", "think tags", "last thinking"):
        yield name + " continued", CONVERSATIONS[name], {"continue_final_message": True}
    yield "documents", TURNS, {"add_generation_prompt": True, "documents": DOCUMENTS}
    for values in VARIABLES:
        options = {"add_generation_prompt": True, "variables": values}
        yield f"turns, {values}", TURNS, options
        yield f"thinking, {values}", CONVERSATIONS["thinking"], {**options, "tools": TOOLS}
