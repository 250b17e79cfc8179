// Requests to a server of files: ranges, redirects, bounded answers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/threads.h"

namespace headlight {

/// Bytes a second below which a connection counts as silent: a server that sends a byte now and then would
/// else be listened to for years.
inline constexpr long kLeastSpeed = 400;

/// Seconds that a text may take: lists and answers, which are read as a whole.
inline constexpr int kSecondsOfText = 180;

struct HttpRequest {
    std::string url;
    std::string token;  // sent to this URL's own host, and to no other that it redirects to
    bool head = false;  // the headers alone, and no redirect to another host is followed
    int64_t from = 0;   // the first byte that is wanted
    int64_t max = 0;    // bytes that the whole may have; an answer with more is an error
    const CancelFlag* cancel = nullptr;
    int patience = 30;  // seconds for which the server may send less than kLeastSpeed
    int seconds = 0;    // that the answer may take as a whole, from one server; 0: as long as it comes
};

/// Bytes of the body and where they stand in the whole; an error ends the request with it.
using HttpSink = std::function<Status(int64_t at, std::string_view bytes)>;

struct HttpAnswer {
    int status = 0;
    std::string cut;  // what ended the connection before the answer was whole; empty: nothing did
    std::map<std::string, std::string>
        headers;  // in lower case; of several on the way the first that said it

    bool ok() const { return status == 200 || status == 206; }
    std::string header(const std::string& name) const {
        const auto it = headers.find(name);
        return it == headers.end() ? "" : it->second;
    }
};

/// One connection after another, kept open between requests. One thread at a time.
class HttpClient {
public:
    static Result<std::unique_ptr<HttpClient>> open();
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    /// Asks, follows at most ten redirects (never from https to http), and hands the body of a good answer to
    /// the sink. An error where it was cancelled, the sink failed, or the server does what it may not.
    Result<HttpAnswer> get(const HttpRequest& request, const HttpSink& sink);
    /// The body of a good answer, of at most request.most bytes and within kSecondsOfText.
    Result<HttpAnswer> get_text(const HttpRequest& request, std::string& body);

private:
    struct Hop;
    explicit HttpClient(void* easy) : easy_(easy) {}
    void perform(const HttpRequest& request, const std::string& url, bool own_host, Hop& hop);

    void* easy_;
};

/// "https://host:port", by which two URLs have one server; empty where it is no URL of http or https.
std::string http_origin(std::string_view url);

/// A part of a path with everything but letters, digits and -._~ as %XX.
std::string url_part(std::string_view text);

}  // namespace headlight
