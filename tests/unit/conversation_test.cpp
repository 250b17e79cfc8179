// Tests conversations: turns of tokens, attention between turns, what a mask changes, and the document's
// draft.
#include "chat/conversation.h"

#include <cmath>

#include "analysis/attention/turns.h"
#include "analysis/prediction/own_answer.h"
#include "helpers.h"
#include "questions/chat_input.h"
#include "session/conversation.h"
#include "session/session.h"

using namespace headlight;

namespace {

constexpr const char* kTemplate =
    "<s>{% for m in messages %}[{{ m.role }}]{{ m.content }}[end]{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}";

/// Renders by the template above.
RenderedChat rendered(const ChatJson& messages, bool prompt) {
    ChatOptions options;
    options.add_generation_prompt = prompt;
    return *ChatTemplate::parse(kTemplate, "template")->render(messages, options);
}

/// Cuts a text at brackets and spaces: tokens of a few characters.
std::vector<Span> cut(const std::string& text) {
    std::vector<Span> out;
    int begin = 0;
    for (int i = 1; i <= isize(text); ++i)
        if (i == isize(text) || text[size_t(i)] == '[' || text[size_t(i)] == ' ' ||
            text[size_t(i) - 1] == ']' || text[size_t(i)] == '<' || text[size_t(i) - 1] == '>') {
            out.push_back({begin, i});
            begin = i;
        }
    return out;
}

std::string spelled_turns(const Conversation& chat) {
    std::string out;
    for (const ChatTurn& turn : chat.turns)
        out += turn.role + std::to_string(turn.first) + "-" + std::to_string(turn.end) + " ";
    return out;
}

const ChatJson kMessages{{{"role", "system"}, {"content", "be kind"}},
                         {{"role", "user"}, {"content", "hello you there"}}};

}  // namespace

TEST_CASE("conversations: each token belongs to the turn that it is written for") {
    const RenderedChat chat = rendered(kMessages, true);
    REQUIRE(chat.text == "<s>[system]be kind[end][user]hello you there[end][assistant]");
    const Conversation of = conversation_of(kMessages, chat, cut(chat.text));
    CHECK(spelled_turns(of) == "system0-5 user5-10 assistant10-11 ");  // <s> goes with the first
    CHECK(of.contents(0) == std::vector<std::pair<int, int>>{{2, 4}});
    CHECK(of.contents(1) == std::vector<std::pair<int, int>>{{6, 9}});
    CHECK(of.contents(2).empty());
    CHECK(of.answers);
    CHECK(of.turn_of(4) == 0);
    CHECK(of.turn_of(10) == 2);
    CHECK(of.turn_of(11) == -1);
}

TEST_CASE("conversations: what the model writes is its answer, and its thinking a turn of its own") {
    const RenderedChat chat = rendered(kMessages, true);
    const Conversation of =
        conversation_of(kMessages, chat, cut(chat.text), {"<think>", "so", " be", "</think>", "hi", " !"});
    CHECK(spelled_turns(of) == "system0-5 user5-10 thinking10-15 assistant15-17 ");
    const Conversation begun = conversation_of(kMessages, chat, cut(chat.text), {"<think>", "so"});
    CHECK(spelled_turns(begun) == "system0-5 user5-10 thinking10-13 ");
    ChatJson answered = kMessages;
    answered.push_back({{"role", "assistant"}, {"content", "<think>so be</think>hi"}});
    const RenderedChat whole = rendered(answered, false);
    const Conversation kept = conversation_of(answered, whole, cut(whole.text));
    CHECK(spelled_turns(kept).starts_with("system0-5 user5-10 thinking10-"));
    CHECK(!kept.answers);
    CHECK(kept.turns.back().role == "assistant");
}

