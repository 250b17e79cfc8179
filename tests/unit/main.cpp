// Runs the unit tests.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "base/check.h"

int main(int argc, char** argv) {
    headlight::abort_on_failed_check(true);
    return doctest::Context(argc, argv).run();
}
