// Defines what stands after "is", and finds rows of all tables.
#include <algorithm>

#include "chat/jinja/interpreter.h"

namespace headlight::jinja {

namespace {

const FilterRow* row_named(const Rows& rows, std::string_view name) {
    const auto* row = std::find_if(rows.begin, rows.end, [&](const FilterRow& r) { return name == r.name; });
    return row == rows.end ? nullptr : row;
}

bool is_true(const Value& value) { return value.is<bool>() && *value.as<bool>(); }

int64_t remainder_of(Interpreter& run, const Given& g, int64_t by) {
    const Value rest = arithmetic(run, "%", g[0], Value(by));
    int64_t room = 0;
    const int64_t* whole = integer(rest, room);
    return whole ? *whole : (number(rest) == 0 ? 0 : -1);
}

bool has_length(const Value& value) {
    const Sequence* list = value.sequence();
    if (list) return list->kind != SequenceKind::iterator && list->kind != SequenceKind::view;
    return value.is<Undefined>() || value.text() || value.dict();
}

bool can_iterate(const Value& value) { return has_length(value) || value.sequence() || value.is<LoopRef>(); }

bool text_is(Interpreter& run, const Given& g, const char* method) {
    const Call call{{run.shown(g[0])}, {}};
    const std::string name = method;
    const FunctionRow* row = find_method(call.positional[0], name);
    return truth(row->run(run, Given(call, row->parameters, row->required, name)));
}

bool is_same(const Value& a, const Value& b) {
    if (a.data.index() != b.data.index() || is_number(a) != is_number(b)) return false;
    if (a.sequence()) return a.sequence() == b.sequence();
    if (a.dict()) return a.dict() == b.dict();
    Budget ample;
    return equal(ample, a, b);
}

constexpr TestRow kTests[] = {
    {"defined", "value", [](Interpreter&, const Given& g) { return !g[0].is<Undefined>(); }},
    {"undefined", "value", [](Interpreter&, const Given& g) { return g[0].is<Undefined>(); }},
    {"none", "value", [](Interpreter&, const Given& g) { return g[0].is<None>(); }},
    {"boolean", "value", [](Interpreter&, const Given& g) { return g[0].is<bool>(); }},
    {"true", "value", [](Interpreter&, const Given& g) { return is_true(g[0]); }},
    {"false", "value", [](Interpreter&, const Given& g) { return g[0].is<bool>() && !is_true(g[0]); }},
    {"integer", "value", [](Interpreter&, const Given& g) { return g[0].is<int64_t>(); }},
    {"float", "value", [](Interpreter&, const Given& g) { return g[0].is<double>(); }},
    {"number", "value", [](Interpreter&, const Given& g) { return is_number(g[0]); }},
    {"string", "value", [](Interpreter&, const Given& g) { return g[0].is<Text>(); }},
    {"mapping", "value", [](Interpreter&, const Given& g) { return g[0].is<DictRef>(); }},
    {"sequence", "value", [](Interpreter&, const Given& g) { return has_length(g[0]); }},
    {"iterable", "value", [](Interpreter&, const Given& g) { return can_iterate(g[0]); }},
    {"callable", "value",
     [](Interpreter&, const Given& g) { return g[0].is<CallableRef>() || g[0].is<Undefined>(); }},
    {"escaped", "value", [](Interpreter&, const Given& g) { return g[0].text() && g[0].text()->markup(); }},
    {"lower", "value", [](Interpreter& run, const Given& g) { return text_is(run, g, "islower"); }},
    {"upper", "value", [](Interpreter& run, const Given& g) { return text_is(run, g, "isupper"); }},
    {"odd", "value", [](Interpreter& run, const Given& g) { return remainder_of(run, g, 2) == 1; }},
    {"even", "value", [](Interpreter& run, const Given& g) { return remainder_of(run, g, 2) == 0; }},
    {"divisibleby", "value num",
     [](Interpreter& run, const Given& g) { return remainder_of(run, g, g.whole(1, 0)) == 0; }},
    {"filter", "value",
     [](Interpreter&, const Given& g) { return find_filter(g.text(0).bytes()) != nullptr; }},
    {"test", "value", [](Interpreter&, const Given& g) { return find_test(g.text(0).bytes()) != nullptr; }},
    {"sameas", "value other", [](Interpreter&, const Given& g) { return is_same(g[0], g[1]); }},
    {"in", "value seq", [](Interpreter& run, const Given& g) { return contains(run.budget(), g[1], g[0]); }},
};

struct OrderRow {
    const char *names, *sign;
};
/// Tests that compare, under all their names.
constexpr OrderRow kOrders[] = {{" == eq equalto ", "=="},   {" != ne ", "!="},
                                {" > gt greaterthan ", ">"}, {" >= ge ", ">="},
                                {" < lt lessthan ", "<"},    {" <= le ", "<="}};

bool test_equal(Interpreter& run, const Given& g) { return equal(run.budget(), g[0], g[1]); }
bool test_unequal(Interpreter& run, const Given& g) { return !equal(run.budget(), g[0], g[1]); }
bool test_greater(Interpreter& run, const Given& g) { return compare(run.budget(), g[0], g[1]) > 0; }
bool test_no_less(Interpreter& run, const Given& g) { return compare(run.budget(), g[0], g[1]) >= 0; }
bool test_less(Interpreter& run, const Given& g) { return compare(run.budget(), g[0], g[1]) < 0; }
bool test_no_greater(Interpreter& run, const Given& g) { return compare(run.budget(), g[0], g[1]) <= 0; }

constexpr TestRow kOrderTests[] = {
    {"==", "value other", test_equal},  {"!=", "value other", test_unequal},
    {">", "value other", test_greater}, {">=", "value other", test_no_less},
    {"<", "value other", test_less},    {"<=", "value other", test_no_greater},
};

}  // namespace

const FilterRow* find_filter(std::string_view name) {
    const FilterRow* row = row_named(text_filters(), name);
    return row ? row : row_named(list_filters(), name);
}

const TestRow* find_test(std::string_view name) {
    for (const TestRow& row : kTests)
        if (name == row.name) return &row;
    const std::string whole = " " + std::string(name) + " ";
    for (const OrderRow& order : kOrders)
        if (std::string_view(order.names).find(whole) != std::string_view::npos)
            for (const TestRow& row : kOrderTests)
                if (std::string_view(order.sign) == row.name) return &row;
    return nullptr;
}

const FunctionRow* find_method(const Value& self, std::string_view name) {
    if (self.text()) return row_named(text_methods(), name);
    const Rows rows = other_methods();
    const std::string whole = std::string(type_name(self)) + "." + std::string(name);
    const auto* callable = self.as<CallableRef>();
    if (callable && (*callable)->kind != Callable::Kind::cycler) return nullptr;
    return row_named(rows, whole);
}

}  // namespace headlight::jinja
