// Requests files over HTTP with libcurl.
#include "io/http.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "base/check.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "io/curl.h"

namespace headlight {

namespace {

constexpr int kMaxRedirects = 10;
constexpr long kSecondsToConnect = 20;
constexpr size_t kMaxHeaders = 200;

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
    return text;
}

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// Returns the offset of a 206 body: "bytes 100-199/200"; −1 if the header does not say.
int64_t begin_of_range(std::string_view header) {
    int64_t begin = -1;
    if (!header.starts_with("bytes ")) return -1;
    header.remove_prefix(6);
    const auto read = std::from_chars(header.data(), header.data() + header.size(), begin);
    return read.ec == std::errc() && begin >= 0 ? begin : -1;
}

/// Says why a transfer ended, in libcurl's words, or in our own if those do not help.
std::string reason_of(const Curl& curl, CURLcode ended) {
    if (ended == CURLE_SSL_CACERT_BADFILE)
        return "there are no certificates here to check it by: install the package ca-certificates";
    return curl.easy_strerror(ended);
}

}  // namespace

std::string http_origin(std::string_view url) {
    const std::string begin = lower_case(
        std::string(url.substr(0, url.find_first_of("/?#", std::min(url.find("://") + 3, url.size())))));
    const size_t scheme = begin.find("://");
    const std::string name = begin.substr(0, std::min(scheme, begin.size()));
    if (scheme == std::string::npos || (name != "http" && name != "https")) return "";
    std::string host = begin.substr(scheme + 3);
    if (const size_t at = host.rfind('@'); at != std::string::npos) host.erase(0, at + 1);
    if (host.empty()) return "";
    const size_t colon = host.rfind(':');
    const bool has_port = colon != std::string::npos && host.find(']', colon) == std::string::npos;
    return name + "://" + host + (has_port ? "" : name == "https" ? ":443" : ":80");
}

std::string url_part(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        char escaped[4];
        std::snprintf(escaped, sizeof escaped, "%%%02X", byte);
        const bool plain =
            byte < 0x80 && (std::isalnum(byte) || std::string_view("-._~").find(c) != std::string_view::npos);
        out += plain ? std::string(1, c) : escaped;
    }
    return out;
}

/// Holds one request and its answer, as libcurl's callbacks fill it.
struct HttpClient::Hop {
    const Curl& curl;
    void* easy;
    const HttpRequest& request;
    const HttpSink& sink;
    std::map<std::string, std::string> headers;
    int64_t at = -1;           // offset of the next byte; −1: none yet
    Status taken = success();  // result of the sink
    CURLcode ended = CURLE_OK;
    size_t refused_bytes = 0;  // of an answer that is not used

    int status() const {
        long code = 0;
        curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
        return static_cast<int>(code);
    }

    void take_header(std::string_view line) {
        if (line.starts_with("HTTP/")) headers.clear();  // drops the headers of a proxy or of "100 Continue"
        const size_t colon = line.find(':');
        if (colon == std::string_view::npos || headers.size() >= kMaxHeaders) return;
        headers.emplace(lower_case(std::string(without_blanks(line.substr(0, colon)))),
                        without_blanks(line.substr(colon + 1)));
    }

    Status take_body(std::string_view bytes) {
        const int code = status();
        if (code != 200 && code != 206) {
            constexpr size_t kMaxOfRefusal = 1 << 20;
            refused_bytes += bytes.size();
            if (refused_bytes <= kMaxOfRefusal) return success();
            return Error{"The server answers " + std::to_string(code) +
                         " and does not end; try again later."};
        }
        if (at < 0) {
            at = code == 206 ? begin_of_range(headers["content-range"]) : 0;
            if (at < 0 || at > request.from)
                return Error{
                    "The server answers with another part of the file than was asked for; try again later."};
        }
        if (static_cast<int64_t>(bytes.size()) > request.max - at)
            return Error{"The server sends more than the " + std::to_string(request.max) +
                         " bytes expected; the answer is not used: try again later."};
        TRY_STATUS(sink(at, bytes));
        at += static_cast<int64_t>(bytes.size());
        return success();
    }

