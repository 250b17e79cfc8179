// Tests activation patching: cases by hand, properties, and refusals.
#include "analysis/patching/patch.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "analysis/patching/patch_cells.h"
#include "analysis/patching/patch_estimate.h"
#include "changed.h"
#include "helpers.h"
#include "patch_pair.h"
#include "session/work/jobs.h"

using namespace headlight;

TEST_CASE("patching: restoring all inputs of a layer gives the clean run, in every family") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "bert", "gemma2", "phi", "bloom"}) {
        CAPTURE(name);
        const PatchPair pair(name, pool);
        const auto whole = pair.patched_with("patch-resid:*@1", pool);
        CHECK(same(whole->normalized().all(), pair.clean->normalized().all()));
        CHECK(!same(pair.corrupted->normalized().all(), pair.clean->normalized().all()));
    }
}

TEST_CASE(
    "patching: restoring attention and MLP of a layer restores its output, and views show the patches") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "bert", "gemma2", "phi", "marian"}) {
        CAPTURE(name);
        const PatchPair pair(name, pool);
        const ModelConfig& c = pair.model->config;
        const std::string layer = block_path(c, 1);
        const auto added = pair.patched_with("patch-attention:2-4@" + layer, pool),
                   mlp = pair.patched_with("patch-mlp:3@" + layer, pool),
                   head = pair.patched_with("patch-head:*@" + layer + ".1", pool);
        CHECK(same(added->attn_out(1, 2, 3, pool), pair.clean->attn_out(1, 2, 3, pool)));
        CHECK(!same(added->attn_out(1, 5, 1, pool), pair.clean->attn_out(1, 5, 1, pool)));
        CHECK(same(mlp->mlp_out(0, 1, pool).row(3), pair.clean->mlp_out(0, 1, pool).row(3)));
        const Index d = c.d_head(1);
        const Matrix z = head->z(1, 0, 6, pool), clean = pair.clean->z(1, 0, 6, pool),
                     before = pair.corrupted->z(1, 0, 6, pool);
        CHECK(same(z.middleCols(d, d), clean.middleCols(d, d)));
        CHECK(same(z.leftCols(d), before.leftCols(d)));
    }
}

TEST_CASE("patching: an MLP's output is the change of the residual stream after attention") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "gemma2", "phi", "opt"}) {
        CAPTURE(name);
        const PatchPair pair(name, pool);
        const Trace& t = *pair.clean;
        const Matrix step =
            t.resid_post(0, 1).all() - t.stack(0).layers[1]->resid_pre.all() - t.attn_out(1, pool);
        CHECK((t.mlp_out(0, 1, pool) - step).cwiseAbs().maxCoeff() < 2e-5f);
    }
}

TEST_CASE(
    "patching map: rows before the difference have no effect, the last position of the last layer "
    "restores all") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama"}) {
        CAPTURE(name);
        const PatchPair pair(name, pool);
        const auto map = patch_map(*pair.clean, *pair.corrupted, wanted_patch(PatchPart::resid_pre), pool);
        REQUIRE(map);
        CHECK((map->values.rows() == pair.model->config.layers() && map->values.cols() == 6));
        CHECK((map->done == map->cells && map->cells == map->values.size()));
        for (int layer = 0; layer < map->values.rows(); ++layer)
            for (const int same_before : {0, 1}) CHECK(map->values(layer, same_before) == 0);
        CHECK(map->values(0, 2) ==
              doctest::Approx(1).epsilon(1e-5));  // the token itself makes the whole difference
        for (const int position : {3, 4, 5}) CHECK(map->values(0, position) == 0);  // embeddings are equal
        const float by_hand =
            evaluate(map->asked.metric, *pair.patched_with("patch-resid:5@1", pool), *pair.clean, pool).value;
        CHECK(map->values(1, 5) ==
              doctest::Approx((by_hand - map->corrupted.value) / (map->clean.value - map->corrupted.value)));
    }
}

TEST_CASE("patching map: every cell equals a pass with that one change") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "bert", "marian"}) {
        CAPTURE(name);
        const PatchPair pair(name, pool);
        const int position = pair.clean->output().size() - 1;
        for (const PatchPartRow& row_of_table : patch_parts()) {
            const PatchPart part = row_of_table.part;
            CAPTURE(row_of_table.word);
            if (!row_of_table.spelled) continue;  // tests/reference/patching.py has those
            PatchRequest asked = wanted_patch(part, {1, 1});
            asked.metric.position = position;
            int calls = 0;
            const auto map = patch_map(*pair.clean, *pair.corrupted, asked, pool, nullptr,
                                       [&](const PatchMap& now) { calls += now.done > 0; });
            REQUIRE(map);
            CHECK(calls > 0);
            for (int row = 0; row < map->values.rows(); ++row)
                for (int column = 0; column < map->values.cols(); ++column) {
                    const bool exists = column < map->columns(*pair.corrupted, row);
                    REQUIRE(std::isnan(map->values(row, column)) != exists);
                    if (!exists) continue;
                    const std::string change = change_name(pair.model->config, patch_of(*map, row, column));
                    const MetricValues m =
                        evaluate(asked.metric, *pair.patched_with(change, pool), *pair.clean, pool);
                    CHECK_MESSAGE(
                        map->values(row, column) == doctest::Approx((m.value - map->corrupted.value) /
                                                                    (map->clean.value - map->corrupted.value))
                                                        .epsilon(1e-4),
                        change);
                }
        }
    }
}

