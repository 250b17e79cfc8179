// Simulates a user who masks, changes and edits at random, and finds where two traces differ.
#pragma once

#include <random>

#include "base/cast.h"
#include "helpers.h"
#include "model/input.h"
#include "model/interventions/change_place.h"
#include "model/interventions/check_changes.h"

namespace headlight {

/// Draws a user's acts; the same seed draws the same.
class RandomUser {
public:
    RandomUser(const Model& model, unsigned seed) : model_(model), random_(seed) {}

    ForwardRequest request() {
        ForwardRequest out;
        for (const StackConfig& stack : model_.config.stacks)
            out.inputs.push_back(request_of(ids(1 + below(9), stack.vocab)).inputs[0]);
        out.intervention.mask = *Mask::parse(kMasks[below(std::size(kMasks))]);
        if (below(4) == 0)
            out.intervention.mask = *Mask::of_rows("[[1,0,0,0],[1,0,1,0],[0,0,0,0],[1,1,0,1]]", "mask.json");
        for (int i = below(4); i > 0; --i) out.intervention.changes.push_back(change());
        return out;
    }
    /// Types at the end, inserts, deletes, replaces, forces a token of the target; or changes the
    /// interventions.
    ForwardRequest edited(ForwardRequest r) {
        const size_t stack = r.inputs.size() > 1 && below(3) ? r.inputs.size() - 1 : 0;
        std::vector<int>& text = r.inputs[stack].ids;
        const int at = below(isize(text)), vocab = model_.config.stacks[stack].vocab;
        switch (below(6)) {
            case 0:
                for (const int id : ids(1 + below(4), vocab)) text.push_back(id);
                break;
            case 1:
                text.insert(text.begin() + at, 1 + below(vocab - 1));
                break;
            case 2:
                if (text.size() > 1) text.erase(text.begin() + at);
                break;
            case 3:
                text[at] = 1 + below(vocab - 1);
                break;
            case 4:
                if (text.size() > 1) text.pop_back();
                break;
            default:
                break;
        }
        if (below(3) == 0) r.intervention.changes.push_back(change());
        if (below(4) == 0 && !r.intervention.changes.empty())
            r.intervention.changes.erase(r.intervention.changes.begin());
        if (below(8) == 0) r.intervention.mask = *Mask::parse(kMasks[below(std::size(kMasks))]);
        r.inputs[stack].tokens.resize(text.size());
        return r;
    }

private:
    static constexpr const char* kMasks[] = {"own",      "own",      "own",        "causal", "none",
                                             "window:2", "prefix:3", "global:1:2", "padding"};
    int below(size_t n) { return below(static_cast<int>(n)); }
    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
    std::vector<int> ids(int count, int vocab) {
        std::vector<int> out;
        for (int i = 0; i < count; ++i) out.push_back(1 + below(vocab - 1));
        return out;
    }
    /// Draws a change that the model takes: a recurrence has no scores, and a layer may have no MLP.
    Change change() {
        for (;;) {
            const auto out = drawn();
            Intervention alone;
            if (out) alone.changes.push_back(*out);
            if (out && check_changes(model_, alone)) return *out;
        }
    }
    Result<Change> drawn() {
        const ModelConfig& c = model_.config;
        const std::string q = std::to_string(below(8)), k = std::to_string(below(8)),
                          layer = block_path(c, below(c.blocks())),
                          head = layer + "." + std::to_string(below(2));
        const std::string self = block_path(c, below(c.layers()));
        const std::string wishes[] = {"mask:" + q + ">" + k,
                                      "mask:" + q + ">0-9",
                                      "mask:" + q + "..>" + k + "@" + layer,
                                      "mask:*>0@*",
                                      "mask:0>0",
                                      "unmask:" + q + ">" + k,
                                      "unmask:0-2>1-7@" + head,
                                      "score:" + q + ">" + k + "@" + head + "=2.5",
                                      "temperature:0.5@" + head,
                                      "temperature:2",
                                      "temperature:0@" + head,
                                      "ablate:" + head,
                                      "ablate:" + head + ":mean",
                                      "ablate:" + head + ":uniform",
                                      "ablate:" + head + ":keep",
                                      "skip-attention:" + layer,
                                      "skip-mlp:" + self,
                                      "positions:off",
                                      "positions:shuffle:" + q};
        if (below(6) == 0) return patch(q, self, layer, head);
        TRY(Change out, parse_change(c, wishes[below(std::size(wishes))]));
        if (below(12) == 0) {  // a pattern frozen over a text of six tokens
            out = *parse_change(c, "freeze:" + head + "=x");
            out.from.clear();
            Matrix pattern = Matrix::Zero(6, 6);
            for (Index i = 0; i < 6; ++i) pattern(i, below(2) ? 0 : i) = 1;
            out.pattern = std::make_shared<const Matrix>(pattern);
        }
        return out;
    }

    /// Patches values of a text of seven tokens, one of two.
    Result<Change> patch(const std::string& q, const std::string& self, const std::string& layer,
                         const std::string& head) {
        const ModelConfig& c = model_.config;
        const std::string wishes[] = {
            "patch-resid:" + q + "@" + self, "patch-resid:1-2@" + self,
            "patch-mlp:" + q + "@" + self,   "patch-attention:" + q + "..@" + layer,
            "patch-head:*@" + head,          c.has_streams() ? "patch-resid:3@" + self : "noise:" + q + "=7"};
        TRY(Change out, parse_change(c, wishes[below(std::size(wishes))]));
        const int width = out.kind == ChangeKind::patch_head ? c.d_value(out.block) : c.d_model;
        out.pattern = std::make_shared<const Matrix>(random_matrix(7, width, 1 + below(2)));
        return out;
    }

    const Model& model_;
    std::mt19937 random_;
};

/// Returns where two traces differ; empty: nowhere.
inline std::string differing(const Trace& a, const Trace& b) {
    std::string where;
    const auto note = [&](const std::string& name, const Matrix& x, const Matrix& y) {
        if (!same(x, y)) where += name + " ";
    };
    for (size_t s = 0; s < a.request.inputs.size(); ++s) {
        const StackActivations &x = a.stack(static_cast<int>(s)), &y = b.stack(static_cast<int>(s));
        note("normalized", x.normalized.all(), y.normalized.all());
        note("resid_final", x.resid_final.all(), y.resid_final.all());
        for (size_t l = 0; l < x.layers.size(); ++l) {
            const std::string layer = std::to_string(l);
            note("resid_pre " + layer, x.layers[l]->resid_pre.all(), y.layers[l]->resid_pre.all());
            note("entering " + layer, x.layers[l]->entering().all(), y.layers[l]->entering().all());
            note("q " + layer, x.layers[l]->self.q.all(), y.layers[l]->self.q.all());
            note("k " + layer, x.layers[l]->self.k.all(), y.layers[l]->self.k.all());
            note("v " + layer, x.layers[l]->self.v.all(), y.layers[l]->self.v.all());
        }
    }
    for (int block = 0; block < a.config().blocks(); ++block)
        note("pattern " + std::to_string(block), a.pattern(block, 0), b.pattern(block, 0));
    return where;
}

inline std::string described(const ForwardRequest& r, const ModelConfig& c) {
    std::string out = r.intervention.mask.name();
    for (const Sequence& s : r.inputs) out += " n=" + std::to_string(s.size());
    for (const Change& change : r.intervention.changes) out += " " + change_name(c, change);
    return out;
}

}  // namespace headlight
