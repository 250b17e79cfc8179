// Tests chat templates: the language, where bytes come from, and templates that must be refused.
#include "chat/chat_template.h"

#include "helpers.h"

using namespace headlight;

namespace {

const ChatJson kHello = {{{"role", "user"}, {"content", "Hi é"}}};

std::string rendered(const std::string& text, const ChatJson& messages = kHello, ChatOptions options = {}) {
    const auto parsed = ChatTemplate::parse(text, "test.jinja");
    if (!parsed) return parsed.error().message;
    const auto chat = parsed->render(messages, options);
    return chat ? chat->text : chat.error().message;
}

/// Writes stretches as "0content[Hi]".
std::string origins(const std::string& text, const ChatJson& messages, const ChatOptions& options = {}) {
    const auto chat = ChatTemplate::parse(text, "test.jinja")->render(messages, options);
    REQUIRE(chat);
    std::string out;
    for (const ChatStretch& s : chat->stretches)
        out += (s.message < 0 ? "" : std::to_string(s.message)) + s.field + (s.thinking ? "*" : "") + "[" +
               chat->text.substr(s.begin, s.end - s.begin) + "]";
    return out;
}

const ChatJson kThree = {{{"role", "system"}, {"content", " Be brief.\n"}},
                         {{"role", "user"}, {"content", "Hello"}},
                         {{"role", "assistant"}, {"content", "Hi"}}};

constexpr const char* kTurns =
    "{% for m in messages %}<|{{ m.role }}|>{{ m['content'] | trim }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}";

}  // namespace

TEST_CASE("expressions have Python's values and precedence") {
    CHECK(rendered("{{ 1 + 2 * 3 ** 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 4 / 2 }} {{ 1e16 }} {{ 0.0001 }}") ==
          "19 -4 2 2.0 1e+16 0.0001");
    CHECK(rendered("{{ [1, 'a', \"it's\", none, 2.5, true, (1,), {'k': 'v'}] }}") ==
          "[1, 'a', \"it's\", None, 2.5, True, (1,), {'k': 'v'}]");
    CHECK(rendered("{{ 1 < 2 < 3 }}{{ 1 == 1.0 }}{{ 'a' in 'abc' and 'b' not in ['a'] }}") == "TrueTrueTrue");
    CHECK(rendered("{{ 'é🙂x'[1:] }} {{ 'abc'[::-1] }} {{ 'é🙂x'|length }} {{ [1, 2, 3][-2:] }}") ==
          "🙂x cba 3 [2, 3]");
    CHECK(rendered("{{ 1 if false else 'b' if true }}{{ missing }}{{ messages[9] is defined }}") == "bFalse");
    CHECK(rendered("{{ '%s-%05d' % ('a', 42) }} {{ '{:>4}|{!r}'.format(7, 'q') }}") == "a-00042    7|'q'");
    CHECK(rendered("{{ {'b': 'é\"', 'a': [1, none]} | tojson }}") == "{\"b\": \"é\\\"\", \"a\": [1, null]}");
    CHECK(rendered("{{ {'items': 1}.items is callable }}{{ {'items': 1}['items'] }}") == "True1");
}

TEST_CASE("white space goes as trim_blocks and lstrip_blocks say") {
    CHECK(rendered("  {% if true %}\n  a\n  {% endif %}\nb\n") == "  a\nb");
    CHECK(rendered("x  {%- if true -%}  a  {%+ endif +%}\nb") == "xa  \nb");
    CHECK(rendered("{# c #}\na {#- d -#} b\n\n") == "ab\n");
    CHECK(rendered("{% raw %}{{ x }}{% endraw %}|") == "{{ x }}|");
}

TEST_CASE("a loop's names end with it, a namespace's stay, a generator gives its items once") {
    CHECK(rendered("{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 9 %}{% endfor %}{{ x }}") == "111");
    CHECK(rendered("{% set n = namespace(x=1) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}{% endfor %}{{ "
                   "n.x }}") == "4");
    CHECK(rendered("{% set g = [1, 2] | map('string') %}{{ g | join }}{{ g | join }}") == "12");
    CHECK(rendered("{% for x in [3, 1, 2] if x > 1 %}{{ loop.index }}/{{ loop.length }}{{ loop.last }}"
                   "{% else %}none{% endfor %}") == "1/2False2/2True");
    CHECK(rendered("{% macro f(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(b=2, a=3) }}") == "1132");
}

TEST_CASE("bytes of a message keep their origin through the template's changes") {
    CHECK(origins(kTurns, kThree) ==
          "0[<|]0role[system]0[|>]0content[Be brief.]0[</s>\n]1[<|]1role[user]1[|>]1content[Hello]1[</s>\n]"
          "2[<|]2role[assistant]2[|>]2content[Hi]2[</s>\n]");
    CHECK(origins("{{ (messages[1].content | upper)[1:] ~ '-' ~ messages[1].content | replace('l', 'LL') }}",
                  kThree) == "1content[ELLO]1[-]1content[He]1[LLLL]1content[o]");
    CHECK(origins("{{ messages[1] | tojson }}", kThree) ==
          "1message[{]1role[\"role\"]1message[: ]1role[\"user\"]1message[, ]1content[\"content\"]1message[: ]"
          "1content[\"Hello\"]1message[}]");
}

