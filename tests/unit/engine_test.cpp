// Tests what another process computes: connecting, passes, interventions, and servers that go wrong.
#include "model/engine.h"

#include <cmath>

#include "analysis/prediction/predict.h"
#include "engine/open.h"
#include "engine/remote_engine.h"
#include "fake_engine.h"
#include "hub/library.h"
#include "io/engine_address.h"
#include "model/input.h"

using namespace headlight;

namespace {

std::shared_ptr<const Model> connected(const FakeEngine& engine) {
    auto model = open_engine(engine.address());
    REQUIRE_MESSAGE(model, (model ? "" : model.error().message));
    return *model;
}

Result<std::shared_ptr<const Trace>> run_text(const std::shared_ptr<const Model>& model,
                                              const std::string& text, const Intervention& changed = {},
                                              const Trace* past = nullptr) {
    TextInput typed;
    typed.text = text;
    TRY(ModelInput input, encode_input(*model, typed));
    ThreadPool pool(1);
    return run_trace(model, {std::move(input.sequences), changed}, pool, nullptr, past);
}

/// softmax(0.5 · q·k / T) over the keys that `sees` allows, in plain loops.
template <class Sees>
Matrix plain_pattern(const std::string& text, int head, const Sees& sees, double temperature = 1) {
    const int n = isize(text);
    Matrix out = Matrix::Zero(n, n);
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j) {
            double score = 0;
            for (int c = 0; c < FakeEngine::kWidth; ++c)
                score += double(FakeEngine::vector_at(text[size_t(i)], head, c, 0)) *
                         double(FakeEngine::vector_at(text[size_t(j)], 0, c, 1));
            if (sees(i, j)) out(i, j) = float(std::exp(0.5 * score / temperature));
            sum += double(out(i, j));
        }
        out.row(i) /= float(sum);
    }
    return out;
}

constexpr int kLogits = 5, kStream = 6;  // of the model whose predictions are tested

const auto earlier = [](int query, int key) { return key <= query; };

double gap(const Matrix& a, const Matrix& b) { return double((a - b).cwiseAbs().maxCoeff()); }

}  // namespace

TEST_CASE("a server's model opens without weights and says who computes") {
    FakeEngine engine;
    const auto model = connected(engine);
    CHECK(model->name == "fake");
    CHECK(model->weights.stacks.empty());
    CHECK(model->engine->runs_on() == "fake 1.0, cpu");
    CHECK(model->config.heads(0) == 2);
    CHECK(model->config.kv_heads(0) == 1);
    CHECK(open_any_model(engine.address(), nullptr, nullptr, model));
    const auto again = open_any_model(engine.address(), nullptr, nullptr, model);
    CHECK(*again == model);  // one connection, because a server has one client
}

TEST_CASE("a pass elsewhere gives the patterns of its q and k") {
    FakeEngine engine;
    const auto model = connected(engine);
    const std::string text = "a small text";
    const auto trace = run_text(model, text);
    REQUIRE(trace);
    for (int head = 0; head < 2; ++head)
        CHECK(gap((*trace)->pattern(0, head), plain_pattern(text, head, earlier)) < 1e-6);
    CHECK_FALSE((*trace)->has_weights());
    CHECK((*trace)->can_run());
    CHECK((*trace)->has_scores(0));
}

TEST_CASE("a typed token is asked for alone, and joins the rows that are there") {
    FakeEngine engine;
    const auto model = connected(engine);
    const auto first = run_text(model, "one text");
    REQUIRE(first);
    CHECK_FALSE(engine.last("run").contains("from"));
    const auto second = run_text(model, "one texts", {}, first->get());
    REQUIRE(second);
    CHECK(engine.last("run")["from"] == 8);
    CHECK(gap((*second)->pattern(0, 1), plain_pattern("one texts", 1, earlier)) < 1e-6);
    const auto other = run_text(model, "one tent", {}, second->get());  // from its change on
    REQUIRE(other);
    CHECK(engine.last("run")["from"] == 6);
    CHECK(gap((*other)->pattern(0, 0), plain_pattern("one tent", 0, earlier)) < 1e-6);
}

