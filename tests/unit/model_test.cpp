#include <cmath>

#include "helpers.h"
#include "io/json.h"
#include "model/attention.h"
#include "model/parameters.h"
#include "trace/trace_file.h"

using namespace headlight;

TEST_CASE("dense product: both layouts, every row count, odd sizes, equal a plain sum") {
    ThreadPool pool(2);
    const std::pair<int, int> sizes[] = {{1, 1}, {4, 3}, {48, 144}, {48, 420}, {33, 257}, {400, 130}, {800, 32}, {770, 65}};
    for (const auto& size : sizes)
        for (const int n : {1, 2, 7, 8, 9, 16, 17, 24, 25, 70}) {
            const int in = size.first, out = size.second;
            const Matrix x = random_matrix(n, in, 1), w = random_matrix(in, out, 2), bias = random_matrix(1, out, 3), wt = w.transpose();
            const Eigen::MatrixXd want = (x.cast<double>() * w.cast<double>()).rowwise() + bias.row(0).cast<double>();
            CAPTURE(n);
            CAPTURE(in);
            CAPTURE(out);
            for (const bool transposed : {false, true}) {
                const Linear linear{transposed ? wt.data() : w.data(), bias.data(), in, out, transposed ? in : out, transposed ? WeightLayout::out_in : WeightLayout::in_out};
                Matrix y = Matrix::Constant(n, out, NAN);
                apply_linear(pool, x, linear, y);
                CHECK((y.cast<double>() - want).cwiseAbs().maxCoeff() < 1e-3);
                if (out < 100) continue;
                Matrix part = Matrix::Constant(n, 37, NAN);
                apply_linear(pool, x, linear.columns(50, 37), part);
                CHECK((part.cast<double>() - want.middleCols(50, 37)).cwiseAbs().maxCoeff() < 1e-3);
            }
        }
}

TEST_CASE("attention by hand: two tokens, one head") {
    // q·k = [[1, 0], [2, 4]] with scale 0.5: row 1 is softmax(1, 2) = (1, e) / (1 + e)
    Matrix q(2, 1), k(2, 1), v(2, 1), z(2, 1);
    q << 1, 2;
    k << 1, 2;
    v << 10, 20;
    ThreadPool pool(1);
    const MaskPlan mask = MaskPlan::make({}, true, 2);
    attend(pool, mask, q, k, v, 1, 0.5f, 0, z);
    const float e = std::exp(1.0f);
    CHECK(z(0, 0) == doctest::Approx(10));
    CHECK(z(1, 0) == doctest::Approx((10 + 20 * e) / (1 + e)));
    Matrix pattern(2, 2);
    head_pattern(mask, q, k, 0.5f, 0, pattern);
    CHECK(pattern(0, 1) == 0);
    CHECK(pattern(1, 1) == doctest::Approx(e / (1 + e)));
}

TEST_CASE("masks by name") {
    CHECK(Mask::parse("own")->allows(0, 5, false));
    CHECK(!Mask::parse("own")->allows(0, 5, true));
    CHECK(!Mask::parse("causal")->allows(0, 5, false));
    CHECK(Mask::parse("none")->allows(0, 5, true));
    CHECK(!Mask::parse("sideways"));
}