TEST_CASE("conversations: tags of other models enclose thinking too") {
    for (const auto& [open, close] : {std::pair{"[THINK]", "[/THINK]"},
                                      {"<|channel|>analysis<|message|>", "<|end|>"},
                                      {"<|channel>thought", "<channel|>"},
                                      {"<|START_THINKING|>", "<|END_THINKING|>"}}) {
        const RenderedChat chat = rendered(kMessages, true);
        const Conversation of = conversation_of(kMessages, chat, cut(chat.text), {open, "so", close, "hi"});
        REQUIRE(of.turns.size() == 4);
        CHECK(of.turns[2].thinking);
        CHECK(of.turns[3].role == "assistant");
    }
}

TEST_CASE("turns: attention between turns is the mean over queries of sums over keys, recomputed") {
    ThreadPool pool(2);
    for (const char* name : {"llama", "gpt_oss", "jamba"}) {
        const auto model = reference_model(name);
        const auto trace = trace_of(model, {5, 9, 14, 3, 8, 21, 4, 17}, pool);
        TurnsRequest r{{-1, 0, 0, -1, 1, 1, 2, 2}, {-1, 0, 0, -1, 1, 1, -1, 2}, 3};
        const TurnWeights mean = *turn_weights(*trace, r, pool);
        const ModelConfig& c = model->config;
        Matrix sum = Matrix::Zero(3, 3), largest = Matrix::Zero(3, 3);
        for (int i = 0; i < c.head_count(); ++i) {
            const Matrix shares = shares_of_keys(*trace, c.head_at(i), 0, 8);
            Matrix own = Matrix::Zero(3, 3);
            for (int q = 0; q < 8; ++q)
                for (int k = 0; k < 8; ++k)
                    if (r.of_query[size_t(q)] >= 0 && r.of_key[size_t(k)] >= 0)
                        own(r.of_query[size_t(q)], r.of_key[size_t(k)]) += shares(q, k) / 2;
            sum += own / float(c.head_count());
            largest = largest.cwiseMax(own);
            for (int cell = 0; cell < 9; ++cell)
                CHECK(mean.heads(i, cell) == doctest::Approx(own.data()[cell]).epsilon(1e-4));
            r.head = c.head_at(i);
            CHECK((turn_weights(*trace, r, pool)->turns - own).cwiseAbs().maxCoeff() < 1e-5f);
            r.head.reset();
        }
        CHECK((mean.turns - sum).cwiseAbs().maxCoeff() < 1e-5f);
        CHECK(mean.turns(0, 2) == 0);  // later keys
        r.measure = TurnMeasure::max;
        CHECK((turn_weights(*trace, r, pool)->turns - largest).cwiseAbs().maxCoeff() < 1e-5f);
    }
}

TEST_CASE(
    "turns: contributions of all tokens and the own stream are 1, and a turn without a query is unknown") {
    ThreadPool pool(2);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 14, 3, 8, 21}, pool);
    TurnsRequest r{{0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 1, 1}, 3, TurnMeasure::contribution};
    const TurnWeights of = *turn_weights(*trace, r, pool);
    CHECK(of.turns.topRows(2).minCoeff() >= 0);
    for (int turn = 0; turn < 2; ++turn) {
        const float sum = of.turns.row(turn).head(2).sum();
        CHECK((sum > 0 && sum < 1));  // the rest is the tokens' own stream
    }
    CHECK(std::isnan(of.turns(2, 0)));
    r.measure = TurnMeasure::max;
    CHECK(std::isnan(turn_weights(*trace, r, pool)->turns(2, 0)));
    r.of_key.pop_back();
    CHECK(!turn_weights(*trace, r, pool));  // of another text
}