TEST_CASE("patching map: queries, keys and values of the clean run together are its z") {
    ThreadPool pool(2);
    const PatchPair pair("llama", pool);
    const PatchMap of{.asked = wanted_patch(PatchPart::pattern), .blocks = {0, 1}};
    PatchCells cells(*pair.clean, *pair.corrupted, pool, nullptr);
    const auto pattern = cells.change(of, 1, 1);
    REQUIRE(pattern);
    CHECK(same(*pattern->pattern, pair.clean->pattern(1, 1)));
    PatchMap values = of;
    values.asked.part = PatchPart::v;
    const auto z = cells.change(values, 1, 1);
    REQUIRE(z);
    const Matrix want = pair.corrupted->pattern(1, 1) * pair.clean->v(1, 1).all();
    CHECK((*z->pattern - want).cwiseAbs().maxCoeff() < 1e-6f);
}

TEST_CASE("patching map: a cancelled one keeps measured cells, and resumes with the others") {
    ThreadPool pool(2);
    PatchPair pair("gpt2", pool);
    pair.clean = pair.run({5, 9, 200, 31, 5, 9, 5, 9, 31, 5, 9, 31}, pool);
    pair.corrupted = pair.run({5, 9, 77, 31, 5, 9, 5, 9, 31, 5, 9, 31}, pool);
    const PatchRequest asked = wanted_patch(PatchPart::resid_pre);
    const auto whole = patch_map(*pair.clean, *pair.corrupted, asked, pool);
    REQUIRE(whole);
    REQUIRE(whole->cells > 16);  // more than run together
    CancelFlag cancel{false};
    PatchMap part;
    const auto keep = [&](const PatchMap& now) {
        part = now;
        cancel = now.done > 0;
    };
    CHECK(patch_map(*pair.clean, *pair.corrupted, asked, pool, &cancel, keep).error().cancelled);
    REQUIRE((part.done > 0 && part.done < part.cells));
    part.values(0, 0) = 42;  // a measured cell, which is not measured again
    const auto rest = patch_map(*pair.clean, *pair.corrupted, asked, pool, nullptr, nullptr, &part);
    REQUIRE(rest);
    CHECK((rest->done == rest->cells && rest->values(0, 0) == 42));
    for (Index i = 1; i < rest->values.size(); ++i)
        CHECK(rest->values.data()[i] == doctest::Approx(whole->values.data()[i]));
}

TEST_CASE("patching map: an unmeasured cell shows its estimate, and both are compared") {
    PatchMap map;
    map.values.setConstant(1, 4, NAN);
    CHECK(std::isnan(map.shown(0, 3)));
    map.estimates = Eigen::RowVector4f(0.5f, 1, 1.5f, -2);
    map.values.leftCols(3) << 0.25f, 0.5f, 1;
    CHECK(map.shown(0, 1) == 0.5f);
    CHECK(map.shown(0, 3) == -2);
    const PatchAgreement found = patch_agreement(map);
    CHECK(found.cells == 3);
    CHECK(found.largest == 0.5f);
    CHECK(found.correlation == doctest::Approx(0.375 / std::sqrt(0.2916667 * 0.5)));  // Σ over deviations
}

TEST_CASE("patching estimates: 0 before the difference, and a small one equals the measured effect") {
    ThreadPool pool(2);
    const PatchPair pair("gpt2", pool);
    const auto map = patch_map(*pair.clean, *pair.corrupted, wanted_patch(PatchPart::resid_pre), pool);
    REQUIRE(map);
    CHECK(map->estimates.leftCols(2).cwiseAbs().maxCoeff() < 1e-6f);
    CHECK(map->estimates.col(2).cwiseAbs().minCoeff() > 0);
    const int last = narrow<int>(map->values.rows()) - 1;  // closest to linear through one layer
    CHECK(map->estimates(last, 5) == doctest::Approx(map->values(last, 5)).epsilon(0.5));
}

