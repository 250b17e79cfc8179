// Loads libcurl at run time.
#include "io/curl.h"

#include <dlfcn.h>

#include <mutex>

namespace headlight {

namespace {

template <class Function>
bool find_symbol(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    return function != nullptr;
}

bool find_symbols(void* library, Curl& out) {
    decltype(&::curl_global_init) global_init = nullptr;
    return find_symbol(library, "curl_global_init", global_init) &&
           find_symbol(library, "curl_easy_init", out.easy_init) &&
           find_symbol(library, "curl_easy_cleanup", out.easy_cleanup) &&
           find_symbol(library, "curl_easy_reset", out.easy_reset) &&
           find_symbol(library, "curl_easy_setopt", out.easy_setopt) &&
           find_symbol(library, "curl_easy_perform", out.easy_perform) &&
           find_symbol(library, "curl_easy_getinfo", out.easy_getinfo) &&
           find_symbol(library, "curl_easy_strerror", out.easy_strerror) &&
           find_symbol(library, "curl_slist_append", out.slist_append) &&
           find_symbol(library, "curl_slist_free_all", out.slist_free_all) &&
           global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/// Never closes the library: its threads may run until the program ends.
bool open_first(Curl& out) {
    for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4"})
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL); library && find_symbols(library, out))
            return true;
    return false;
}

}  // namespace

Result<const Curl*> open_curl() {
    static Curl curl;
    static bool there = false;
    static std::once_flag once;
    std::call_once(once, [] { there = open_first(curl); });
    if (there) return &curl;
    return Error{
        "Models are fetched through libcurl, which is not on this computer; install the package libcurl4 (or "
        "libcurl), or fetch the model with another program and open its folder."};
}

}  // namespace headlight
