"""Signatures: every option by its name, type and default, in Python and in the stub alike."""

import ast
import inspect
import sys
from importlib import import_module
from pathlib import Path

import headlight
from given_arrays import sentence_of
from headlight import option_table

OPTIONS = [name for name in vars(option_table) if name.endswith("Options")]


def functions():
    return {name: f for name, f in vars(headlight).items() if inspect.isfunction(f)}


def of_stub(name):
    return ast.parse(Path(headlight.__file__).with_name(f"{name}.pyi").read_text(encoding="utf-8"))


def defaults(nodes):
    """(name, default) of the parameters of each function that a stub spells out."""
    out = {}
    for node in nodes:
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


def stubs_are_what_python_shows():
    said = defaults(of_stub("__init__").body)
    assert {"figure", "attribute", "run", "average"} <= set(said)
    shown = [(getattr(headlight, name), parameters) for name, parameters in said.items()]
    for name in ("runs", "results", "figure", "over_texts"):
        for held in of_stub(name).body:
            if isinstance(held, ast.ClassDef):
                own = vars(getattr(sys.modules[f"headlight.{name}"], held.name))
                methods = defaults(held.body).items()
                shown += [(own[n], p) for n, p in methods if inspect.isfunction(own[n])]
    assert len(shown) > 50
    for function, parameters in shown:
        named = inspect.signature(function).parameters.values()
        own = {p.name: p.default for p in named if p.kind is not p.VAR_POSITIONAL}
        assert parameters == own, (function, set(parameters.items()) ^ set(own.items()))


def stubs_take_names_from_where_the_package_does():
    """Two modules may have a class of one name."""
    for node in of_stub("__init__").body:
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        module = import_module(f"headlight.{node.module}")
        for one in node.names:
            if one.name in headlight.__all__:
                assert getattr(module, one.name) is getattr(headlight, one.name), one.name


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
