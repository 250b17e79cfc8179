// Makes tensors that checkpoints store in another form.
#include "model/loading/made_tensors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/cast.h"
#include "base/check.h"
#include "base/matrix.h"
#include "model/mixers/recurrence.h"

namespace headlight {

Linear block_diagonal(WeightStore& store, const float* values, int64_t in, int64_t out, int64_t own) {
    const int64_t outputs = out / (in / own);  // of each group
    float* all = store.make(in * out);
    std::fill(all, all + in * out, 0.0f);
    for (int64_t o = 0; o < out; ++o) std::copy_n(values + o * own, own, all + o * in + o / outputs * own);
    return Linear::of_floats(all, nullptr, in, out, WeightLayout::out_in);
}

Linear unfolded(WeightStore& store, const float* values, int64_t d, int64_t own, int64_t kernel) {
    float* all = store.make(d * kernel * d);
    std::fill(all, all + d * kernel * d, 0.0f);
    for (int64_t o = 0; o < d; ++o)
        for (int64_t i = 0; i < own; ++i)
            for (int64_t j = 0; j < kernel; ++j)
                all[(o * kernel + j) * d + o / own * own + i] = values[(o * own + i) * kernel + j];
    return Linear::of_floats(all, nullptr, kernel * d, d, WeightLayout::out_in);
}

Linear scaled_outputs(WeightStore& store, const Linear& w, const float* by) {
    if (!w) return w;
    HEADLIGHT_CHECK(w.layout == WeightLayout::out_in);
    float *all = store.make(w.out * w.in), *bias = w.bias ? store.make(w.out) : nullptr;
    for (int64_t o = 0; o < w.out; ++o) {
        w.read(o, 0, w.in, all + o * w.in);
        Eigen::Map<Eigen::RowVectorXf>(all + o * w.in, w.in) *= by[o];
        if (bias) bias[o] = w.bias[o] * by[o];
    }
    return Linear::of_floats(all, bias, w.in, w.out, WeightLayout::out_in);
}

Norm scaled_norm(WeightStore& store, const Norm& norm, int64_t width, float scale) {
    const auto times = [&](const float* values) {
        float* out = store.make(width);
        for (int64_t i = 0; i < width; ++i) out[i] = values[i] * scale;
        return out;
    };
    return {times(norm.weight), norm.bias ? times(norm.bias) : nullptr, norm.eps};
}

Linear plus_first_row(WeightStore& store, const Linear& table, const Linear& other) {
    if (!table || !other) return table;
    float* all = store.make(table.out * table.in);
    Eigen::RowVectorXf added(table.in);
    other.read(0, 0, table.in, added.data());
    for (int64_t row = 0; row < table.out; ++row) {
        Eigen::Map<Eigen::RowVectorXf> sum(all + row * table.in, table.in);
        table.read(row, 0, table.in, sum.data());
        sum += added;
    }
    return Linear::of_floats(all, nullptr, table.in, table.out, WeightLayout::out_in);
}

Linear without_joined(WeightStore& store, const Linear& w, int64_t own, const std::vector<Linear>& tables) {
    std::vector<float> joined, row(w.in);
    for (const Linear& table : tables) {
        joined.resize(joined.size() + table.in);
        table.read(0, 0, table.in, joined.data() + joined.size() - table.in);
    }
    HEADLIGHT_CHECK(own + isize(joined) == w.in);
    float *all = store.make(own * w.out), *bias = store.make(w.out);
    for (int64_t o = 0; o < w.out; ++o) {
        w.read(o, 0, w.in, row.data());
        std::copy_n(row.data(), own, all + o * own);
        bias[o] =
            std::inner_product(joined.begin(), joined.end(), row.begin() + own, w.bias ? w.bias[o] : 0.0f);
    }
    return Linear::of_floats(all, bias, own, w.out, WeightLayout::out_in);
}

Linear joined_by_head(WeightStore& store, const float* keys, const float* values, const KeysAndValues& of) {
    const auto [heads, d_key, d_value, rank] = of;
    const int64_t out = heads * (d_key + d_value);
    float *all = store.make(out * rank), *to = all;
    for (int64_t h = 0; h < heads; ++h) {
        for (int64_t i = 0; i < d_key; ++i)
            for (int64_t r = 0; r < rank; ++r) *to++ = keys[(h * rank + r) * d_key + i];
        to = std::copy_n(values + h * d_value * rank, d_value * rank, to);
    }
    return Linear::of_floats(all, nullptr, rank, out, WeightLayout::out_in);
}

Linear part_of_groups(WeightStore& store, const Linear& whole, int64_t first, int64_t width, int64_t groups) {
    Linear part = whole.columns(first, width * groups);
    const int64_t all = whole.out / groups;
    part.group = width;
    part.group_stride = all * whole.stride;
    if (!whole.bias) return part;
    float* bias = store.make(width * groups);
    for (int64_t i = 0; i < width * groups; ++i) bias[i] = whole.bias[i / width * all + first + i % width];
    part.bias = bias;
    return part;
}

// by_head: [kv_heads, (q of its query heads, k, v), d_head]; quarters: [4, (q, v, k), …]; else q, then k,
// then v.
void split_qkv(WeightStore& store, AttentionWeights& into, const Linear& qkv, const AttentionSpec& spec,
               Stored stored) {
    if (!qkv) return;
    const int64_t d = spec.d_head, inner = (spec.recurrence ? spec.recurrence->key_heads : spec.heads) * d,
                  shared = (spec.recurrence ? spec.recurrence->key_heads : spec.kv_heads) * d;
    if (store.is_gguf() || (stored != Stored::by_head && stored != Stored::quarters)) {
        into.q = qkv.columns(0, inner);
        into.k = qkv.columns(inner, shared);
        into.v = qkv.columns(inner + shared, int64_t{spec.kv_heads} * spec.value_width());
        if (store.is_gguf() && stored == Stored::by_head_turn)
            into.v = outputs_by_key_head(store, into.v, spec);
        return;
    }
    HEADLIGHT_CHECK(spec.value_width() == spec.d_head);
    const bool quarters = stored == Stored::quarters;
    const int64_t groups = quarters ? 4 : spec.kv_heads, of_q = inner / groups, of_k = shared / groups,
                  all = of_q + 2 * of_k;
    HEADLIGHT_CHECK(all * groups == qkv.out);
    into.q = part_of_groups(store, qkv, 0, of_q, groups);
    into.k = part_of_groups(store, qkv, quarters ? of_q + of_k : of_q, of_k, groups);
    into.v = part_of_groups(store, qkv, quarters ? of_q : of_q + of_k, of_k, groups);
}

void split_mixer(WeightStore& store, AttentionWeights& into, const Linear& whole, const AttentionSpec& spec,
                 Slot slot, Stored stored) {
    if (!whole) return;
    RecurrenceWeights& rates = into.recurrence;
    const int64_t heads = spec.heads, groups = spec.recurrence->key_heads, d = spec.d_head,
                  values = heads * spec.value_width(), keys = groups * d;
    if (spec.recurrence->is_convolution()) {  // b, c, u
        into.q = whole.columns(0, spec.value_width());
        into.gate = whole.columns(spec.value_width(), spec.value_width());
        into.v = whole.columns(2 * spec.value_width(), spec.value_width());
    } else if (spec.recurrence->is_selective()) {
        into.v = whole.columns(0, values);
        into.gate = whole.columns(values, values);
    } else if (slot == Slot::mixer_rates) {
        rates.strength = part_of_groups(store, whole, 0, heads / groups, groups);
        rates.decay = part_of_groups(store, whole, heads / groups, heads / groups, groups);
    } else if (stored == Stored::by_key_head) {
        into.q = part_of_groups(store, whole, 0, d, groups);
        into.k = part_of_groups(store, whole, d, d, groups);
        into.v = part_of_groups(store, whole, 2 * d, values / groups, groups);
        into.gate = part_of_groups(store, whole, 2 * d + values / groups, values / groups, groups);
    } else {  // of a state space: gate, v, k, q, decay
        into.gate = whole.columns(0, values);
        into.v = whole.columns(values, values);
        into.k = whole.columns(2 * values, keys);
        into.q = whole.columns(2 * values + keys, keys);
        rates.decay = whole.columns(2 * (values + keys), heads);
    }
}

namespace {

/// Allocates bytes that live as long as the store.
std::byte* make_bytes(WeightStore& store, int64_t count) {
    return reinterpret_cast<std::byte*>(store.make((count + 3) / int64_t{sizeof(float)}));
}

/// Copies each row's parts of `width` inputs: part p of a row from part from(p) of the stored one. Decodes
/// the matrix if parts are no whole blocks of its format.
template <class From>
Linear with_inputs(WeightStore& store, const Linear& w, int64_t width, int64_t parts, const From& from) {
    HEADLIGHT_CHECK(w.layout == WeightLayout::out_in);
    const bool whole = width % w.dtype->block == 0 && !w.order;
    const int64_t bytes = whole ? w.dtype->size(width) : width * int64_t{sizeof(float)};
    std::byte* const all = make_bytes(store, w.out * parts * bytes);
    std::vector<float> decoded(whole ? 0 : size_t(w.in));
    for (int64_t o = 0; o < w.out; ++o) {
        const std::byte* row = w.row(o);
        if (!whole) {
            Linear unscaled = w;
            unscaled.scale = 1;
            unscaled.read(o, 0, w.in, decoded.data());
            row = reinterpret_cast<const std::byte*>(decoded.data());
        }
        for (int64_t p = 0; p < parts; ++p)
            std::copy_n(row + from(p) * bytes, bytes, all + (o * parts + p) * bytes);
    }
    Linear out = w;
    out.weight = all;
    out.in = parts * width;
    out.stride = parts * bytes;
    out.group = out.group_stride = 0;
    out.order = nullptr;
    if (!whole) out.dtype = &float32();
    return out;
}

/// Copies parts of `width` outputs, with their biases: part p from part from(p) of the stored ones.
template <class From>
Linear with_outputs(WeightStore& store, const Linear& w, int64_t width, int64_t parts, const From& from) {
    HEADLIGHT_CHECK(w.layout == WeightLayout::out_in);
    const int64_t bytes = w.dtype->size(w.in);
    std::byte* const all = make_bytes(store, parts * width * bytes);
    float* const bias = w.bias ? store.make(parts * width) : nullptr;
    for (int64_t p = 0; p < parts; ++p)
        for (int64_t i = 0; i < width; ++i) {
            std::copy_n(w.row(from(p) * width + i), bytes, all + (p * width + i) * bytes);
            if (bias) bias[p * width + i] = w.bias[from(p) * width + i];
        }
    Linear out = w;
    out.weight = all;
    out.bias = bias;
    out.out = parts * width;
    out.stride = bytes;
    out.group = out.group_stride = 0;
    return out;
}

constexpr auto kFirst = [](int64_t) { return int64_t{0}; };

}  // namespace

Linear joined_outputs(WeightStore& store, std::span<const Linear> parts) {
    const Linear& first = parts.front();
    const auto as_stored = [&](const Linear& w) {
        return w.dtype == first.dtype && w.layout == WeightLayout::out_in && w.scale == 1 && !w.order &&
               !w.adapter && !w.bias;
    };
    const bool alike = std::all_of(parts.begin(), parts.end(), as_stored);
    int64_t rows = 0;
    for (const Linear& w : parts) rows += w.out;
    const DType& dtype = alike ? *first.dtype : float32();
    const int64_t bytes = dtype.size(first.in);
    std::byte* const all = make_bytes(store, rows * bytes);
    std::byte* to = all;
    for (const Linear& w : parts)
        for (int64_t o = 0; o < w.out; ++o, to += bytes) {
            if (alike)
                std::copy_n(w.row(o), bytes, to);
            else
                w.read(o, 0, w.in, reinterpret_cast<float*>(to));
        }
    return {all, nullptr, first.in, rows, bytes, WeightLayout::out_in, &dtype};
}

Linear repeated_outputs(WeightStore& store, const Linear& w, int64_t times) {
    return w ? with_outputs(store, w, w.out, times, kFirst) : w;
}

Linear repeated_inputs(WeightStore& store, const Linear& w, int64_t times) {
    return w ? with_inputs(store, w, w.in, times, kFirst) : w;
}

int64_t head_by_turn(const AttentionSpec& spec, int64_t h) {
    const int64_t keys = spec.recurrence->key_heads, shared = spec.heads / keys;
    return h % shared * keys + h / shared;
}

Linear outputs_by_key_head(WeightStore& store, const Linear& w, const AttentionSpec& spec) {
    if (!w || spec.heads == spec.recurrence->key_heads) return w;
    return with_outputs(store, w, w.out / spec.heads, spec.heads,
                        [&](int64_t h) { return head_by_turn(spec, h); });
}

Linear inputs_by_key_head(WeightStore& store, const Linear& w, const AttentionSpec& spec) {
    if (!w || spec.heads == spec.recurrence->key_heads) return w;
    return with_inputs(store, w, w.in / spec.heads, spec.heads,
                       [&](int64_t h) { return head_by_turn(spec, h); });
}

Result<const float*> recurrence_vector(WeightStore& store, Slot slot, Stored stored, const float* values,
                                       const AttentionSpec& spec) {
    const bool rates = slot == Slot::decay_rate, of_channels = slot == Slot::mixer_kernel,
               turned = stored == Stored::by_head_turn && store.is_gguf();
    if (!rates && !turned) return values;
    const RecurrenceChannels channels = RecurrenceChannels::of(spec);
    const int64_t width = of_channels ? spec.recurrence->kernel : 1,
                  first = of_channels ? channels.first_v * width : 0,
                  count = of_channels                       ? channels.count() * width
                          : spec.recurrence->is_selective() ? int64_t{spec.heads} * spec.d_head
                                                            : spec.heads,
                  own = (count - first) / spec.heads;
    float* const out = store.make(count);
    std::copy_n(values, count, out);
    for (int64_t h = 0; turned && h < spec.heads; ++h)
        std::copy_n(values + first + head_by_turn(spec, h) * own, own, out + first + h * own);
    for (int64_t h = 0; rates && h < count; ++h) {
        out[h] = store.is_gguf() ? -out[h] : std::exp(out[h]);
        if (!(out[h] >= 0) || std::isinf(out[h]))
            return Error{store.place() +
                         ": a rate of decay (A) is not a finite number of the right sign; convert or " +
                         "save the model again."};
    }
    return out;
}

}  // namespace headlight
