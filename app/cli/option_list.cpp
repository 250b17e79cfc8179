// Lists options and file formats as JSON, for the Python package (tests/docs/python_options.py).
#include <CLI/CLI.hpp>

#include "cli/documents/manual.h"
#include "cli/render.h"
#include "figure/file_formats.h"
#include "io/json.h"

namespace headlight {

namespace {

using List = nlohmann::ordered_json;

const char* kind_of(const CLI::Option& o) {
    if (o.get_items_expected_max() == 0) return "flag";
    const std::string type = o.get_type_name();
    const auto is = [&](const char* name) { return type.starts_with(name); };
    return is("INT") || is("UINT") ? "whole" : is("FLOAT") ? "number" : "text";
}

List listed_option(const CLI::Option& o) {
    List out{{"name", o.get_single_name()}, {"kind", kind_of(o)}, {"help", o.get_description()}};
    if (const auto words = words_of(o); !words.empty()) out["words"] = words;
    // Leaves out a default that depends on the computer.
    if (!o.get_default_str().empty() && !o.check_lname("threads")) out["default"] = o.get_default_str();
    const bool all = o.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    if (all || o.get_expected_max() > 1) out["repeated"] = true;
    if (o.get_items_expected_max() > 0 && o.get_expected_min() == 0)
        out["bare"] = true;  // takes no value too
    return out;
}

List listed_options(const CLI::App& app) {
    List out = List::array();
    for (const CLI::Option* o : options_of(app))
        if (!o->get_lnames().empty() && !o->check_lname("help")) out.push_back(listed_option(*o));
    return out;
}

const char* name_of(FormatKind kind) {
    return kind == FormatKind::picture ? "picture" : kind == FormatKind::numbers ? "numbers" : "page";
}

}  // namespace

std::string option_list(const CLI::App& root) {
    List formats = List::array(), verbs = List::object();
    for (const FileFormat& format : file_formats())
        formats.push_back({{"name", format.name},
                           {"ending", format.ending},
                           {"kind", name_of(format.kind)},
                           {"help", format.help}});
    for (const CLI::App* verb : verbs_of(root)) verbs[verb->get_name()] = listed_options(*verb);
    return json_text(List{{"formats", formats},
                          {"window", listed_options(root)},
                          {"verbs", verbs},
                          {"of_figures_alone", options_of_figures()}},
                     2) +
           "\n";
}

}  // namespace headlight
