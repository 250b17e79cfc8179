#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/memory.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "hub/library.h"
#include "io/json.h"
#include "session/settings.h"

namespace headlight {

namespace {

std::string as_json(const std::vector<FoundModel>& models) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& m : models)
        list.push_back({{"name", m.name},
                        {"path", m.path.string()},
                        {"place", m.source},
                        {"family", m.family},
                        {"bytes", m.bytes},
                        {"readable", m.problem.empty()},
                        {"problem", m.problem}});
    return json_answer({{"models", std::move(list)}});
}

std::string as_text(const std::vector<FoundModel>& models) {
    size_t name = 4, family = 6, place = 5;
    for (const auto& m : models) {
        name = std::max(name, m.name.size());
        family = std::max(family, m.family.size());
        place = std::max(place, m.source.size());
    }
    const auto line = [&](const std::string& a, const std::string& b, const std::string& c,
                          const std::string& d, const std::string& e) {
        const auto pad = [](std::string s, size_t to) { return s.append(to - std::min(to, s.size()), ' '); };
        return pad(a, name) + "  " + pad(b, family) + "  " +
               std::string(9 - std::min<size_t>(9, c.size()), ' ') + c + "  " +
               (e.empty() ? d : pad(d, place) + "  " + e) + "\n";
    };
    std::string out = line("name", "family", "size", "place", "");
    for (const auto& m : models)
        out += line(m.name, m.family.empty() ? "-" : m.family, m.bytes ? short_bytes(m.bytes) : "-", m.source,
                    m.problem.empty() ? "" : "cannot be opened: " + m.problem);
    return out;
}

}  // namespace

std::function<Status()> declare_models(CLI::App& app) {
    auto json = std::make_shared<bool>(false);
    app.add_flag("--json", *json, "JSON instead of a table");
    auto quiet = std::make_shared<bool>(false);  // as of the other verbs; the list is all that is printed
    app.add_flag("--quiet", *quiet, "print errors only: the list alone, as without it");
    return [json, quiet]() -> Status {
        auto models = models_on_computer();
        for (const std::string& path : recent_models(settings_path())) {
            const bool listed = std::any_of(models.begin(), models.end(), [&](const FoundModel& m) {
                return m.path == path || m.name == path;
            });
            if (!listed) models.push_back(examine_model(path, model_name(path), "recent"));
        }
        return *json ? print_json(as_json(models)) : print(as_text(models));
    };
}

}  // namespace headlight
