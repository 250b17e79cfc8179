// The property that holds the document together: whatever is done in whatever order, a document says what was
// said to it, what is taken back is as it was, and what is saved or left behind comes back.
#include <cstdlib>
#include <random>

#include "document_case.h"
#include "document_hand.h"

using namespace headlight;

namespace {

/// What a person does is a line: an act of this list, or "do" and a command.
struct Case {
    std::vector<KnownModel>& models;
    std::unique_ptr<Sitting> sitting = std::make_unique<Sitting>();
    Paper paper;
    std::optional<std::pair<Said, std::string>> file;  // what was saved, and with which model
    std::vector<std::pair<Said, std::string>> slides;  // what they say, and of which model

    explicit Case(std::vector<KnownModel>& all) : models(all) {
        sitting->session.visits = view_visits();
        sitting->session.document.wanted.path = "/m/gpt2";
        paper.now = said_by(sitting->session);
        paper.opening = Paper::Opening{"/m/gpt2", false};
    }

    Session& session() { return sitting->session; }
    size_t steps() { return session().document.history.steps(); }
    bool is_known(const std::string& path) const {
        return std::any_of(models.begin(), models.end(), [&](const KnownModel& m) { return m.path == path; });
    }
    std::string model_said() const {
        const std::string text = paper.visible().at("model");
        return text.substr(1, text.size() - 2);
    }

    /// "" or what is wrong after it.
    std::string act(const std::string& line) {
        session().notice.clear();
        session().sheet.reset();
        const size_t space = line.find(' ');
        const std::string name = line.substr(0, space),
                          rest = space == std::string::npos ? "" : line.substr(space + 1);
        if (name == "come")
            come();
        else if (name == "open")
            open(rest);
        else if (name == "stay")
            stay();
        else if (name == "type")
            type(rest);
        else if (name == "undo" || name == "redo")
            go(name);
        else if (name == "save")
            save();
        else if (name == "reopen")
            reopen();
        else if (name == "kill")
            kill();
        else if (name == "keep")
            keep_slide();
        else if (name == "slide")
            show_slide(rest);
        else
            command(rest);
        return wrong();
    }

private:
    /// What the document says beside what it should, and what must hold whatever was done.
    std::string wrong() {
        const Said is = said_by(session()), should = paper.visible();
        std::string out = unsaid_;
        for (const Paper::Change& change : Paper::difference(should, is))
            out += change.key + " should be " + change.before.value_or("nothing") + " and is " +
                   change.after.value_or("nothing") + "\n";
        Fields& fields = sitting->host.fields;
        for (TextField* field : {&fields.sentence, &fields.second, &fields.other})
            if (field->text() != session().document.named(field->name()))
                out += "a field shows another text\n";
        if (session().document.history.grouping()) out += "a step is left open\n";
        if (steps() != paper.past.size())
            out += std::to_string(steps()) + " steps, not " + std::to_string(paper.past.size()) + "\n";
        if (session().notice.starts_with("A step was left out") && !slide_shown_)
            out += session().notice + "\n";
        if (sitting->answered) out += of_another_model();
        return out;
    }
    /// A request names what its model has, and no more.
    std::string of_another_model() {
        const WorkRequest r = request_of(session(), sitting->shown());
        const ModelConfig& config = sitting->shown()->model->config;
        std::string out;
        for (const Change& change : r.intervention.changes)
            if (!parse_change(config, change_name(config, change)))
                out += "a change of another model is asked for\n";
        return out;
    }

