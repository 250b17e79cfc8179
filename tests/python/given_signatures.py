"""Signatures: every option by its name, type and default, in Python and in the stub alike."""

import ast
import inspect
from pathlib import Path

import headlight
from given_arrays import sentence_of
from headlight import option_table

STUB = Path(headlight.__file__).with_name("__init__.pyi")
OPTIONS = [name for name in vars(option_table) if name.endswith("Options")]


def functions():
    return {name: f for name, f in vars(headlight).items() if inspect.isfunction(f)}


def stubbed():
    """(name, default) of the parameters of each function that the stub spells out."""
    out = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        given, only = node.args.args, node.args.kwonlyargs
        before = [None] * (len(given) - len(node.args.defaults)) + node.args.defaults
        values = [*before, *node.args.kw_defaults]
        out[node.name] = {
            a.arg: inspect.Parameter.empty if value is None else ast.literal_eval(value)
            for a, value in zip([*given, *only], values)
        }
    return out


def signatures_name_every_option():
    run = headlight.Run
    methods = (run.figure, run.lens, run.heads, run.attribute, run.patch, run.compare, run.changed)
    several = (*functions().values(), *methods, headlight.Head.figure, headlight.Figure.changed)
    for function in several:
        kinds = {p.kind for p in inspect.signature(function).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, function
    own = inspect.signature(headlight.attribute).parameters
    assert own["baseline"].default == "mean" and own["probes"].default == 0
    assert own["over"].annotation == "Literal['metric', 'written', 'outputs']"
    assert all(p.kind is p.KEYWORD_ONLY for name, p in own.items() if name in ("metric", "steps"))
    for name in OPTIONS:
        function = name.removesuffix("Options").lower()
        named = inspect.signature(getattr(headlight, function)).parameters
        missing = set(vars(option_table)[name].__annotations__) - set(named)
        assert not missing, (function, missing)


def the_stub_is_what_python_shows():
    said = stubbed()
    assert {"figure", "attribute", "run", "average"} <= set(said)
    for name, parameters in said.items():
        own = inspect.signature(getattr(headlight, name)).parameters
        shown = {p.name: p.default for p in own.values()}
        assert parameters == shown, (name, set(parameters.items()) ^ set(shown.items()))


def an_option_of_none_is_not_given():
    read = {"text": "Lily had a red ball."}
    for name in ("figure", "heads", "trace", "attribute", "generate"):
        function = getattr(headlight, name)
        options = vars(option_table)[f"{name.title()}Options"].__annotations__
        function("stories", **{**dict.fromkeys(options), **read})


def a_name_that_is_near_is_said():
    ask = lambda **options: sentence_of(lambda: headlight.figure("stories", text="a", **options))
    assert "did you mean head=" in ask(haed=(1, 2))
    assert "did you mean patterns=" in ask(paterns=[1])
    assert "did you mean temperature_attn=" in sentence_of(
        lambda: headlight.trace("stories", text="a", temperature_atn=1)
    )