TEST_CASE("patching: what cannot be measured is refused with one sentence") {
    ThreadPool pool(1);
    const PatchPair pair("gpt2", pool);
    const auto refusal = [&](const Trace& clean, const Trace& corrupted, const PatchRequest& w) {
        const auto map = patch_map(clean, corrupted, w, pool);
        REQUIRE(!map);
        return map.error().message;
    };
    const auto longer = pair.run({5, 9, 200, 31, 5, 9, 7}, pool);
    const std::string lengths = refusal(*pair.clean, *longer, wanted_patch(PatchPart::heads));
    CHECK_MESSAGE(
        (lengths.find("6 tokens") != std::string::npos && lengths.find("7 tokens") != std::string::npos &&
         lengths.find("token 6") != std::string::npos),
        lengths);
    CHECK(refusal(*pair.clean, *pair.clean, wanted_patch(PatchPart::heads)).find("in both runs") !=
          std::string::npos);
    PatchRequest far = wanted_patch(PatchPart::heads);
    far.metric.position = 6;
    CHECK(refusal(*pair.clean, *pair.corrupted, far).find("position 6") != std::string::npos);
    CancelFlag cancel = true;
    const auto cancelled =
        patch_map(*pair.clean, *pair.corrupted, wanted_patch(PatchPart::heads), pool, &cancel);
    REQUIRE(!cancelled);
    CHECK(cancelled.error().cancelled);
}

TEST_CASE(
    "noise: three standard deviations of the embeddings on the named tokens only, the same from one seed") {
    ThreadPool pool(1);
    const auto model = reference_model("gpt2");
    const Matrix noise = embedding_noise(*model, 40, 7, pool), longer = embedding_noise(*model, 60, 7, pool);
    CHECK(same(noise, longer.topRows(40)));
    CHECK(!same(noise, embedding_noise(*model, 40, 8, pool)));
    const Linear& table = model->weights.stacks[0].token_embedding;
    Matrix all(table.out, table.in);
    for (Index id = 0; id < table.out; ++id) table.read(id, 0, table.in, all.row(id).data());
    const float deviation = std::sqrt((all.array() - all.mean()).square().mean());
    const float measured = std::sqrt(noise.array().square().mean());
    CHECK(measured == doctest::Approx(3 * deviation).epsilon(0.1));  // some thousand draws
    const PatchPair pair("gpt2", pool);
    Intervention noised;
    noised.changes.push_back(*parse_change(model->config, "noise:1-2=7"));
    REQUIRE(needs_patching(noised));
    const auto run =
        *run_trace(pair.model, {pair.clean->request.inputs, *patched(noised, *pair.clean, pool)}, pool);
    const Matrix moved =
        run->stack(0).layers[0]->resid_pre.all() - pair.clean->stack(0).layers[0]->resid_pre.all();
    CHECK((moved.middleRows(1, 2) - noise.middleRows(1, 2)).cwiseAbs().maxCoeff() < 1e-5f);
    CHECK((moved.row(0).isZero(0) && moved.bottomRows(3).isZero(0)));
}

TEST_CASE("patches need the text that they name, or the unchanged run") {
    ThreadPool pool(2);
    const auto model = *Model::open(kTests.parent_path() / "models" / "stories");
    const auto trace_of = [&](const std::string& text) {
        TextInput typed;
        typed.text = text;
        return *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
    };
    const auto own = trace_of("Lily had a red hat."), source = trace_of("Lily had a red ball.");
    REQUIRE(own->output().size() == source->output().size());
    Intervention wish;
    wish.changes.push_back(*parse_change(model->config, "ablate:0.0:zero"));
    wish.changes.push_back(*parse_change(model->config, "patch-resid:*@2=Lily had a red ball."));
    REQUIRE(needs_patching(wish));
    const auto whole = patched(wish, *own, pool);
    REQUIRE(whole);
    CHECK(!needs_patching(*whole));
    const auto run = *run_trace(model, {own->request.inputs, *whole}, pool, nullptr, own.get());
    CHECK(
        // ablations in lower layers are overwritten
        same(run->normalized().all(), source->normalized().all()));
    wish.changes[1] = *parse_change(model->config, "patch-resid:*@2");
    const auto back = *run_trace(model, {own->request.inputs, *patched(wish, *own, pool)}, pool);
    CHECK(same(back->normalized().all(), own->normalized().all()));
    wish.changes[1] = *parse_change(model->config, "patch-mlp:5@2=Lily had");
    const auto brief = patched(wish, *own, pool);
    REQUIRE(!brief);
    CHECK(brief.error().message.find("position 5") != std::string::npos);
    for (const char* bad : {"patch-resid:2", "patch-resid:2@2.0=x", "patch-resid:@2=x", "patch-head:2@2=x",
                            "patch-mlp:2@99=x", "patch-mlp:2@1=", "noise:x", "noise:2=x", "noise:2=-1"})
        CHECK_MESSAGE(!parse_change(model->config, bad), bad);
}

