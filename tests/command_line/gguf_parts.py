"""A GGUF file in parts, as llama.cpp splits one: the first has all that the file says, each some of
its tensors."""

import struct

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # of numbers, by type
ALIGNMENT = 32


def value_end(data, kind, at):
    if kind == 8:
        return at + 8 + struct.unpack_from("<Q", data, at)[0]
    if kind != 9:
        return at + SIZES[kind]
    inner, count = struct.unpack_from("<IQ", data, at)
    at += 12
    for _ in range(count):
        at = value_end(data, inner, at)
    return at


def text(value):
    return struct.pack("<Q", len(value)) + value


def aligned(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def tensors_of(data, at, count):
    """Name, the numbers after it, offset and the end of the table."""
    out = []
    for _ in range(count):
        begin, end = at, value_end(data, 8, at)
        dimensions = struct.unpack_from("<I", data, end)[0]
        at = end + 4 + 8 * dimensions + 4 + 8
        out.append((data[begin : at - 8], struct.unpack_from("<Q", data, at - 8)[0]))
    return out, at


def split(data, parts, stem="m"):
    """The files of so many parts, by their names."""
    tensors, entries = struct.unpack_from("<QQ", data, 8)
    at = 24
    for _ in range(entries):
        end = value_end(data, 8, at)
        at = value_end(data, struct.unpack_from("<I", data, end)[0], end + 4)
    said = data[24:at]
    table, at = tensors_of(data, at, tensors)
    body = data[aligned(at) :]
    ends = sorted([offset for _, offset in table] + [len(body)])
    out, each = {}, -(-tensors // parts)
    for part in range(parts):
        rows, values = b"", b""
        mine = table[part * each : (part + 1) * each]
        for head, offset in mine:
            rows += head + struct.pack("<Q", len(values))
            values += body[offset : ends[ends.index(offset) + 1]]
            values += bytes(aligned(len(values)) - len(values))
        keys = (
            text(b"split.no")
            + struct.pack("<IH", 2, part)
            + text(b"split.count")
            + struct.pack("<IH", 2, parts)
            + text(b"split.tensors.count")
            + struct.pack("<Ii", 5, tensors)
        )
        whole = (
            b"GGUF"
            + struct.pack("<IQQ", 3, len(mine), 3 + (entries if part == 0 else 0))
            + (said if part == 0 else b"")
            + keys
            + rows
        )
        out[f"{stem}-{part + 1:05}-of-{parts:05}.gguf"] = (
            whole + bytes(aligned(len(whole)) - len(whole)) + values
        )
    return out
