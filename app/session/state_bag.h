// Keeps the views' states: small structs whose types only their views know.
#pragma once

#include <any>
#include <map>
#include <typeindex>

#include "session/field_visitors.h"

namespace headlight {

/// Holds one value of each requested type, default-constructed. Copies copy all of them.
class StateBag {
public:
    template <class T>
    T& of() {
        std::any& slot = slots_[typeid(T)];
        if (!slot.has_value()) slot.emplace<T>();
        return *std::any_cast<T>(&slot);
    }
    template <class T>
    const T& of() const {
        static const T untouched{};
        const auto slot = slots_.find(typeid(T));
        return slot == slots_.end() ? untouched : *std::any_cast<T>(&slot->second);
    }

private:
    std::map<std::type_index, std::any> slots_;
};

/// Visits the fields of one view's state in a bag.
using StateVisit = void (*)(StateBag& bag, FieldVisitor& visitor);

template <class T>
void visit_state(StateBag& bag, FieldVisitor& visitor) {
    bag.of<T>().visit(visitor);
}

}  // namespace headlight