TEST_CASE("every tensor of every reference model lies within its tolerance") {
    constexpr std::pair<const char*, float> tolerances[] = {{"hook_pattern", 5e-5f}, {"attn_out", 1e-4f}, {"resid_pre", 2e-4f}, {"resid_post", 2e-4f}, {"hook_normalized", 1e-4f}, {"logits", 1e-4f}};
    ThreadPool pool(2);
    const TemporaryFolder folder;
    for (const auto& entry : std::filesystem::directory_iterator(kTests / "reference/models")) {
        const auto model = reference_model(entry.path().filename().string());
        const auto expected = open_safetensors(entry.path() / "expected.safetensors");
        REQUIRE(expected);
        std::map<std::string, float> worst;
        for (int c = 0; expected->tensors.contains("case" + std::to_string(c) + "/input_ids"); ++c) {
            const std::string prefix = "case" + std::to_string(c) + "/";
            const StoredTensor& stored = expected->tensors.at(prefix + "input_ids");
            const auto* ids = reinterpret_cast<const int64_t*>(stored.bytes.data());
            const auto trace = trace_of(model, std::vector<int>(ids, ids + stored.shape[0]), pool);
            REQUIRE(write_trace(folder.path / "t.safetensors", *trace, {}, pool));
            const auto got = open_safetensors(folder.path / "t.safetensors");
            for (const auto& row : expected->tensors) {
                const std::string& name = row.first;
                const StoredTensor& want = row.second;
                if (!name.starts_with(prefix) || name.ends_with("input_ids")) continue;
                CAPTURE(name);
                const StoredTensor& mine = got->tensors.at(name.substr(prefix.size()));
                REQUIRE(mine.shape == want.shape);
                Eigen::VectorXf a(element_count(want.shape)), b(element_count(want.shape));
                decode_floats(want, a.data());
                decode_floats(mine, b.data());
                const float error = (a - b).cwiseAbs().maxCoeff();
                for (const auto& [kind, tolerance] : tolerances)
                    if (name.ends_with(kind)) {
                        CHECK(error <= tolerance);
                        worst[kind] = std::max(worst[kind], error);
                    }
            }
        }
        for (const auto& [kind, error] : worst) MESSAGE(model->name << ": largest error of " << kind << " " << error);
        CHECK(worst.size() == 6);
    }
}

TEST_CASE("properties: rows sum to 1, masked weights are 0, heads sum to the layer") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto trace = trace_of(model, {5, 9, 200, 31, 5, 9, 77, 300, 2}, pool);
    for (int l = 0; l < model->config.layers; ++l) {
        Matrix sum = Matrix::Zero(trace->size(), model->config.d_model);
        for (int h = 0; h < model->config.heads; ++h) {
            const Matrix p = trace->pattern(l, h);
            CHECK((p.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-5f);
            for (int q = 0; q < trace->size(); ++q)
                for (int k = q + 1; k < trace->size(); ++k) CHECK(p(q, k) == 0.0f);
            CHECK((p * trace->v(l, h) - Matrix(trace->z(l, h))).cwiseAbs().maxCoeff() < 1e-4f);
            for (int q = 0; q < trace->size(); ++q) sum.row(q) += trace->result(l, h, q).transpose();
        }
        const Eigen::Map<const Eigen::RowVectorXf> bias(model->weights.layers[static_cast<size_t>(l)].o.bias, model->config.d_model);
        CHECK(((sum.rowwise() + bias) - trace->activations.layers[static_cast<size_t>(l)].attn_out).cwiseAbs().maxCoeff() < 1e-4f);
    }
}

TEST_CASE("the mask 'none' shows every key, and a longer sentence does not change what came before it") {
    ThreadPool pool(1);
    const auto model = reference_model("gpt2");
    const auto open = trace_of(model, {5, 9, 200}, pool, *Mask::parse("none"));
    CHECK(open->pattern(0, 0)(0, 2) > 0);
    const auto brief = trace_of(model, {5, 9, 200}, pool), longer = trace_of(model, {5, 9, 200, 31, 77}, pool);
    CHECK((brief->activations.normalized - longer->activations.normalized.topRows(3)).cwiseAbs().maxCoeff() < 1e-5f);
}