    static size_t on_header(char* data, size_t size, size_t count, void* self) {
        const Status taken = guarded([&] {
            static_cast<Hop*>(self)->take_header({data, size * count});
            return success();
        });
        return taken ? size * count : 0;
    }
    static size_t on_body(char* data, size_t size, size_t count, void* self) {
        auto& hop = *static_cast<Hop*>(self);
        hop.taken = guarded([&] { return hop.take_body({data, size * count}); });
        return hop.taken ? size * count : 0;
    }
    static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
        return stopped(static_cast<Hop*>(self)->request.cancel) ? 1 : 0;
    }
};

Result<std::unique_ptr<HttpClient>> HttpClient::open() {
    TRY(const Curl* curl, open_curl());
    void* easy = curl->easy_init();
    if (!easy) return Error{"libcurl could not be started; close other programs, and try again."};
    return std::unique_ptr<HttpClient>(new HttpClient(easy));
}

HttpClient::~HttpClient() {
    if (const auto curl = open_curl()) (*curl)->easy_cleanup(easy_);
}

void HttpClient::perform(const HttpRequest& request, const std::string& url, bool own_host, Hop& hop) {
    const Curl& curl = hop.curl;
    curl_slist* lines = curl.slist_append(nullptr, "Accept-Encoding: identity");
    if (request.from > 0)
        lines = curl.slist_append(lines, ("Range: bytes=" + std::to_string(request.from) + "-").c_str());
    if (own_host && !request.token.empty())
        lines = curl.slist_append(lines, ("Authorization: Bearer " + request.token).c_str());
    curl.easy_reset(easy_);
    const auto set = [&](CURLoption option, auto value) { curl.easy_setopt(easy_, option, value); };
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_HTTPHEADER, lines);
    set(CURLOPT_USERAGENT, "headlight");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_NOBODY, request.head ? 1L : 0L);
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_CONNECTTIMEOUT, kSecondsToConnect);
    set(CURLOPT_LOW_SPEED_LIMIT, kLeastSpeed);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.patience));
    set(CURLOPT_TIMEOUT, static_cast<long>(request.seconds));
    set(CURLOPT_HEADERFUNCTION, &Hop::on_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&hop));
    set(CURLOPT_WRITEFUNCTION, &Hop::on_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&hop));
    set(CURLOPT_XFERINFOFUNCTION, &Hop::on_progress);
    set(CURLOPT_XFERINFODATA, static_cast<void*>(&hop));
    set(CURLOPT_NOPROGRESS, 0L);
    hop.ended = curl.easy_perform(easy_);
    curl.slist_free_all(lines);
}

Result<HttpAnswer> HttpClient::get(const HttpRequest& request, const HttpSink& sink) {
    TRY(const Curl* curl, open_curl());
    const std::string home = http_origin(request.url);
    std::string url = request.url;
    HttpAnswer out;
    for (int hops = 0; hops <= kMaxRedirects; ++hops) {
        Hop hop{*curl, easy_, request, sink, {}};
        perform(request, url, http_origin(url) == home, hop);
        if (stopped(request.cancel)) return cancelled();
        if (!hop.taken) return hop.taken.error();
        out.status = hop.status();
        if (hop.ended != CURLE_OK) out.cut = reason_of(*curl, hop.ended);
        const bool moved = is_redirect(out.status) && hop.ended == CURLE_OK;
        if (moved) hop.headers.erase("content-length");
        out.headers.merge(hop.headers);
        if (!moved) return out;
        const char* next = nullptr;
        curl->easy_getinfo(easy_, CURLINFO_REDIRECT_URL, &next);
        const std::string target = next ? next : "", origin = http_origin(target);
        if (origin.empty() || (home.starts_with("https:") && !origin.starts_with("https:")))
            return Error{"The server sends on to " + in_quotes(target) +
                         ", which is no safe place to fetch from; try again later."};
        if (request.head && origin != home) return out;
        url = target;
    }
    return Error{"The server sends from one place to the next without an end; try again later."};
}

Result<HttpAnswer> HttpClient::get_text(const HttpRequest& request, std::string& body) {
    body.clear();
    HttpRequest text = request;
    if (text.seconds == 0) text.seconds = kSecondsOfText;
    return get(text, [&](int64_t at, std::string_view bytes) {
        body.resize(static_cast<size_t>(at));
        body += bytes;
        return success();
    });
}

}  // namespace headlight
