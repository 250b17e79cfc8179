// Answers what tests/reference/chat_templates.py asks: chats rendered by templates, one JSON object a line.
#include <fstream>
#include <iomanip>
#include <sstream>

#include "chat/chat_template.h"
#include "helpers.h"
#include "io/json.h"

using namespace headlight;

namespace {

ChatOptions options_of_request(const ChatJson& request) {
    ChatOptions out;
    out.add_generation_prompt = request.value("add_generation_prompt", false);
    out.continue_final_message = request.value("continue_final_message", false);
    out.tools = request.value("tools", ChatJson());
    out.documents = request.value("documents", ChatJson());
    out.variables = request.value("variables", ChatJson::object());
    for (const auto& [name, token] : request["special_tokens"].items())
        out.special_tokens[name] = token.get<std::string>();
    out.now = std::tm{};
    std::istringstream(request["now"].get<std::string>()) >> std::get_time(&out.now, "%Y-%m-%d %H:%M:%S");
    std::mktime(&out.now);  // fills in the day of the week
    return out;
}

ChatJson answer_to(const ChatJson& request) {
    const auto parsed = ChatTemplate::parse(read_bytes(request["template"].get<std::string>()), "template");
    if (!parsed) return {{"error", parsed.error().message}};
    const auto chat = parsed->render(request["messages"], options_of_request(request));
    if (!chat) return {{"error", chat.error().message}};
    ChatJson stretches = ChatJson::array();
    for (const ChatStretch& s : chat->stretches) stretches.push_back({s.begin, s.end, s.message, s.field});
    return {{"text", chat->text}, {"stretches", stretches}};
}

}  // namespace

TEST_CASE("chat templates as tests/reference/chat_templates.py asks") {
    const char* asked = std::getenv("HEADLIGHT_CHAT_REQUESTS");
    const char* answers = std::getenv("HEADLIGHT_CHAT_ANSWERS");
    if (!asked || !answers) return;
    std::ifstream in(asked);
    std::ofstream out(answers);
    for (std::string line; std::getline(in, line);) {
        const auto request = parse_ordered_json(line, "The request");
        REQUIRE(request);
        out << json_text(answer_to(*request)) << "\n";
    }
    CHECK(out.good());
}