TEST_CASE("interventions are told to the server and laid over its scores") {
    FakeEngine engine;
    const auto model = connected(engine);
    const std::string text = "abcdef";
    Intervention changed;
    for (const char* spelled : {"temperature:0.5@0.1", "mask:3>1", "ablate:0.0:mean"}) {
        auto change = parse_change(model->config, spelled);
        REQUIRE_MESSAGE(change, spelled);
        changed.changes.push_back(*change);
    }
    changed.mask = *Mask::parse("window:3");
    const auto trace = run_text(model, text, changed);
    REQUIRE(trace);
    const Json asked = engine.last("run");
    CHECK(asked["mask"] == "window:3");
    CHECK(asked["changes"] == Json({"temperature:0.5@0.1", "mask:3>1", "ablate:0.0:mean"}));
    const auto sees = [](int q, int k) { return k <= q && q - k < 3 && !(q == 3 && k == 1); };
    CHECK(gap((*trace)->pattern(0, 1), plain_pattern(text, 1, sees, 0.5)) < 1e-6);
    CHECK(gap((*trace)->pattern(0, 0), plain_pattern(text, 0, sees)) < 1e-6);
    CHECK(run_text(model, text + "g", changed, trace->get()));
    CHECK(engine.last("run")["from"] == 6);  // the rows of the same interventions
    CHECK(run_text(model, text, {}, trace->get()));
    CHECK_FALSE(engine.last("run").contains("from"));
}

TEST_CASE("what a change holds already crosses beside it: rows of a patch, a pattern that no text gives") {
    FakeEngine engine;
    const auto model = connected(engine);
    Intervention changed;
    changed.changes.push_back(*parse_change(model->config, "skip-mlp:0"));
    Change patch = *parse_change(model->config, "patch-resid:1@0");
    patch.pattern = std::make_shared<const Matrix>(Matrix::Constant(4, 6, 0.5f));
    Change frozen = *parse_change(model->config, "freeze:0.1=x");
    frozen.from.clear();
    frozen.pattern = std::make_shared<const Matrix>(Matrix::Identity(4, 4));
    changed.changes.insert(changed.changes.end(), {patch, frozen});
    const auto trace = run_text(model, "abcd", changed);
    REQUIRE(trace);
    const Json asked = engine.last("run");
    CHECK(asked["changes"].size() == 3);
    REQUIRE(asked["tensors"].size() == 2);
    CHECK(asked["tensors"][0]["name"] == "rows.1");
    CHECK(asked["tensors"][0]["shape"] == Json({4, 6}));
    CHECK(asked["tensors"][1]["name"] == "rows.2");
    CHECK((*trace)->pattern(0, 1) == Matrix::Identity(4, 4));
}

