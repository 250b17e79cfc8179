// What a pass takes over from an earlier one equals what it would have computed: under every mask, change and
// edit.
#include "trace/reuse.h"

#include "base/cast.h"
#include "helpers.h"
#include "io/json.h"
#include "model/input.h"
#include "model/rules.h"
#include "summaries.h"

using namespace headlight;

namespace {

/// Draws what a person may do; the same seed does the same.
class Person {
public:
    Person(const Model& model, unsigned seed) : model_(model), random_(seed) {}

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
    /// Typed at the end, inserted, deleted, replaced, a token forced behind the target; or the changes are
    /// others.
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
    Change change() {
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
        Change out = *parse_change(c, wishes[below(std::size(wishes))]);
        if (below(12) == 0) {  // a pattern that was frozen over a text of six tokens
            out = *parse_change(c, "freeze:" + head + "=x");
            out.from.clear();
            Matrix pattern = Matrix::Zero(6, 6);
            for (Index i = 0; i < 6; ++i) pattern(i, below(2) ? 0 : i) = 1;
            out.pattern = std::make_shared<const Matrix>(pattern);
        }
        return out;
    }

    const Model& model_;
    std::mt19937 random_;
};

/// Bit for bit, but for the sign of zeros.
bool same(const Matrix& a, const Matrix& b) {
    REQUIRE(a.rows() == b.rows());
    REQUIRE(a.cols() == b.cols());
    return a == b;
}

/// Where two traces differ; empty: nowhere.
std::string differing(const Trace& a, const Trace& b) {
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
            note("q " + layer, x.layers[l]->self.q.all(), y.layers[l]->self.q.all());
            note("k " + layer, x.layers[l]->self.k.all(), y.layers[l]->self.k.all());
            note("v " + layer, x.layers[l]->self.v.all(), y.layers[l]->self.v.all());
        }
    }
    for (int block = 0; block < a.config().blocks(); ++block)
        note("pattern " + std::to_string(block), a.pattern(block, 0), b.pattern(block, 0));
    return where;
}

std::string described(const ForwardRequest& r, const ModelConfig& c) {
    std::string out = r.intervention.mask.name();
    for (const Sequence& s : r.inputs) out += " n=" + std::to_string(s.size());
    for (const Change& change : r.intervention.changes) out += " " + change_name(c, change);
    return out;
}

}  // namespace

TEST_CASE(
    "reuse: a pass that takes over what holds equals a fresh one, whatever the mask, the changes and the "
    "edit") {
    ThreadPool pool(2);
    for (const std::string name :
         {"gpt2", "llama", "mistral", "gemma2", "bloom", "phi", "opt", "bert", "marian", "t5", "bart",
          "gpt2_f16", "gpt2_bf16", "llama_gguf/llama-q4_0.gguf", "llama_gguf/llama-q8_0.gguf"}) {
        const auto model = reference_model(name);
        for (unsigned seed = 0; seed < 60; ++seed) {
            Person person(*model, seed);
            const ForwardRequest first = person.request(), second = person.edited(first);
            CAPTURE(name);
            CAPTURE(seed);
            CAPTURE(described(first, model->config));
            CAPTURE(described(second, model->config));
            const auto past = *run_trace(model, first, pool);
            HeadObserver quick(model->config, second.inputs, 4), lone(model->config, second.inputs, 4),
                fresh(model->config, second.inputs, 4);
            const auto now = *run_trace(model, second, pool, nullptr, past.get(), &quick);
            REQUIRE(run_trace(model, second, pool, nullptr, past.get(), &lone));
            CHECK(differing(*now, **run_trace(model, second, pool, nullptr, nullptr, &fresh)) == "");
            CHECK(summary_that_differs(*now, *past, 4, pool) == -1);
            const auto whole = *summarize_heads(*now, 4, pool), before = *summarize_heads(*past, 4, pool);
            CHECK(first_difference(std::move(fresh).finish(*now, pool), whole) == -1);
            CHECK(first_difference(std::move(lone).finish(*now, pool), whole) == -1);
            CHECK(first_difference(std::move(quick).finish(*now, pool, nullptr, {past.get(), &before}),
                                   whole) == -1);
        }
    }
}

TEST_CASE("together: several passes at once give the traces of one after another, bit for bit") {
    ThreadPool pool(2);
    for (const std::string name :
         {"gpt2", "llama", "mistral", "gemma2", "bloom", "phi", "opt", "bert", "marian", "t5", "bart",
          "gpt2_f16", "gpt2_bf16", "llama_gguf/llama-q4_0.gguf", "llama_gguf/llama-q8_0.gguf"}) {
        const auto model = reference_model(name);
        for (unsigned seed = 0; seed < 20; ++seed) {
            Person person(*model, seed);
            const ForwardRequest first = person.request();
            const auto past = *run_trace(model, first, pool);
            std::vector<TraceRequest> requests{{first, nullptr}, {person.request(), nullptr}};
            for (int i = 0; i < 4; ++i) requests.push_back({person.edited(first), past.get()});
            requests.push_back({person.request(), past.get()});
            const auto together = run_traces(model, requests, pool);
            REQUIRE(together);
            for (size_t i = 0; i < requests.size(); ++i) {
                CAPTURE(name);
                CAPTURE(seed);
                CAPTURE(described(requests[i].request, model->config));
                const auto alone = *run_trace(model, requests[i].request, pool);
                CHECK((*together)[i]->request.inputs == alone->request.inputs);
                CHECK(differing(*(*together)[i], *alone) == "");
            }
        }
    }
}