TEST_CASE("typing on: rows taken from the trace before equal those of a full pass") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const std::vector<int> before{5, 9, 200, 31, 77};
    const auto past = trace_of(model, before, pool);
    for (const std::vector<int>& ids : {std::vector<int>{5, 9, 200, 31, 77, 8}, {5, 9, 200, 31, 78}, {5, 9}, {5, 9, 200, 31, 77}, {6, 9, 200}, {5, 10, 200, 31, 77, 1, 2, 3}}) {
        const auto full = trace_of(model, ids, pool);
        ForwardRequest request{ids, std::vector<std::string>(ids.size()), {}};
        const auto quick = *run_trace(model, request, pool, nullptr, past.get());
        CHECK((full->activations.normalized - quick->activations.normalized).cwiseAbs().maxCoeff() < 1e-5f);
        CHECK((full->activations.resid_final - quick->activations.resid_final).cwiseAbs().maxCoeff() < 1e-5f);
        for (int l = 0; l < model->config.layers; ++l) {
            CHECK((full->pattern(l, 1) - quick->pattern(l, 1)).cwiseAbs().maxCoeff() < 1e-5f);
            const auto &a = full->activations.layers[static_cast<size_t>(l)], &b = quick->activations.layers[static_cast<size_t>(l)];
            CHECK((a.attn_out - b.attn_out).cwiseAbs().maxCoeff() < 1e-5f);
            CHECK((a.z - b.z).cwiseAbs().maxCoeff() < 1e-5f);
            CHECK((a.resid_pre - b.resid_pre).cwiseAbs().maxCoeff() < 1e-5f);
        }
        request.mask = *Mask::parse("none");  // every key counts: nothing may be reused
        const auto open = *run_trace(model, request, pool, nullptr, past.get());
        CHECK((open->activations.normalized - trace_of(model, ids, pool, request.mask)->activations.normalized).cwiseAbs().maxCoeff() < 1e-5f);
    }
}

TEST_CASE("one thread and several give the same numbers") {
    ThreadPool one(1), three(3);
    const auto model = reference_model("gpt2");
    std::vector<int> ids;
    for (int i = 0; i < 48; ++i) ids.push_back(i * 7 % 420);
    const Matrix want = trace_of(model, ids, one)->activations.normalized;
    for (int repeat = 0; repeat < 20; ++repeat) {
        const bool same = trace_of(model, ids, three)->activations.normalized == want;
        CHECK(same);
    }
}

TEST_CASE("a cancelled pass ends between layers") {
    ThreadPool pool(1);
    CancelFlag cancel{true};
    CHECK(!run_trace(reference_model("gpt2"), {{1, 2}, {"", ""}, {}}, pool, &cancel));
}

TEST_CASE("parameter table of GPT-2 small: 124,439,808") {
    const auto config = parse_config(Json{{"model_type", "gpt2"}}, "x");
    REQUIRE(config);
    CHECK(parameter_count(*config) == 124'439'808);
    CHECK(short_count(124'439'808) == "124 M");
    const auto model = reference_model("gpt2");
    CHECK(parameter_count(model->config) == model->store.parameters());
}

TEST_CASE("malformed folders: one sentence each, nothing opened") {
    const Json manifest = Json::parse(read_bytes(kTests / "reference/malformed/manifest.json"));
    ThreadPool pool(1);
    for (const Json& c : manifest["cases"]) {
        CAPTURE(c.dump());
        const auto model = Model::open(kTests / "reference/malformed" / c["path"].get<std::string>());
        Result<ModelInput> input = model ? encode_for(**model, "hello world") : Result<ModelInput>(model.error());
        if (c["kind"] != "tokenizer" && model) input = ModelInput{};
        const std::string expect = c["expect"];
        if (expect == "error") CHECK(!input);
        if (expect == "ok") CHECK(input);
        if (!input) {
            CHECK(input.error().message.size() > 20);
            CHECK(input.error().message.find('\n') == std::string::npos);
            CHECK(input.error().message.back() == '.');
        }
    }
}

TEST_CASE("names of tensors are matched by globs") {
    CHECK(glob_match("*", ""));
    CHECK(glob_match("blocks.*.hook_q", "blocks.10.attn.hook_q"));
    CHECK(!glob_match("blocks.?.attn", "blocks.10.attn"));
    CHECK(glob_match("*a*b*c", "xaybzc"));
    CHECK(!glob_match("*a*b*c", "xaybz"));
}
