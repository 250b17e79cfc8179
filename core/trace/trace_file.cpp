// One row per kind of tensor; each knows its name, its shape and how to write itself.
#include "trace/trace_file.h"

#include "io/json.h"
#include "io/safetensors.h"

namespace headlight {

namespace {

using Sink = std::function<void(const void*, size_t)>;

void write_matrix(const Sink& sink, const Matrix& m) { sink(m.data(), static_cast<size_t>(m.size()) * sizeof(float)); }

std::vector<int64_t> shape_of(const Matrix& m) { return {m.rows(), m.cols()}; }

struct Offer {
    TensorToWrite tensor;
    bool usual;
};

void offer_layer(std::vector<Offer>& out, const Trace& t, int l) {
    const ModelConfig& c = t.config();
    const LayerActivations& a = t.activations.layers[static_cast<size_t>(l)];
    const std::string at = "blocks." + std::to_string(l) + ".";
    const int64_t n = t.size(), heads = c.heads;
    const auto whole = [&](const char* name, const Matrix& m, bool usual) {
        out.push_back({{at + name, "F32", shape_of(m), [&m](const Sink& s) { write_matrix(s, m); }}, usual});
    };
    const auto by_head = [&](const char* name, const Matrix& m) {
        out.push_back({{at + name, "F32", {n, heads, c.d_head}, [&m](const Sink& s) { write_matrix(s, m); }}, false});
    };
    const auto square = [&](const char* name, Matrix (Trace::*get)(int, int) const, bool usual) {
        const auto write = [&t, l, heads, get](const Sink& s) {
            for (int h = 0; h < heads; ++h) write_matrix(s, (t.*get)(l, h));
        };
        out.push_back({{at + name, "F32", {heads, n, n}, write}, usual});
    };
    whole("hook_resid_pre", a.resid_pre, true);
    by_head("attn.hook_q", a.q);
    by_head("attn.hook_k", a.k);
    by_head("attn.hook_v", a.v);
    square("attn.hook_attn_scores", &Trace::scores, false);
    square("attn.hook_pattern", &Trace::pattern, true);
    by_head("attn.hook_z", a.z);
    whole("hook_attn_out", a.attn_out, true);
    whole("hook_resid_post", t.resid_post(l), true);
}

std::vector<Offer> offers(const Trace& t, ThreadPool& pool) {
    std::vector<Offer> out;
    out.push_back({{"input_ids", "I64", {t.size()}, [&t](const Sink& s) {
                        for (const int64_t id : t.request.ids) s(&id, sizeof id);
                    }}, true});
    for (int l = 0; l < t.config().layers; ++l) offer_layer(out, t, l);
    const Matrix& final_norm = t.activations.normalized;
    out.push_back({{"ln_final.hook_normalized", "F32", shape_of(final_norm), [&final_norm](const Sink& s) { write_matrix(s, final_norm); }}, true});
    out.push_back({{"logits", "F32", {t.size(), t.config().vocab}, [&t, &pool](const Sink& s) {
                        constexpr Index rows = 64;
                        for (Index first = 0; first < t.size(); first += rows)
                            write_matrix(s, unembed(*t.model, t.activations.normalized.middleRows(first, std::min<Index>(rows, t.size() - first)), pool));
                    }}, true});
    return out;
}

}  // namespace

bool glob_match(std::string_view glob, std::string_view name) {
    size_t g = 0, n = 0, star = std::string_view::npos, resume = 0;
    while (n < name.size()) {
        if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
            ++g;
            ++n;
        } else if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = n;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') ++g;
    return g == glob.size();
}

Status write_trace(const std::filesystem::path& path, const Trace& trace, const std::vector<std::string>& globs, ThreadPool& pool) {
    std::vector<TensorToWrite> chosen;
    for (Offer& offer : offers(trace, pool)) {
        bool wanted = globs.empty() && offer.usual;
        for (const auto& glob : globs) wanted = wanted || glob_match(glob, offer.tensor.name);
        if (wanted) chosen.push_back(std::move(offer.tensor));
    }
    if (chosen.empty()) return Error{"No tensor matches --capture " + globs.front() + "; try \"*\" to write all of them."};
    const std::map<std::string, std::string> metadata{{"format", "headlight-trace"},
                                                      {"version", "1"},
                                                      {"model", trace.model->name},
                                                      {"tokens", Json(trace.request.tokens).dump(-1, ' ', false, Json::error_handler_t::replace)},
                                                      {"mask", trace.request.mask.name()}};
    return write_safetensors(path, chosen, metadata);
}

}  // namespace headlight