TEST_CASE("patching sweep: it fills in during work, is kept under patches by hand, and reports refusals") {
    ThreadPool pool(1);
    const PatchPair pair("gpt2", pool);
    const PatchMapRequest asked{true, wanted_patch(PatchPart::attn_out)};
    const auto patch_runs = [&](ShownRuns of, PatchMapRequest map, const Intervention& changes) {
        const PatchSweep::Request request{std::move(map)};
        return PatchSweep::of(&request, {pair.model, std::move(of), changes});
    };
    const auto runs = patch_runs({pair.corrupted, nullptr, pair.clean}, asked, {});
    REQUIRE(runs);
    const auto measured = [](const PatchSweep& of) {
        std::atomic<int> seen = 0;
        const Job<PatchSweep> sweep(of, {}, [&](bool) { ++seen; });
        while (!sweep.ended()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        CHECK(seen > 0);
        return sweep.found();
    };
    CHECK(
        same(measured(*runs).map.values, patch_map(*pair.clean, *pair.corrupted, asked.patch, pool)->values));
    const auto by_hand = pair.patched_with("patch-mlp:3@1", pool);
    const Job<PatchSweep> sweep(*runs, {}, [](bool) {});
    CHECK(sweep.is_of(
        *patch_runs({by_hand, pair.corrupted, pair.clean}, asked, by_hand->request.intervention)));
    CHECK(!sweep.is_of(*patch_runs({pair.clean, nullptr, pair.corrupted}, asked, {})));
    CHECK(!patch_runs({pair.corrupted, nullptr, nullptr}, asked, {}));
    const PatchMapRequest beyond{true, wanted_patch(PatchPart::head, {99, 99})};
    const AttentionHead nearest =
        patch_runs({pair.corrupted, nullptr, pair.clean}, beyond, {})->map.patch.head;
    CHECK(pair.model->config.has_head(nearest));
    CHECK(!patch_runs({pair.corrupted, nullptr, pair.clean}, {false, asked.patch}, {}));

    // Before and after interventions: a patch by hand is not a change of the map.
    Intervention wish;
    wish.changes.push_back(*parse_change(pair.model->config, "ablate:0.1:zero"));
    const auto ablated = *run_trace(pair.model, {pair.clean->request.inputs, wish}, pool);
    const PatchMapRequest restored{false, {PatchPart::resid_pre, {}, {MetricKind::logit, 9, -1, 5}}};
    const auto between = *patch_runs({ablated, pair.clean, nullptr}, restored, wish);
    wish.changes.push_back(*parse_change(pair.model->config, "patch-resid:5@1"));
    const auto patched_too =
        *run_trace(pair.model, {pair.clean->request.inputs, *patched(wish, *pair.clean, pool)}, pool);
    const auto after = *patch_runs({patched_too, pair.clean, nullptr}, restored, wish);
    CHECK(same(measured(between).map.values, measured(after).map.values));
    CHECK(between.changes == after.changes);
    const auto longer = pair.run({5, 9, 200, 31, 5, 9, 7}, pool);
    CHECK(measured(*patch_runs({pair.corrupted, nullptr, longer}, asked, {})).refusal.find("7 tokens") !=
          std::string::npos);
}

TEST_CASE("patching: two texts without a common frame get a warning, and their map") {
    ThreadPool pool(2);
    const PatchPair pair("gpt2", pool);
    const PatchRequest request = wanted_patch(PatchPart::resid_pre);
    const auto of = [&](std::vector<int> ids) {
        const auto map = empty_patch_map(*pair.run(std::move(ids), pool), *pair.corrupted, request, pool);
        REQUIRE(map);
        CHECK(map->cells > 0);
        return map->warning;
    };
    CHECK(of({5, 9, 200, 31, 5, 9}).empty());
    CHECK(of({5, 9, 200, 32, 5, 9}).empty());  // four of six, and both ends
    CHECK(of({6, 9, 200, 32, 8, 9}).find("only 2 of 6 tokens,") != std::string::npos);
    CHECK(of({5, 8, 77, 31, 6, 10}).find("only 3 of 6 tokens,") != std::string::npos);  // half, but no frame
}

TEST_CASE("patching map: a model whose blocks read side by side has no resid_mid") {
    ThreadPool pool(2);
    const PatchPair pair("phi", pool);
    const auto map = patch_map(*pair.clean, *pair.corrupted, wanted_patch(PatchPart::resid_mid), pool);
    REQUIRE(!map);
    CHECK(map.error().message.find("no resid_mid") != std::string::npos);
}