TEST_CASE("together: the encoder's stack is shared by all texts that read it; what one cannot read is said") {
    ThreadPool pool(2);
    const auto model = reference_model("marian");
    ForwardRequest request = request_of({5, 9, 200, 31});
    request.inputs.push_back(request_of({2}).inputs[0]);
    const auto past = *run_trace(model, request, pool);
    std::vector<TraceRequest> requests;
    for (const int id : {7, 8, 9}) {
        requests.push_back({request, past.get()});
        requests.back().request.inputs[1].ids.push_back(id);
        requests.back().request.inputs[1].tokens.resize(2);
    }
    const auto together = run_traces(model, requests, pool);
    REQUIRE(together);
    for (const auto& trace : *together) CHECK(trace->activations.stacks[0] == past->activations.stacks[0]);
    requests[1].request.inputs[1].ids = {1 << 30};
    CHECK(!run_traces(model, requests, pool));
    CHECK(run_traces(model, {}, pool)->empty());
}

TEST_CASE("together: each pass shows the patterns of its own rows, and cancelling stops all") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const ForwardRequest two = request_of({5, 9}), five = request_of({5, 9, 200, 31, 7});
    HeadObserver of_two(model->config, two.inputs, 4), of_five(model->config, five.inputs, 4);
    const auto together = run_traces(model, {{two, nullptr, &of_two}, {five, nullptr, &of_five}}, pool);
    REQUIRE(together);
    CHECK(first_difference(std::move(of_two).finish(*(*together)[0], pool),
                           *summarize_heads(*(*together)[0], 4, pool)) == -1);
    CHECK(first_difference(std::move(of_five).finish(*(*together)[1], pool),
                           *summarize_heads(*(*together)[1], 4, pool)) == -1);
    const CancelFlag cancel{true};
    CHECK(!run_traces(model, {{two}, {five}}, pool, &cancel));
}

TEST_CASE("reuse: a fully masked row attends to later tokens too, so it is computed anew when one is typed") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const ForwardRequest brief = with_change(request_of({5, 9, 200}), *model, "mask:0>0"),
                         longer = with_change(request_of({5, 9, 200, 31}), *model, "mask:0>0");
    const auto past = *run_trace(model, brief, pool);
    const auto quick = *run_trace(model, longer, pool, nullptr, past.get()),
               fresh = *run_trace(model, longer, pool);
    CHECK(differing(*quick, *fresh) == "");
    CHECK((quick->normalized().row(0) - past->normalized().row(0)).cwiseAbs().maxCoeff() >
          1e-3f);  // the case is one
}

TEST_CASE("reuse: what is kept is shared or kept row by row, so that typing costs the new tokens") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto rows_kept = [&](const ForwardRequest& before, const ForwardRequest& now) {
        const auto past = *run_trace(model, before, pool);
        const auto rules = attention_rules(*model, now.inputs, now.intervention);
        REQUIRE(rules);
        return reusable(past.get(), *model, now, *rules).stacks[0];
    };
    const ForwardRequest four = request_of({5, 9, 200, 31}), five = request_of({5, 9, 200, 31, 7});
    CHECK(rows_kept(four, four).whole);
    CHECK(rows_kept(four, five).rows == 4);
    CHECK(rows_kept(five, four).rows == 4);
    CHECK(rows_kept(with_change(four, *model, "mask:2>1"), with_change(five, *model, "mask:2>1")).rows == 4);
    CHECK(rows_kept(with_change(four, *model, "mask:2>0-3"), with_change(five, *model, "mask:2>0-3")).rows ==
          2);  // row 2 is fully masked
    CHECK(rows_kept(four, with_change(four, *model, "mask:3>1")).rows ==
          3);  // rows before the first that differs
    CHECK(rows_kept(four, with_change(five, *model, "unmask:1>4")).rows == 1);
    CHECK(
        rows_kept(with_change(four, *model, "ablate:0.0:mean"), with_change(five, *model, "ablate:0.0:mean"))
            .rows == 0);
    CHECK(rows_kept(four, with_change(four, *model, "ablate:1.0")).layers == 1);
    CHECK(rows_kept(four, with_change(four, *model, "skip-mlp:1")).layers == 1);
    ForwardRequest open = four;
    open.intervention.mask = *Mask::parse("none");
    CHECK(rows_kept(four, open).rows == 0);
}

TEST_CASE("reuse: dynamic rotary positions depend on the length beyond the original context") {
    ThreadPool pool(2);
    TemporaryFolder folder;
    const auto model = [&] {
        const auto source = kTests / "reference/models/llama";
        for (const auto& file : std::filesystem::directory_iterator(source))
            if (file.path().extension() == ".safetensors" &&
                file.path().filename().string().rfind("model", 0) == 0)
                std::filesystem::copy(file.path(), folder.path / file.path().filename());
        Json config = Json::parse(read_bytes(source / "config.json"));
        config["max_position_embeddings"] = 8;
        config["rope_parameters"] = {{"rope_type", "dynamic"}, {"rope_theta", 10000.0}, {"factor", 2.0}};
        write_bytes(folder.path / "config.json", config.dump());
        auto opened = Model::open(folder.path);
        REQUIRE(opened);
        return *opened;
    }();
    const std::vector<int> ids{5, 9, 20, 31, 7, 8, 11, 12, 3, 44, 6, 70};
    for (int n = 4; n < 12; ++n) {
        const auto past = trace_of(model, {ids.begin(), ids.begin() + n}, pool);
        const ForwardRequest longer = request_of({ids.begin(), ids.begin() + n + 1});
        CHECK(differing(**run_trace(model, longer, pool, nullptr, past.get()),
                        **run_trace(model, longer, pool)) == "");
    }
}
