// Options of render that views have of their own, and the formats of files.
#include "views/view_options.h"

#include <set>

#include "figure/file_formats.h"
#include "helpers.h"
#include "views/align/align.h"
#include "views/graph/graph.h"
#include "views/influence/influence.h"
#include "views/views.h"

using namespace headlight;

TEST_CASE("options of views are what their states begin with, each name once") {
    std::set<std::string> names;
    for (const ViewOption& option : view_options()) {
        CHECK_MESSAGE(names.insert(option.row.name).second, option.row.name);
        CHECK_MESSAGE(option.help.size() > std::string("--view : ").size() + 5, option.row.name);
        CHECK(option.row.flag <= !option.words.empty());
        for (const std::string& view : option.views) CHECK(find_view(view));
        if (const std::string with = option.row.with; !with.empty())
            CHECK_MESSAGE(find_view_option(with.substr(0, with.find(' '))), with);
    }
    CHECK(find_view_option("share")->views.size() == 2);
    CHECK(find_view_option("points")->usual == "0");
    CHECK(find_view_option("origins")->words.back() == "relevance");
}

TEST_CASE("options of views set the states") {
    Session session;
    session.visits = view_visits();
    take_view_options(session,
                      {{"origins", "flow"}, {"share", "30"}, {"hard", ""}, {"after", "-1"}, {"points", "7"}});
    CHECK(session.of<GraphState>().by == Origins::flow);
    CHECK(session.of<GraphState>().share == 0.3f);
    CHECK(session.of<AlignState>().marks == AlignMarks::hard);
    CHECK(session.of<InfluenceState>().points == 7);
    CHECK(session.of<InfluenceState>().maps == InfluenceMaps::none);
}

TEST_CASE("each format has an ending of its own and what writes it") {
    std::set<std::string> endings;
    for (const FileFormat& format : file_formats()) {
        CHECK(endings.insert(format.ending).second);
        CHECK(bool(format.draw) == (format.kind == FormatKind::picture));
        CHECK(bool(format.write) == (format.kind == FormatKind::numbers));
        CHECK(format_of(std::string("a.b") + format.ending) == &format);
    }
    CHECK(endings_of(FormatKind::picture) == ".png, .svg or .pdf");
    CHECK(format_of("a.txt") == nullptr);
}
