// Compares a document with its model, act by act.
#pragma once

#include <memory>
#include <set>

#include "document_case.h"

namespace headlight {

/// Runs acts, one line each: an act of this list, or "do" and a command.
struct Case {
    std::vector<KnownModel>& models;
    std::unique_ptr<Sitting> sitting = std::make_unique<Sitting>();
    Paper paper;
    std::optional<std::pair<Said, std::string>> file;  // what was saved, and with which model
    std::vector<std::pair<Said, std::string>> slides;  // their content, and of which model

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

    /// Acts, and returns "" or what is wrong.
    std::string act(const std::string& line) {
        session().notice.clear();
        session().sheet.reset();
        if (line != "come") chosen_again_.reset();
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
        else if (name == "step")
            go_to(size_t(std::stoi(rest)));
        else if (name == "save")
            save();
        else if (name == "reopen")
            reopen();
        else if (name == "missing")
            open_missing();
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
    /// Checks the document against the model, and invariants.
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
        if (session().document.workspace != workspace_)
            out += "Save writes to " + session().document.workspace + ", not to " + workspace_ + "\n";
        if (session().document.history.grouping()) out += "a step is left open\n";
        if (steps() != paper.past.size())
            out += std::to_string(steps()) + " steps, not " + std::to_string(paper.past.size()) + "\n";
        if (session().notice.starts_with("Skipped a step") && !slide_shown_) out += session().notice + "\n";
        if (sitting->answered) out += of_another_model();
        return out;
    }
    /// Checks that a request names only what its model has.
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
        const bool waits = session().document.pending_trial.has_value();
        const auto tried = session().document.trial;
        const OpenModel left = chosen();
        sitting->come(models);
        const auto slide = paper.slide;
        if (paper.opening) take_model();
        if (slide) put_slide(*std::exchange(paper.slide, std::nullopt));
        if (paper.open != left.path) left_[paper.past.size()] = left;
        check_choice();
        if (!waits) return;
        if (session().document.trial != tried) paper.future.clear();  // it succeeded: a new act
        if (steps() < paper.past.size()) return paper.drop_last();    // it failed
        Said after = said_by(session());                              // the trial succeeded
        after["model"] = paper.now["model"];
        if (steps() > paper.past.size())
            paper.say_as_step(after);
        else if (after != paper.now)
            paper.say_as_step(after, true);
    }
    void take_model() {
        const std::string path = paper.opening->path, before = paper.open;
        const bool known = is_known(path);
        if (!known && !before.empty()) return stay_with_open();
        if (!known) workspace_.clear();
        paper.opened(known ? path : "stories");
        own_model_was_open_ = true;
        // Keeps the metric in a model new to the document, if that can express it.
        const Said is = said_by(session());
        const std::string key = "metric@" + paper.open;
        const auto carried = paper.now.find("metric@" + before);
        const bool goes_on =
            metric_said_.insert(paper.open).second && !paper.now.count(key) && carried != paper.now.end();
        if (goes_on) say(paper.now, key, metric_at_first(is, key), "\"\"");
    }
    /// Returns the metric before a slide changed it.
    std::string metric_at_first(const Said& is, const std::string& key) {
        const auto found = is.find(key);
        if (paper.slide && steps())
            for (const Edit& edit : session().document.history.group())
                if (const auto* e = std::get_if<MetricEdit>(&edit); e && e->model == paper.open)
                    return Json(e->before.name).dump();
        return found == is.end() ? "\"\"" : found->second;
    }
    static std::string meant(const std::string& path) {
        return path == "/m/./gpt2/" ? "/m/gpt2" : path == "/m/../m/bert" ? "/m/bert" : path;
    }
    void open(const std::string& path) {
        REQUIRE(sitting->act("open " + path));
        paper.want(meant(path));
    }
    void stay() {
        REQUIRE(sitting->act("cancel opening"));
        stay_with_open();
    }
    void stay_with_open() {
        if (paper.open.empty()) return paper.stay();
        if (!own_model_was_open_) workspace_.clear();
        own_model_was_open_ = true;
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
        const auto left = left_.find(paper.past.size());
        if (where == "undo" && left != left_.end() && paper.model_before() == left->second.path)
            chosen_again_ = left->second;
        REQUIRE(sitting->act(where));
        where == "undo" ? paper.undo() : paper.redo();
    }
    /// Goes to a step of the list of all.
    void go_to(size_t step) {
        if (step > paper.past.size() + paper.future.size()) return;
        if (paper.past.empty() && paper.future.empty()) return;
        REQUIRE(sitting->act("history go " + std::to_string(step)));
        while (paper.past.size() > step) paper.undo();
        while (paper.past.size() < step) paper.redo();
    }
    OpenModel chosen() {
        const Selection& s = session().selection;
        return {paper.open, s.block, s.head, s.locked ? s.locked : s.relock};
    }
    /// Checks that undoing a switch of models chooses again what was chosen.
    void check_choice() {
        const auto should = std::exchange(chosen_again_, std::nullopt);
        if (should && should->path == paper.open && chosen() != *should)
            unsaid_ += "another head or cell is chosen than before the model was switched\n";
    }
    void save() {
        sitting->host.save();
        file = {paper.visible(), model_said()};
        slides_saved_ = slides;
    }
    void reopen() {
        if (!file) return;
        REQUIRE(sitting->act("open saved.headlight.json"));
        replace(file->first, file->second, true);
        slides = slides_saved_;
        workspace_ = "saved.headlight.json";
    }
    void replace(const Said& said, const std::string& model, bool running) {
        paper.replace(said, model, running);
        metric_said_ = {model, paper.open};
        for (const auto& [key, value] : said)
            if (const size_t at = key.find('@'); at != std::string::npos)
                metric_said_.insert(key.substr(at + 1));
        own_model_was_open_ = !paper.opening;
    }
    /// Opens a workspace whose model is missing.
    void open_missing() {
        const Json root{{"format", "headlight-workspace"},
                        {"version", 1},
                        {"model", "/gone"},
                        {"text", "Left"},
                        {"mask", "window:2"}};
        sitting->host.files["missing.headlight.json"] = root.dump();
        if (!sitting->act("open missing.headlight.json")) return;
        Said said = said_by(Session());
        said["model"] = "\"/gone\"";
        said["text"] = "\"Left\"";
        said["mask@/gone"] = "\"window:2\"";
        replace(said, "/gone", true);
        slides.clear();
        workspace_ = "missing.headlight.json";
    }
    /// Kills the program and starts it with what it has saved.
    void kill() {
        const Json remembered = *settings_fields(session());
        const auto files = std::move(sitting->host.files);
        sitting = std::make_unique<Sitting>();
        sitting->session = read_settings(remembered, "it", view_visits());
        sitting->session.visits = view_visits();
        sitting->host.files = files;
        sitting->host.show_texts();
        replace(paper.visible(), model_said(), false);
        workspace_.clear();
    }
    void keep_slide() {
        if (sitting->act("slide add"))
            slides.insert(slides.begin() + session().slide, {paper.now, paper.open});
    }
    /// Shows a slide; one of another model waits until that is open.
    void show_slide(const std::string& number) {
        if (!sitting->act("slide go " + number)) return;
        const int at = std::stoi(number) - 1;
        const std::string& model = slides[at].second;
        if (name_of(model) != name_of(paper.open)) {
            if (!paper.opening || paper.opening->path != model) paper.want(model);
            paper.slide = at;
            return;
        }
        if (paper.opening) stay_with_open();
        paper.slide.reset();
        put_slide(at);
    }
    std::string name_of(const std::string& path) const {
        for (const KnownModel& m : models)
            if (m.path == path) return m.openings[0].sentence->model->name;
        return path;
    }
    /// Applies a slide to the open model, in one step with opening it.
    void put_slide(int number) {
        slide_shown_ = true;
        const auto& [slide, model] = slides[number];
        Said after = paper.now;
        const Said is = said_by(session());
        for (const auto& [key, value] : slide)
            if (key.find('@') == std::string::npos && key != "model") after[key] = value;
        for (const char* of : {"mask@", "changes@", "metric@"}) {
            const auto& from = model == paper.open ? slide : is;  // another of the same name may differ
            const auto found = from.find(of + paper.open);
            say(after, of + paper.open, found == from.end() ? "" : found->second, "");
        }
        const bool joins = steps() == paper.past.size() && paper.just_opened();
        put(after, paper.past.size());
        if (joins && after != paper.now) paper.say_as_step(after, true);
    }
    /// Runs any command: it adds at most one step of undo.
    void command(const std::string& line) {
        if (paper.slide && line.starts_with("try ")) return;  // both would wait
        const size_t before = steps();
        const bool done = bool(sitting->act(line));
        Said after = said_by(session());
        const bool reads_pictures = sitting->host.fields.sentence.name() == TextName::picture;
        if (done) unsaid_ += unsaid(line, after, paper.open, reads_pictures);
        after["model"] = paper.now["model"];
        put(after, before);
    }
    /// Applies what is not a step of undo.
    void put(const Said& after, size_t before) {
        constexpr const char* kSettings[] = {"seed", "beams", "written_length"};
        for (const char* key : kSettings) paper.now[key] = after.at(key);
        if (steps() > before) paper.say_as_step(after);
    }

    std::vector<std::pair<Said, std::string>> slides_saved_;
    std::string unsaid_;
    bool slide_shown_ = false;
    std::map<size_t, OpenModel> left_;       // by the step that opened another: what was chosen
    std::optional<OpenModel> chosen_again_;  // what undo should choose once its model is open
    std::string workspace_;                  // what Save writes to
    bool own_model_was_open_ = true;         // or one that the user chose for it
    std::set<std::string> metric_said_;      // models with a metric
};

}  // namespace headlight
