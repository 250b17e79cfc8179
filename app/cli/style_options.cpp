#include "cli/style_options.h"

#include "cli/validators.h"
#include "figure/colormap.h"

namespace headlight {

namespace {

void add_switch(CLI::App& app, GivenStyle& given, const StyleField& field, bool on) {
    const std::string name = field.name;
    app.add_flag_callback((on ? "--no-" : "--") + name,
                          [&given, name, on] { given[name] = on ? "false" : "true"; },
                          std::string(on ? "without " : "") + field.help);
    if (on)  // for programs that always pass a value
        app.add_flag_callback("--" + name, [&given, name] { given[name] = "true"; })->group("");
}

}  // namespace

void add_style_option(CLI::App& app, GivenStyle& given, const StyleField& field) {
    if (const auto* flag = std::get_if<bool FigureStyle::*>(&field.member))
        return add_switch(app, given, field, FigureStyle().*(*flag));
    const std::string name = field.name;
    auto* option = app.add_option_function<std::string>(
        "--" + name, [&given, name](const std::string& text) { given[name] = text; }, field.help);
    if (const auto names = field_names(field); !names.empty())
        option->check(one_of(names));
    else if (field.high > 0)
        option->check(within(field.low, field.high))->type_name("FLOAT");
    else if (name == "colormap")
        option
            ->transform([](const std::string& text) {
                return text == "grey" ? std::string(find_colormap(text)) : text;
            })
            ->check(one_of({colormap_names().begin(), colormap_names().end()}));
}

Status set_given(FigureStyle& style, const GivenStyle& given) {
    for (const StyleField& field : style_fields())
        if (const auto found = given.find(field.name); found != given.end())
            TRY_STATUS(set_field(style, field, found->second));
    return success();
}

}  // namespace headlight
