// Tests changes against the model that runs them: what it lacks is an error, never an index.
#include "model/interventions/check_changes.h"

#include "analysis/patching/patch.h"
#include "changed.h"
#include "helpers.h"
#include "model/interventions/change_place.h"

using namespace headlight;

namespace {

std::shared_ptr<const Trace> own_run(const std::shared_ptr<const Model>& model, ThreadPool& pool) {
    ForwardRequest request = request_of({5, 9, 200, 31, 5, 9});
    if (model->config.stacks.size() > 1) request.inputs.push_back(request_of({0, 4, 7}).inputs[0]);
    if (model->config.can.read_image) {
        Picture picture;
        const VisionConfig& v = model->config.vision;
        picture.patches = random_matrix(v.patches(), Index{v.channels} * v.patch * v.patch, 1);
        request.inputs[0] = {};
        for (int i = 0; i <= v.patches(); ++i) request.inputs[0].ids.push_back(i);
        request.inputs[0].picture = std::make_shared<const Picture>(std::move(picture));
    }
    return *run_trace(model, request, pool);
}

/// Returns one change of every kind at the last places of a model, with the values of patches.
std::vector<Change> last_changes(const Trace& own, ThreadPool& pool) {
    const ModelConfig& c = own.config();
    std::vector<std::string> texts{"skip-mlp:" + block_path(c, c.layers() - 1), "positions:off@decoder",
                                   "positions:off", "temperature:0.5@cross", "noise:1=3"};
    for (const int block : {c.blocks() - 1, c.layers() - 1}) {
        const std::string layer = block_path(c, block), head = head_path(c, block, c.heads(block) - 1);
        for (const char* how : {":zero", ":mean", ":uniform", ":hard", ":keep"})
            texts.push_back("ablate:" + head + how);
        for (const char* kind : {"mask:0>1@", "unmask:0>1@", "temperature:0.5@", "patch-head:1@"})
            texts.push_back(kind + head);
        for (const char* kind :
             {"skip-attention:", "patch-resid:*@", "patch-attention:1..@", "patch-mlp:0-1@"})
            texts.push_back(kind + layer);
        texts.push_back("score:0>1@" + head + "=2");
        texts.push_back("freeze:" + head + "=The ball");
    }
    std::vector<Change> out;
    for (const std::string& text : texts) {
        const auto read = parse_change(c, text);
        if (!read) continue;  // a kind of place that the model lacks
        out.push_back(*read);
        Change given = *read;
        given.from.clear();
        if (const auto whole = patched({{}, {given}}, own, pool)) out.push_back(whole->changes[0]);
    }
    return out;
}

Change change_of(ChangeKind kind, int block = -1, int head = -1) {
    Change out;
    out.kind = kind;
    out.block = block;
    out.head = head;
    return out;
}

}  // namespace

TEST_CASE("changes of one model in another: each is run or refused in a sentence, of every kind and pair") {
    ThreadPool pool(1);
    std::vector<std::shared_ptr<const Trace>> runs;
    for (const char* name : {"gpt2", "llama", "bert", "bart", "t5", "vit", "bloom"})
        runs.push_back(own_run(reference_model(name), pool));
    int refused = 0, ran = 0;
    for (const auto& made : runs)
        for (const Change& change : last_changes(*made, pool))
            for (const auto& other : runs) {
                CAPTURE(made->model->name);
                CAPTURE(other->model->name);
                CAPTURE(change_name(made->config(), change));
                Result<std::shared_ptr<const Trace>> run = other;
                if (auto whole = patched({{}, {change}}, *other, pool))
                    run = run_trace(other->model, {other->request.inputs, *whole}, pool);
                else
                    run = whole.error();
                (run ? ran : refused)++;
                CHECK((run || run.error().message.find("layer") == std::string::npos ||
                       run.error().message.find("made a mistake") == std::string::npos));
                CHECK((other != made || run || !change.from.empty()));
                const auto alone = run_trace(other->model, {other->request.inputs, {{}, {change}}}, pool);
                CHECK(
                    (alone || alone.error().message.find("does not have; take it out") != std::string::npos));
            }
    MESSAGE(ran << " runs with changes of another model, " << refused << " refused");
    CHECK((ran > 100 && refused > 100));
}

TEST_CASE("changes: a place, positions or a width that the model lacks is refused, in release too") {
    ThreadPool pool(1);
    const auto gpt2 = own_run(reference_model("gpt2"), pool), bart = own_run(reference_model("bart"), pool);
    const auto refused = [&](const std::shared_ptr<const Trace>& own, const Change& change) {
        const Status checked = check_changes(*own->model, {{}, {change}});
        const auto run = run_trace(own->model, {own->request.inputs, {{}, {change}}}, pool);
        const auto whole = patched({{}, {change}}, *own, pool);
        CHECK((!run && !whole));
        return !checked &&
               checked.error().message.find(own->model->name + " does not have") != std::string::npos;
    };
    const int blocks = gpt2->config().blocks(), heads = gpt2->config().heads(0),
              width = gpt2->config().d_model;
    for (const ChangeRow& row : change_rows()) {
        CAPTURE(row.name);
        Change change = change_of(row.kind);
        change.query = change.key = 0;
        for (const int block : {blocks, 1 << 20, -2}) {
            change.block = block;
            CHECK(refused(gpt2, change));
        }
        change.block = 0;
        for (const int head : {heads, 1 << 20, -2}) {
            change.head = head;
            CHECK(refused(gpt2, change));
        }
    }
    const auto patch = [&](ChangeKind kind, int block, int head, Index columns) {
        Change change = change_of(kind, block, head);
        change.query = 0;
        change.pattern = std::make_shared<const Matrix>(Matrix::Zero(2, columns));
        return change;
    };
    for (const ChangeKind kind :
         {ChangeKind::patch_resid, ChangeKind::patch_attention, ChangeKind::patch_mlp, ChangeKind::noise}) {
        CHECK(refused(gpt2, patch(kind, 0, -1, width + 1)));
        CHECK(check_changes(*gpt2->model, {{}, {patch(kind, 0, -1, width)}}));
    }
    CHECK(refused(gpt2, patch(ChangeKind::patch_head, 0, 0, width)));
    const int cross = bart->config().blocks() - 1, own = bart->config().d_model;
    CHECK(check_changes(*bart->model, {{}, {patch(ChangeKind::patch_attention, cross, -1, own)}}));
    CHECK(refused(bart, patch(ChangeKind::patch_resid, cross, -1, own)));
    CHECK(refused(bart, patch(ChangeKind::patch_mlp, cross, -1, own)));
    CHECK(refused(bart, patch(ChangeKind::noise, 1, -1, own)));
    Change nowhere = patch(ChangeKind::patch_resid, 0, -1, width);
    nowhere.query = -1;
    CHECK(refused(gpt2, nowhere));
    CHECK(!parse_change(bart->config(), "skip-mlp:cross.0"));
    Change in_cross = change_of(ChangeKind::temperature);
    in_cross.blocks = Blocks::cross;
    CHECK(refused(gpt2, in_cross));
}