TEST_CASE("patterns are asked for where q and k do not give them") {
    FakeEngine engine;
    const auto silent = [](const Json& request) {
        Json rule = FakeEngine::rule();
        rule["says"] = false;
        const auto ids = request["ids"].get<std::vector<int>>();
        const int n = isize(ids);
        SentTensor pattern{"blocks.0.attn.hook_pattern", "F32", {2, n, n}, {}};
        for (int i = 0; i < 2 * n * n; ++i) {
            const float value = 1 / float(n);
            pattern.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
        return frame_bytes({{"id", request["id"]}, {"from", 0}, {"rules", {{"blocks.0.attn", rule}}}},
                           {pattern, FakeEngine::tensor("blocks.0.attn.hook_q", ids, 0, 2, 0),
                            FakeEngine::tensor("blocks.0.attn.hook_k", ids, 0, 1, 1)});
    };
    const auto model = connected(engine);
    engine.answer("run", silent);
    const auto trace = run_text(model, "abcd");
    REQUIRE_MESSAGE(trace, (trace ? "" : trace.error().message));
    CHECK((*trace)->pattern(0, 1).isConstant(0.25f));
    const Json asked = engine.last("run")["capture"];
    CHECK(asked[0] == "*hook_pattern");
    CHECK(std::find(asked.begin(), asked.end(), "*hook_q") == asked.end());
    engine.answer_as_usual("run");
    const auto after = run_text(model, "abcde", {}, trace->get());
    REQUIRE(after);
    CHECK_FALSE(engine.last("run").contains("from"));  // rows of patterns have no q and k
    CHECK(gap((*after)->pattern(0, 1), plain_pattern("abcde", 1, earlier)) < 1e-6);
}

TEST_CASE("predictions come of rows of the residual stream, whose norm and unembedding are elsewhere") {
    FakeEngine engine;
    engine.answer("describe", [](const Json& request) {
        Json told = FakeEngine::described();
        told.update({{"id", request["id"]}, {"logits", kLogits}});
        return frame_bytes(told);
    });
    const auto of_rows = [](const std::string& name, int rows) {
        SentTensor out{name, "F32", {rows, kStream}, {}};
        for (int i = 0; i < rows * kStream; ++i) {
            const auto value = float(i / kStream + 1);
            out.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
        return out;
    };
    engine.answer("run", [&](const Json& request) {
        const auto ids = request["ids"].get<std::vector<int>>();
        return frame_bytes(
            {{"id", request["id"]}, {"from", 0}, {"rules", {{"blocks.0.attn", FakeEngine::rule()}}}},
            {FakeEngine::tensor("blocks.0.attn.hook_q", ids, 0, 2, 0),
             FakeEngine::tensor("blocks.0.attn.hook_k", ids, 0, 1, 1),
             of_rows("blocks.0.hook_resid_pre", isize(ids)), of_rows("hook_resid_final", isize(ids))});
    });
    const auto model = connected(engine);
    CHECK(model->logit_count() == kLogits);
    const auto trace = run_text(model, "abc");
    REQUIRE(trace);
    CHECK((*trace)->stack(0).layers[0]->resid_pre.row(1)[0] == 2);
    engine.answer("lens", [](const Json& request) {
        CHECK(request["tensors"][0]["shape"] == Json({1, kStream}));
        SentTensor logits{"logits", "F32", {1, kLogits}, {}};
        for (const float value : {0.0f, 1.0f, 5.0f, 2.0f, -1.0f})
            logits.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        return frame_bytes({{"id", request["id"]}}, {logits});
    });
    ThreadPool pool(1);
    const auto next = predictions(**trace, 2, 2, pool);
    CHECK(next[0].id == 2);
    CHECK(next[1].id == 3);
    CHECK(next[0].probability == doctest::Approx(0.9286).epsilon(1e-3));
    engine.answer("lens", [](const Json& request) {
        return frame_bytes({{"id", request["id"]}, {"error", "The model failed."}, {"code", "model"}});
    });
    const auto failed = guarded([&]() -> Status {
        predictions(**trace, 1, 2, pool);  // another row: that of the last question is still known
        return success();
    });
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message == "The model failed.");
}

TEST_CASE("a server that goes wrong is one sentence, and the connection goes on where it can") {
    FakeEngine engine;
    const auto model = connected(engine);
    const auto refused = [&](const std::string& part) {
        const auto trace = run_text(model, "abc");
        REQUIRE_FALSE(trace);
        CHECK_MESSAGE(trace.error().message.find(part) != std::string::npos, trace.error().message);
        CHECK(trace.error().message.ends_with("."));
    };
    const auto with = [](const Json& more, const std::vector<SentTensor>& tensors = {}) {
        return [=](const Json& request) {
            Json told{{"id", request["id"]}, {"from", 0}, {"rules", {{"blocks.0.attn", FakeEngine::rule()}}}};
            if (more.is_object()) told.update(more);
            return frame_bytes(told, tensors);
        };
    };
    const std::vector<int> ids{97, 98, 99};
    SentTensor q = FakeEngine::tensor("blocks.0.attn.hook_q", ids, 0, 2, 0),
               k = FakeEngine::tensor("blocks.0.attn.hook_k", ids, 0, 1, 1);
    engine.answer("run", with({{"error", "The model ran out of memory."}, {"code", "memory"}}));
    refused("ran out of memory");
    engine.answer("run", with({}, {q}));
    refused("does not send blocks.0.attn.hook_k");
    SentTensor narrow = k;
    narrow.shape[2] = 2;
    engine.answer("run", with({}, {q, narrow}));
    refused("of the shape [3, 1, 2]");
    SentTensor infinite = k;
    const float inf = std::numeric_limits<float>::infinity();
    std::memcpy(infinite.bytes.data(), &inf, sizeof inf);
    engine.answer("run", with({}, {q, infinite}));
    refused("NaN or infinity");
    SentTensor huge = k;
    const float large = 3e38f;
    std::memcpy(huge.bytes.data(), &large, sizeof large);
    engine.answer("run", with({}, {q, huge}));
    refused("scores are infinite");
    engine.answer("run", with({{"rules", Json::object()}}, {q, k}));
    refused("does not say how blocks.0.attn makes its patterns");
    engine.answer("run", with({{"from", 2}}, {q, k}));
    refused("from");
    engine.answer("run", with({}, {q, k}));
    CHECK(run_text(model, "abc"));
    CHECK(model->engine->is_there());
}

TEST_CASE("a server that is gone, or sends no frames, ends the connection with one sentence") {
    FakeEngine engine;
    auto model = connected(engine);
    engine.answer("run", [](const Json&) { return std::string("HTTP/1.1 400 Bad Request\r\n\r\n"); });
    const auto broken = run_text(model, "abc");
    REQUIRE_FALSE(broken);
    CHECK(broken.error().message.starts_with("What answers there is no engine of Headlight"));
    CHECK_FALSE(model->engine->is_there());
    CHECK(open_engine(engine.address(), nullptr, model));  // beside the old one, which lets the server go
    model = nullptr;
    model = connected(engine);
    engine.answer("run", [&](const Json&) {
        engine.die();
        return std::string();
    });
    const auto gone = run_text(model, "abc");
    REQUIRE_FALSE(gone);
    CHECK(gone.error().message.find("has ended") != std::string::npos);
    CHECK(gone.error().message.find("connect again") != std::string::npos);
    const auto after = run_text(model, "abc");
    REQUIRE_FALSE(after);
    CHECK(after.error().message == gone.error().message);
}

TEST_CASE("a pass elsewhere that is no longer wanted ends at once") {
    FakeEngine engine;
    const auto model = connected(engine);
    CancelFlag cancel{false};
    engine.answer("run", [&](const Json&) {
        cancel = true;  // the user has typed on; no answer comes
        return std::string();
    });
    engine.answer("cancel", [](const Json&) { return std::string(); });
    TextInput typed;
    typed.text = "abc";
    auto input = encode_input(*model, typed);
    REQUIRE(input);
    ThreadPool pool(1);
    const auto trace = run_trace(model, {std::move(input->sequences), {}}, pool, &cancel);
    REQUIRE_FALSE(trace);
    CHECK(trace.error().cancelled);
}

TEST_CASE("a server that refuses to describe a model, or describes none, is not opened") {
    const auto opened = [](const std::function<void(Json&)>& edit) {
        FakeEngine engine;
        engine.answer("describe", [&](const Json& request) {
            Json told = FakeEngine::described();
            edit(told);
            told["id"] = request["id"];
            return frame_bytes(told);
        });
        const auto model = open_engine(engine.address());
        return model ? std::string() : model.error().message;
    };
    CHECK(opened([](Json&) {}).empty());
    CHECK(opened([](Json& t) { t["config"] = {{"eos_token_id", {1, 2, -3, "x"}}}; }).empty());
    const auto block = [](Json& told) -> Json& { return told["blocks"][0]; };
    CHECK(opened([&](Json& t) { block(t)["heads"] = 1'000'000; }).find("heads") != std::string::npos);
    CHECK(opened([&](Json& t) { block(t)["kv_heads"] = 3; }).find("cannot share keys") != std::string::npos);
    CHECK(opened([&](Json& t) { block(t)["at"] = "blocks.1.attn"; }).find("0, 1") != std::string::npos);
    CHECK(opened([&](Json& t) { block(t)["at"] = "layers"; }).find("\"layers\"") != std::string::npos);
    CHECK(opened([](Json& t) { t["blocks"].push_back(t["blocks"][0]); }).find("twice") != std::string::npos);
    CHECK(opened([](Json& t) { t["blocks"] = Json::array(); }).find("no attention") != std::string::npos);
    CHECK(opened([](Json& t) { t["kind"] = "encoder_decoder"; }).find("its kind") != std::string::npos);
    CHECK(opened([](Json& t) { t["error"] = "Not now."; }) == "Not now.");
}

TEST_CASE("addresses of servers") {
    for (const char* yes : {"unix:/run/user/1000/headlight/gpt2-1-ab.sock", "127.0.0.1:7777", "localhost:1",
                            "gpu.example.org:80/ab"})
        CHECK_MESSAGE(is_engine_address(yes), yes);
    for (const char* no :
         {"stories", "phi:2", "llama3.2:1b", "openai-community/gpt2", "/models/a:3", "", ":7", "owner/x.y:7"})
        CHECK_MESSAGE(!is_engine_address(no), no);
    const std::string token(64, 'a');
    const auto local = parse_engine_address("127.0.0.1:7777/" + token);
    REQUIRE(local);
    CHECK(local->port == 7777);
    CHECK(local->token == token);
    CHECK(shown_address("127.0.0.1:7777/" + token) == "127.0.0.1:7777");
    CHECK_FALSE(parse_engine_address("127.0.0.1:7777"));
    CHECK_FALSE(parse_engine_address("127.0.0.1:70000/" + token));
    CHECK(model_key("127.0.0.1:7778/" + token) == "127.0.0.1:7778");  // what documents hold
    const auto kept = parse_engine_address("127.0.0.1:7778");
    REQUIRE(kept);
    CHECK(kept->token == token);
    const auto far = parse_engine_address("gpu.example.org:80/" + token);
    REQUIRE_FALSE(far);
    CHECK(far.error().message.find("ssh -L") != std::string::npos);
    for (const std::string place : {"gpu.example.org:80/", "127.0.0.1:99999/", "127.0.0.1:x/"}) {
        const auto wrong = parse_engine_address(place + token);
        REQUIRE_FALSE(wrong);
        CHECK(wrong.error().message.find(token) == std::string::npos);
    }
    CHECK(engine_name("unix:/run/headlight/gpt2-large-1234-ab12cd.sock") == "gpt2-large");
    CHECK_FALSE(open_engine("unix:/no/such/socket"));
}