TEST_CASE("own answers: the first token that differs, with its probability before and now") {
    ThreadPool pool(2);
    const auto model = reference_model("llama");
    ForwardRequest prompt = request_of({5, 9, 14, 3});
    Change off;
    off.kind = ChangeKind::zero;
    off.block = off.head = 0;
    std::vector<TokenBeforeAndNow> there;
    for (off.head = 0; off.head < model->config.heads(0) && there.empty(); ++off.head) {
        prompt.intervention.changes = {off};
        const GenerationRequest asked{{}, 12, {}};
        const Generation now = *generate(model, prompt, asked, pool);
        ForwardRequest whole = prompt;
        for (const int id : now.ids()) append_token(*model, whole.inputs[0], id);
        const auto shown = *run_trace(model, whole, pool);
        whole.intervention = {};
        const auto own = *run_trace(model, whole, pool);
        const OwnAnswer found = *measure_own_answer({*shown, own.get()}, {asked, 4}, pool, nullptr, nullptr);
        const Generation before = *generate(model, request_of({5, 9, 14, 3}), asked, pool);
        REQUIRE(found.generation.ids() == before.ids());
        if (found.differs < 0) {
            CHECK(now.ids() == before.ids());
            continue;
        }
        const auto at = size_t(found.differs);
        CHECK(std::equal(before.tokens.begin(), before.tokens.begin() + found.differs, now.tokens.begin(),
                         [](const auto& a, const auto& b) { return a.id == b.id; }));
        if (found.there.empty()) continue;
        there = found.there;
        CHECK(there[0].id == before.tokens[at].id);
        CHECK(there[1].id == now.tokens[at].id);
        CHECK(there[0].before == doctest::Approx(before.tokens[at].probability).epsilon(1e-4));
        CHECK(there[1].now == doctest::Approx(now.tokens[at].probability).epsilon(1e-4));
        CHECK(there[0].before > there[1].before);
        CHECK(there[1].now > there[0].now);
    }
    CHECK(!there.empty());
}

TEST_CASE("drafts: a conversation is spelled, read back, and read by the model with the field's text") {
    Document d;
    CHECK(chat_read(d).empty());  // a plain text
    d.chatting = true;
    CHECK(chat_read(d).empty());  // nothing to read
    d.text = "hello";
    CHECK(chat_read(d) == R"({"messages":[{"role":"user","content":"hello"}]})");
    ChatDraft draft = draft_of(d);
    draft.messages().push_back({{"role", "user"}, {"content", "one\ntwo"}});
    draft.role = "tool";
    put_draft(d, draft);
    CHECK(draft_of(d).role == "tool");
    CHECK(draft_of(d).size() == 1);
    CHECK(draft_of(d).awaits_answer());
    draft.edited = 0;
    put_draft(d, draft);
    d.text = to_field("one\ntwo");
    CHECK(d.text == "one⏎two");
    CHECK(parse_chat(chat_read(d), "it")->messages[0]["content"] == "one\ntwo");
    d.text = "three";
    CHECK(parse_chat(chat_read(d), "it")->messages[0]["content"] == "three");
    CHECK(check_conversation(d.conversation, "it"));
    for (const char* broken : {"[", "3", R"({"messages": [3]})", R"({"message": []})"}) {
        CHECK(!check_conversation(broken, "it"));
        d.conversation = broken;
        CHECK(draft_of(d).size() == 0);
    }
}

TEST_CASE("drafts: a file of messages is a conversation, and a mask of a turn goes on and off") {
    const auto draft = read_draft(R"([{"role": "user", "content": "hi"}])", "it");
    REQUIRE(draft);
    CHECK(draft->size() == 1);
    CHECK(!read_draft(R"({"messages": [], "x": 1})", "it"));
    const RenderedChat chat = rendered(kMessages, true);
    const Conversation of = conversation_of(kMessages, chat, cut(chat.text));
    Document d;
    toggle_turn_mask(d, of, 0);
    REQUIRE(d.intervention.changes.size() == 1);
    const Change mask = d.intervention.changes[0];
    CHECK((mask.key == 2 && mask.keys == 2 && mask.query == 5 && mask.queries == kToEnd));
    CHECK(change_name(reference_model("llama")->config, mask) == "mask:5..>2-3");
    CHECK(is_turn_masked(d.intervention, of, 0));
    CHECK(!is_turn_masked(d.intervention, of, 1));
    toggle_turn_mask(d, of, 0);
    CHECK(d.intervention == Intervention{});
}