    void come() {
        const bool waits = session().document.trial_waits.has_value();
        sitting->come(models);
        if (paper.opening) take_model();
        if (!waits) return;
        if (steps() < paper.past.size()) return paper.drop_last();  // it failed
        Said after = said_by(session());                            // what was tried went on
        after["model"] = paper.now["model"];
        if (steps() > paper.past.size())
            paper.say_as_step(after);
        else if (after != paper.now)
            paper.say_as_step(after, true);
    }
    void take_model() {
        const std::string path = paper.opening->path, before = paper.open;
        const bool known = is_known(path);
        if (!known && !before.empty()) return paper.stay();
        paper.opened(known ? path : "stories");
        // A metric goes on with a model that is new to the document, where that can say it.
        const Said is = said_by(session());
        const std::string key = "metric@" + paper.open;
        const auto carried = paper.now.find("metric@" + before);
        const bool goes_on = !paper.now.count(key) && is.count(key) && carried != paper.now.end();
        if (goes_on) paper.now[key] = is.at(key);
    }
    void open(const std::string& path) {
        REQUIRE(sitting->act("open " + path));
        paper.want(path);
    }
    void stay() {
        REQUIRE(sitting->act("cancel opening"));
        paper.stay();
    }
    void type(const std::string& text) {
        const size_t before = steps();
        Said after = paper.now;
        sitting->type(text);
        const TextField& field = sitting->host.fields.sentence;
        after[field.name() == TextName::picture ? "picture" : "text"] = Json(field.text()).dump();
        paper.say_as_step(after, steps() == before);
    }
    void go(const std::string& where) {
        REQUIRE(sitting->act(where));
        where == "undo" ? paper.undo() : paper.redo();
    }
    void save() {
        sitting->host.save();
        file = {paper.visible(), model_said()};
        slides_saved_ = slides;
    }
    void reopen() {
        if (!file) return;
        REQUIRE(sitting->act("open saved.headlight.json"));
        paper.replace(file->first, file->second, true);
        slides = slides_saved_;
    }
    /// The program ends without a word and starts with what it has remembered.
    void kill() {
        const Json remembered = *settings_fields(session());
        const auto files = std::move(sitting->host.files);
        sitting = std::make_unique<Sitting>();
        sitting->session = read_settings(remembered, "it", view_visits());
        sitting->session.visits = view_visits();
        sitting->host.files = files;
        sitting->host.show_texts();
        paper.replace(paper.visible(), model_said(), false);
    }
    void keep_slide() {
        if (sitting->act("slide add"))
            slides.insert(slides.begin() + session().slide, {paper.now, paper.open});
    }
    /// One step: what the slide says, of the model that is open.
    void show_slide(const std::string& number) {
        const size_t before = steps();
        if (!sitting->act("slide go " + number)) return;
        slide_shown_ = true;
        const auto& [slide, model] = slides[std::stoi(number) - 1];
        Said after = paper.now;
        const Said is = said_by(session());
        for (const auto& [key, value] : slide) {
            const bool other_model = key.find('@') != std::string::npos;
            if (!other_model && key != "model") after[key] = value;
        }
        for (const char* of : {"mask@", "changes@", "metric@"}) {
            const auto& from =
                model == paper.open ? slide : is;  // what does not fit another model is left out
            const auto found = from.find(of + paper.open);
            say(after, of + paper.open, found == from.end() ? "" : found->second, "");
        }
        put(after, before);
    }
    /// Any command: what it does to what can be taken back is one step at most.
    void command(const std::string& line) {
        const size_t before = steps();
        const bool done = bool(sitting->act(line));
        Said after = said_by(session());
        if (done) expect(line, after);
        after["model"] = paper.now["model"];
        put(after, before);
    }
    /// What some commands say is known: a field and its value; "": nothing stands there.
    void expect(const std::string& line, const Said& is) {
        struct Says {
            const char *command, *key, *value;
        };
        static constexpr Says kSays[] = {{"text A dog ran", "text", "\"A dog ran\""},
                                         {"text", "text", "\"\""},
                                         {"second Ein Hund", "second", "\"Ein Hund\""},
                                         {"second", "second", "\"\""},
                                         {"compare text A cat", "text_b", "\"A cat\""},
                                         {"compare text A cat", "compare", "2"},
                                         {"compare model /m/bert", "model_b", "\"/m/bert\""},
                                         {"mask window:2", "mask@", "\"window:2\""},
                                         {"mask own", "mask@", ""},
                                         {"remove interventions", "mask@", ""},
                                         {"remove interventions", "changes@", ""},
                                         {"metric default", "metric@", ""},
                                         {"seed 7", "seed", "7"}};
        const bool reads_pictures = sitting->host.fields.sentence.name() == TextName::picture;
        for (const auto& [command, field, value] : kSays) {
            if (line != command) continue;
            std::string key = field;
            if (key == "text" && reads_pictures) key = "picture";
            if (key.back() == '@') key += paper.open;
            const auto found = is.find(key);
            const std::string said = found == is.end() ? "" : found->second;
            if (said != value) unsaid_ = line + " leaves " + key + " at " + said + "\n";
        }
    }
    /// What is no step of undo is none of these fields.
    void put(const Said& after, size_t before) {
        constexpr const char* kSettings[] = {"seed", "beams", "written_length"};
        for (const char* key : kSettings) paper.now[key] = after.at(key);
        if (steps() > before) paper.say_as_step(after);
    }

    std::vector<std::pair<Said, std::string>> slides_saved_;
    std::string unsaid_;
    bool slide_shown_ = false;
};

/// "" or the act after which it went wrong, and how.
std::string outcome(std::vector<KnownModel>& models, const std::vector<std::string>& acts) {
    Case one(models);
    for (size_t i = 0; i < acts.size(); ++i)
        if (const std::string wrong = one.act(acts[i]); !wrong.empty())
            return "after act " + std::to_string(i) + ", " + acts[i] + ":\n" + wrong;
    return "";
}

/// The acts that are needed for it.
std::vector<std::string> shrunk(std::vector<KnownModel>& models, std::vector<std::string> acts) {
    for (bool shorter = true; shorter;) {
        shorter = false;
        for (size_t i = 0; i < acts.size(); ++i) {
            auto fewer = acts;
            fewer.erase(fewer.begin() + std::ptrdiff_t(i));
            if (outcome(models, fewer).empty()) continue;
            acts = std::move(fewer);
            shorter = true;
            --i;
        }
    }
    return acts;
}

}  // namespace

TEST_CASE("the document: whatever is done in whatever order, what is said stays") {
    const char* given = std::getenv("HEADLIGHT_SEED");
    const unsigned seed = given ? unsigned(std::strtoul(given, nullptr, 10)) : std::random_device()();
    const int sequences = std::getenv("HEADLIGHT_LONG") ? 10'000 : kSanitized ? 30 : 300;
    constexpr int kActs = 30;
    auto models = known_models();
    MESSAGE("seed " << seed << ", " << sequences << " sequences of acts");
    for (int i = 0; i < sequences; ++i) {
        const auto acts = Hand(seed + unsigned(i)).acts(kActs);
        if (outcome(models, acts).empty()) continue;
        const auto needed = shrunk(models, acts);
        std::string said;
        for (const std::string& act : needed) said += act + "\n";
        FAIL_CHECK("seed " << seed + unsigned(i) << ":\n" << said << outcome(models, needed));
        break;
    }
}
