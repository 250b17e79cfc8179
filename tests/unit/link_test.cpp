// Tests dynamic linking of the program.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <string>

TEST_CASE("a driver's regular expressions are the C library's, not Oniguruma's") {
    for (const char* name : {"regcomp", "regexec", "regfree"}) {
        Dl_info info{};
        REQUIRE(dladdr(dlsym(RTLD_DEFAULT, name), &info) != 0);
        CHECK(std::string(info.dli_fname).find("onig") == std::string::npos);
    }
}