TEST_CASE("what the template writes beside a message outside its loop belongs to that message") {
    CHECK(origins("<s>{% if messages[0].role == 'system' %}<<{{ messages[0].content | trim }}>>{% endif %}"
                  "{% for m in messages[1:] %}[{{ m.content }}]{% endfor %}!",
                  kThree) ==
          "0[<s><<]0content[Be brief.]0[>>]1[[]1content[Hello]1[]]2[[]2content[Hi]2[]][!]");
}

TEST_CASE("reasoning and what stands between think tags is thinking") {
    const ChatJson said = {{{"role", "assistant"}, {"content", "<think>a</think>b"}}};
    CHECK(origins("{{ messages[0].content }}", said) == "0content[<think>]0content*[a]0content[</think>b]");
    const ChatJson apart = {{{"role", "assistant"}, {"content", "b"}, {"reasoning", "a"}}};
    CHECK(origins("{% for m in messages %}<{{ m.reasoning_content }}>{{ m.content }}{% endfor %}", apart) ==
          "0[<]0reasoning_content*[a]0[>]0content[b]");
}

TEST_CASE("the generation prompt is found, and a message can be continued") {
    const auto parsed = ChatTemplate::parse(kTurns, "test.jinja");
    REQUIRE(parsed);
    ChatOptions options;
    options.add_generation_prompt = true;
    const auto asked = parsed->render(kHello, options);
    REQUIRE(asked);
    CHECK(asked->text.substr(asked->prompt) == "<|assistant|>");
    options.continue_final_message = true;
    CHECK_FALSE(parsed->render(kHello, options));
    options.add_generation_prompt = false;
    const auto continued = parsed->render(kThree, options);
    REQUIRE(continued);
    CHECK(continued->text.ends_with("<|assistant|>Hi"));
    CHECK(continued->stretches.back() ==
          ChatStretch{continued->text.size() - 2, continued->text.size(), 2, "content", false});
}

TEST_CASE("the clock is given, and bytes of generation blocks are listed") {
    ChatOptions options;
    options.now = std::tm{};
    options.now.tm_year = 126;
    options.now.tm_mon = 10;
    options.now.tm_mday = 27;
    CHECK(rendered("{{ strftime_now('%d %b %Y') }}", kHello, options) == "27 Nov 2026");
    const auto chat = ChatTemplate::parse("a{% generation %}bé{% endgeneration %}c", "t")->render(kHello, {});
    REQUIRE(chat);
    CHECK(chat->generated == std::vector<std::pair<size_t, size_t>>{{1, 4}});
}

TEST_CASE("templates without end, without bounds or without sense are refused in one sentence") {
    const std::pair<std::string, const char*> refused[] = {
        {"{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "without end"},
        {"{% set n = namespace(x='aaaaaaaa') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
         "grows without end"},
        {"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "calls itself without end"},
        {"{% set n = namespace(x=[]) %}{% for i in range(9999) %}{% set n.x = [n.x] %}{% endfor %}",
         "nests values"},
        {"{{ 'a' * 10 ** 15 }}", "end"},
        {"{{ [0] * 10 ** 15 }}", "million elements"},
        {"{{ '%999999d' % 1 }}", "10,000 characters"},
        {"{{ " + std::string(2000, '(') + "1" + std::string(2000, ')') + " }}", "levels deep"},
        {"{{ 1" + std::string(1000, '+') + "1 }}", "levels deep"},
        {std::string(3000, ' ') +
             [] {
                 std::string s;
                 for (int i = 0; i < 500; ++i) s += "{% if 1 %}";
                 return s;
             }(),
         "levels deep"},
        {"a\n{{ 1 | nofilter }}", "line 2 uses the filter \"nofilter\""},
        {"{% if true %}", "ends before {% endif %}"},
        {"\xFF", "UTF-8"},
        {"{% include 'x' %}", "tag \"include\""},
        {"{{ messages.append(1) }}", "changes a value"},
        {"{{ messages.__class__.__mro__ }}", "lacks"},
        {"{{ raise_exception('Roles must alternate') }}", "refuses these messages: \"Roles must alternate\""},
    };
    for (const auto& one : refused) {
        const std::string text = one.first, why = one.second, message = rendered(text);
        CAPTURE(text.substr(0, 80));
        CHECK_MESSAGE(message.find(why) != std::string::npos, message);
        CHECK(message.starts_with("test.jinja"));
        CHECK(message.size() < 400);
    }
    CHECK(rendered("{% set n = namespace() %}{% set n.n = n %}{{ n.n.n is defined }}") ==
          "True");  // freed at the end
}

TEST_CASE("what is no list of messages is refused") {
    CHECK(rendered(kTurns, ChatJson::array()).find("is not a list of messages") != std::string::npos);
    CHECK(rendered(kTurns, {{"role", "user"}}).find("is not a list of messages") != std::string::npos);
    CHECK(rendered(kTurns, ChatJson::array({1})).find("message 0 is not an object") != std::string::npos);
    CHECK(rendered(kTurns, ChatJson(1'000'000, ChatJson::object())).find("at most 100,000") !=
          std::string::npos);
}
