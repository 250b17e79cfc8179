// Opens the system's libcurl, which knows its proxies and certificates, at the first request.
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace headlight {

/// Holds the functions of it that the program uses.
struct Curl {
    decltype(&::curl_easy_init) easy_init = nullptr;
    decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
    decltype(&::curl_easy_reset) easy_reset = nullptr;
    decltype(&::curl_easy_setopt) easy_setopt = nullptr;
    decltype(&::curl_easy_perform) easy_perform = nullptr;
    decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
    decltype(&::curl_easy_strerror) easy_strerror = nullptr;
    decltype(&::curl_slist_append) slist_append = nullptr;
    decltype(&::curl_slist_free_all) slist_free_all = nullptr;
};

/// Opens the library once; fails with one sentence if the system has none.
Result<const Curl*> open_curl();

}  // namespace headlight
