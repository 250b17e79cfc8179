// Requests files from a server: ranges, redirects, bounded answers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/threads.h"

namespace headlight {

/// Bytes per second below which a connection counts as stalled: a byte now and then would keep it for years.
inline constexpr long kLeastSpeed = 400;

/// Seconds allowed for a text: lists and answers that are read whole.
inline constexpr int kSecondsOfText = 180;

struct HttpRequest {
    std::string url;
    std::string token;  // sent only to this URL's own host, not to hosts that it redirects to
    bool head = false;  // requests headers alone; follows no redirect to another host
    int64_t from = 0;   // offset of the first byte wanted
    int64_t max = 0;    // maximum bytes in total; an answer with more is an error
    const CancelFlag* cancel = nullptr;
    int patience = 30;  // seconds during which the server may send less than kLeastSpeed
    int seconds = 0;    // limit for a whole answer from one server; 0: none
};

/// Receives bytes of the body with their offset in the whole; its error ends the request.
using HttpSink = std::function<Status(int64_t at, std::string_view bytes)>;

struct HttpAnswer {
    int status = 0;
    std::string cut;  // why the connection ended before the answer was complete; empty: it did not
    std::map<std::string, std::string> headers;  // in lower case; of several hops the first that has it

    bool ok() const { return status == 200 || status == 206; }
    std::string header(const std::string& name) const {
        const auto it = headers.find(name);
        return it == headers.end() ? "" : it->second;
    }
};

/// Keeps one connection at a time open between requests. Not thread-safe.
class HttpClient {
public:
    static Result<std::unique_ptr<HttpClient>> open();
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    /// Sends a request, follows at most ten redirects (never from https to http), and passes the body of a
    /// successful answer to the sink. Fails if it was cancelled, the sink failed, or the server breaks a
    /// limit.
    Result<HttpAnswer> get(const HttpRequest& request, const HttpSink& sink);
    /// Returns the body of a successful answer, of at most request.max bytes and within kSecondsOfText.
    Result<HttpAnswer> get_text(const HttpRequest& request, std::string& body);

private:
    struct Hop;
    explicit HttpClient(void* easy) : easy_(easy) {}
    void perform(const HttpRequest& request, const std::string& url, bool own_host, Hop& hop);

    void* easy_;
};

/// Returns "https://host:port", equal for URLs on the same server; empty unless it is a URL of http or https.
std::string http_origin(std::string_view url);

/// Escapes a part of a path: everything but letters, digits and -._~ as %XX.
std::string url_part(std::string_view text);

}  // namespace headlight
