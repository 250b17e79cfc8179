// The system's libcurl, opened when the first request is made: the program starts without it, and it knows
// the system's proxies and certificates.
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace headlight {

/// What is used of it.
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

/// Opens the library once; fails with one sentence where the system has none.
Result<const Curl*> open_curl();

}  // namespace headlight
