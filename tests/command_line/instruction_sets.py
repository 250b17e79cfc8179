"""The kernels that HEADLIGHT_KERNELS names."""

import os
import struct

from program import FOLDER, MODELS, header_of, run

NEEDED = {
    "v3": {"avx2", "fma", "bmi2"},
    "v4": {"avx2", "fma", "bmi2", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def run_with(name, *arguments, **more):
    os.environ["HEADLIGHT_KERNELS"] = name
    try:
        return run(*arguments, **more)
    finally:
        del os.environ["HEADLIGHT_KERNELS"]


def can_run(name):
    flags = next(
        (
            set(line.split(":")[1].split())
            for line in open("/proc/cpuinfo")
            if line.startswith("flags")
        ),
        set(),
    )
    return NEEDED[name] <= flags


def values_of(path):
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    floats = {
        name: row["data_offsets"]
        for name, row in header_of(path).items()
        if name != "__metadata__" and row["dtype"] == "F32"
    }
    return {
        name: struct.unpack(f"<{(end - begin) // 4}f", data[start + begin : start + end])
        for name, (begin, end) in floats.items()
    }


def every_instruction_set_computes_the_same():
    for model in ("gpt2", "llama_gguf/llama-q4_0.gguf"):
        compare_instruction_sets(MODELS / model)


def compare_instruction_sets(model):
    path = FOLDER / "kernels.safetensors"
    traces = {}
    for name in ("base", "v1", "v3", "v4"):
        if name not in NEEDED or can_run(name):
            run_with(
                name, "trace", "--model", model, "--ids", "5,9,200,31,7", "-o", path, "--quiet"
            )
            traces[name] = values_of(path)
    assert len(traces["base"]) > 10 and traces["v1"] == traces["base"]
    for name, trace in traces.items():
        for tensor, values in trace.items():
            want = traces["base"][tensor]
            assert len(values) == len(want), (name, tensor)
            assert all(abs(a - b) <= 1e-4 * max(1, abs(b)) for a, b in zip(values, want)), (
                name,
                tensor,
            )


def an_instruction_set_that_is_not_there_is_refused():
    for name in ("v9", "", *(name for name in NEEDED if not can_run(name))):
        assert "HEADLIGHT_KERNELS" in run_with(name, "models", status=1).err
