// Models what a document should contain after some acts: fields by name, and undo steps. Knows no session.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headlight {

/// Fields of a document as JSON texts: "text", "compare" …, and "mask@MODEL", "changes@MODEL" and
/// "metric@MODEL" of each changed model.
using Said = std::map<std::string, std::string>;

inline void say(Said& said, const std::string& key, const std::string& value, const std::string& nothing) {
    if (value == nothing)
        said.erase(key);
    else
        said[key] = value;
}

struct Paper {
    struct Change {
        std::string key;
        std::optional<std::string> before, after;
    };
    using Step = std::vector<Change>;
    struct Opening {
        std::string path;
        bool is_step;  // made by the user; not by undo or a workspace
    };

    Said now;                        // except for a model that is requested and not open
    std::string open;                // the answering model; "": none yet
    std::optional<Opening> opening;  // requested in its place
    std::optional<int> slide;        // number of the slide that waits for its model
    std::vector<Step> past, future;

    static std::string quoted(const std::string& text) { return '"' + text + '"'; }
    static Step difference(const Said& before, const Said& after) {
        Step out;
        for (const auto& [key, value] : before) {
            const auto then = after.find(key);
            if (then == after.end())
                out.push_back({key, value, std::nullopt});
            else if (then->second != value)
                out.push_back({key, value, then->second});
        }
        for (const auto& [key, value] : after)
            if (!before.count(key)) out.push_back({key, std::nullopt, value});
        return out;
    }

    Said visible() const {
        Said out = now;
        if (opening) out["model"] = quoted(opening->path);
        return out;
    }
    /// Records a user's change, as a step of undo or as part of the last one.
    void say_as_step(const Said& after, bool joins = false) {
        const Step step = difference(now, after);
        now = after;
        if (!joins) past.emplace_back();
        past.back().insert(past.back().end(), step.begin(), step.end());
        future.clear();
    }
    /// Requests a model; gives up one that undo was restoring.
    void want(const std::string& path) {
        slide.reset();
        if (!open.empty()) now["model"] = quoted(open);
        opening = Opening{path, true};
    }
    void stay() {
        slide.reset();
        if (open.empty()) return;
        opening.reset();
        now["model"] = quoted(open);
    }
    /// Opens the requested model, or `instead` of it one that is already open or opened for it.
    void opened(const std::string& path) {
        if (!opening) return;
        const bool is_step = opening->is_step && !open.empty() && now["model"] != quoted(path);
        opening.reset();
        open = path;
        Said after = now;
        after["model"] = quoted(path);
        if (is_step)
            say_as_step(after);
        else
            now = after;
    }
    void replace(const Said& file, const std::string& model, bool running) {
        now = file;
        past.clear();
        future.clear();
        slide.reset();
        if (!running) open.clear();
        opening.reset();
        if (model != open) opening = Opening{model, false};
    }
    /// Returns whether the last step ended with opening the open model.
    bool just_opened() const {
        const Change* last = past.empty() || past.back().empty() ? nullptr : &past.back().back();
        return last && last->key == "model" && last->after == quoted(open);
    }
    /// Returns the model before the last step, if that opened another.
    std::string model_before() const {
        if (past.empty()) return "";
        for (const Change& change : past.back())
            if (change.key == "model" && change.before)
                return change.before->substr(1, change.before->size() - 2);
        return "";
    }
    /// Drops a step for good.
    void drop_last() {
        undo();
        future.clear();
    }
    void undo() { move(past, future, true); }
    void redo() { move(future, past, false); }

private:
    void move(std::vector<Step>& from, std::vector<Step>& to, bool back) {
        if (from.empty()) return;
        Step step = std::move(from.back());
        from.pop_back();
        if (back)
            for (auto change = step.rbegin(); change != step.rend(); ++change)
                put(change->key, change->before);
        else
            for (const Change& change : step) put(change.key, change.after);
        to.push_back(std::move(step));
    }
    void put(const std::string& key, const std::optional<std::string>& value) {
        if (value)
            now[key] = *value;
        else
            now.erase(key);
        if (key != "model") return;
        slide.reset();
        const std::string path = value->substr(1, value->size() - 2);
        if (path == open)
            opening.reset();
        else
            opening = Opening{path, false};
    }
};

/// Returns what some commands set, a field and its value; "": cleared or unset.
inline std::string unsaid(const std::string& line, const Said& is, const std::string& open,
                          bool reads_pictures) {
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
                                     {"compare model /m/./bert", "model_b", "\"/m/bert\""},
                                     {"mask window:2", "mask@", "\"window:2\""},
                                     {"mask own", "mask@", ""},
                                     {"remove interventions", "mask@", ""},
                                     {"remove interventions", "changes@", ""},
                                     {"metric default", "metric@", ""},
                                     {"seed 7", "seed", "7"}};
    std::string out;
    for (const auto& [command, field, value] : kSays) {
        if (line != command) continue;
        std::string key = field;
        if (key == "text" && reads_pictures) key = "picture";
        if (key.back() == '@') key += open;
        const auto found = is.find(key);
        const std::string said = found == is.end() ? "" : found->second;
        if (said != value) out += line + " leaves " + key + " at " + said + "\n";
    }
    return out;
}

}  // namespace headlight
