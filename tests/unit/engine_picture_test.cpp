// Tests images that another process reads: sent once, named afterwards, sent again where they are forgotten.
#include "analysis/prediction/predict.h"
#include "chat/files.h"
#include "engine/remote_engine.h"
#include "fake_engine.h"
#include "model/engine.h"
#include "model/input.h"
#include "questions/chat_input.h"

using namespace headlight;

namespace {

/// Makes the fake read images as 2 × 2 patches before the text, the token 1 each.
class Seeing {
public:
    explicit Seeing(FakeEngine& engine, const std::string& pictures = "beside") {
        engine.answer("describe", [pictures](const Json& asked) {
            Json told = FakeEngine::described();
            told.update({{"id", asked["id"]}, {"pictures", pictures}});
            return frame_bytes(std::move(told));
        });
        engine.answer("encode", [this](const Json& asked) {
            const bool sent = asked.contains("tensors") && !asked["tensors"].empty();
            sent_ += sent;
            if (sent) known_ = "p" + std::to_string(sent_);
            const bool named = asked.contains("picture");
            if (named && asked["picture"] != known_)
                return frame_bytes({{"id", asked["id"]}, {"error", "It is gone."}, {"code", "picture"}});
            Json told{{"id", asked["id"]}, {"ids", Json::array()}, {"tokens", Json::array()}};
            if (named || sent) told["picture"] = grid;
            if (named || sent) told["picture"]["name"] = known_;
            for (int i = 0; i < 4 * int(named || sent); ++i) {
                told["ids"].push_back(1);
                told["tokens"].push_back(std::to_string(i / 2) + "," + std::to_string(i % 2));
            }
            for (const char letter : asked["text"].get<std::string>()) {
                told["ids"].push_back(int(letter));
                told["tokens"].push_back(std::string(1, letter));
            }
            return frame_bytes(std::move(told));
        });
    }
    void forget() { known_ = "another"; }
    int sent() const { return sent_; }

    Json grid{{"first", 0}, {"count", 4}, {"rows", 2}, {"columns", 2}};

private:
    int sent_ = 0;
    std::string known_ = "none";
};

std::shared_ptr<const RgbImage> image(uint8_t value) {
    return std::make_shared<const RgbImage>(RgbImage{2, 1, std::vector<uint8_t>(6, value)});
}

Result<ModelInput> read(const Model& model, const std::string& text, std::shared_ptr<const RgbImage> seen) {
    TextInput typed;
    typed.text = text;
    typed.image = std::move(seen);
    return encode_input(model, typed);
}

Result<std::shared_ptr<const Trace>> run(const std::shared_ptr<const Model>& model, ModelInput input) {
    ThreadPool pool(1);
    return run_trace(model, {std::move(input.sequences), {}}, pool);
}

}  // namespace

TEST_CASE("an image crosses once, and later texts name it") {
    FakeEngine engine;
    Seeing server(engine);
    const auto model = open_engine(engine.address());
    REQUIRE(model);
    CHECK((*model)->config.can.add_image);
    const auto seen = image(9);
    auto first = read(**model, "ab", seen), second = read(**model, "abc", seen);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(server.sent() == 1);
    CHECK(engine.last("encode")["picture"] == "p1");
    const auto picture = first->sequences[0].picture;
    CHECK(picture == second->sequences[0].picture);
    CHECK(picture->grid == PatchGrid{0, 4, 2, 2});
    CHECK(picture->image.rgb == seen->rgb);
    CHECK(token_labels(**model, first->sequences[0], 0) ==
          std::vector<std::string>{"0,0", "0,1", "1,0", "1,1", "a", "b"});
    REQUIRE(run(*model, *first));
    CHECK(engine.last("run")["picture"] == "p1");
    REQUIRE(run(*model, *second));
}

TEST_CASE("the rows of a text beside another image serve no pass") {
    FakeEngine engine;
    Seeing server(engine);
    const auto model = open_engine(engine.address());
    REQUIRE(model);
    const auto one = run(*model, *read(**model, "ab", image(1)));
    REQUIRE(one);
    const auto two = run(*model, *read(**model, "ab", image(2)));
    REQUIRE(two);
    CHECK(engine.last("run")["picture"] == "p2");
    CHECK_FALSE(engine.last("run").contains("from"));
}

TEST_CASE("an image that the server has forgotten is sent again") {
    FakeEngine engine;
    Seeing server(engine);
    const auto model = open_engine(engine.address());
    REQUIRE(model);
    const auto seen = image(3);
    const auto input = read(**model, "ab", seen);
    REQUIRE(input);
    server.forget();
    REQUIRE(read(**model, "abc", seen));
    CHECK(server.sent() == 2);
    int asked = 0;
    engine.answer("run", [&](const Json& request) {
        if (++asked == 1)
            return frame_bytes({{"id", request["id"]}, {"error", "It is gone."}, {"code", "picture"}});
        return frame_bytes({{"id", request["id"]}, {"error", "Asked again."}, {"code", "request"}});
    });
    const auto failed = run(*model, *read(**model, "abc", seen));
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message == "Asked again.");
    CHECK(server.sent() == 3);
}

TEST_CASE("a grid of patches that does not fit the tokens is refused") {
    const Json wrong[] = {{{"first", 3}, {"count", 4}, {"rows", 2}, {"columns", 2}},
                          {{"first", 0}, {"count", 4}, {"rows", 3}, {"columns", 2}},
                          {{"first", -1}, {"count", 4}},
                          {{"first", 0}, {"count", 1 << 30}, {"rows", 1 << 15}, {"columns", 1 << 15}}};
    for (const Json& grid : wrong) {
        CAPTURE(grid.dump());
        FakeEngine engine;
        Seeing server(engine);
        server.grid = grid;
        const auto model = open_engine(engine.address());
        REQUIRE(model);
        const auto input = read(**model, "ab", image(1));
        REQUIRE_FALSE(input);
        CHECK_FALSE(input.error().message.empty());
    }
}

TEST_CASE("a server's model that reads images alone opens as a vision model") {
    FakeEngine engine;
    Seeing server(engine, "alone");
    const auto model = open_engine(engine.address());
    REQUIRE(model);
    CHECK((*model)->config.can.read_image);
    const auto none = read(**model, "text", nullptr);
    REQUIRE_FALSE(none);
    CHECK(none.error().message.find("--image") != std::string::npos);
    const auto trace = run(*model, *read(**model, "", image(1)));
    REQUIRE(trace);
    CHECK((*trace)->query_count(0) == 4);
    CHECK(token_labels(**trace, 0)[3] == "1,1");
}

TEST_CASE("a conversation with an image is rendered, whether its template reads texts or lists of parts") {
    const std::string of_parts =
        "{% for m in messages %}{{ m.role }}:{% for p in m.content %}{% if p.type == 'image' %}<i>"
        "{% else %}{{ p.text }}{% endif %}{% endfor %} {% endfor %}";
    const std::string of_both =
        "{% for m in messages %}{{ m.role }}:{% if m.content is string %}{{ m.content }}{% else %}"
        "{% for p in m.content %}{% if p.type == 'image' %}<i>{% else %}{{ p.text }}{% endif %}{% endfor %}"
        "{% endif %} {% endfor %}";
    for (const std::string& written : {of_parts, of_both}) {
        FakeEngine engine;
        Seeing server(engine);
        const auto opened = open_engine(engine.address());
        REQUIRE(opened);
        Model model = **opened;
        const auto templates = parse_chat_templates(Json(written), "test");
        REQUIRE(templates);
        model.chat = std::make_shared<const ChatTemplates>(*templates);
        const auto request =
            parse_chat(R"([{"role":"system","content":"S"},{"role":"user","content":"What?"}])", "test");
        REQUIRE(request);
        const auto seen = encode_chat_input(model, *request, image(1));
        REQUIRE(seen);
        CHECK(seen->rendered.text == "system:S user:<i>What? ");
        const auto alone = encode_chat_input(model, *request);
        REQUIRE(alone);
        CHECK(alone->rendered.text == "system:S user:What? ");
    }
}

TEST_CASE("a model that reads no images refuses one, here and elsewhere") {
    FakeEngine engine;
    const auto model = open_engine(engine.address());
    REQUIRE(model);
    const auto input = read(**model, "ab", image(1));
    REQUIRE_FALSE(input);
    CHECK(input.error().message.find("reads text, not images") != std::string::npos);
}
