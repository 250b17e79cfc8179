// Parses addresses of servers and finds their sockets.
#include "io/engine_address.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/cast.h"
#include "base/quoted.h"
#include "io/folder.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSocket = "unix:";
constexpr size_t kLongestSocket = 107, kTokenLength = 64;
constexpr std::string_view kHosts[] = {"127.0.0.1", "localhost"};

/// Splits "HOST:PORT/TOKEN"; none if the text is no such address.
struct HostAndPort {
    std::string_view host;
    int port = 0;
    std::string_view token;
};
std::optional<HostAndPort> split(std::string_view text) {
    const size_t slash = std::min(text.find('/'), text.size());
    const std::string_view place = text.substr(0, slash);
    const size_t colon = place.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    HostAndPort out{place.substr(0, colon), 0, text.substr(std::min(slash + 1, text.size()))};
    const std::string_view digits = place.substr(colon + 1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
    if (digits.empty() || read.ec != std::errc() || read.ptr != digits.data() + digits.size())
        return std::nullopt;
    // A model's name may have a number behind its colon ("phi:2"): a host has a dot, or is this one.
    const bool is_host = contains(kHosts, out.host) || out.host.find('.') != std::string_view::npos;
    return is_host && out.host.find('/') == std::string_view::npos ? std::optional(out) : std::nullopt;
}

/// Holds the tokens that users gave, by address.
struct KeptTokens {
    std::mutex mutex;
    std::map<std::string, std::string> by_address;
};
KeptTokens& kept_tokens() {
    static KeptTokens kept;
    return kept;
}

std::string known_token(const std::string& address) {
    KeptTokens& kept = kept_tokens();
    std::lock_guard lock(kept.mutex);
    const auto found = kept.by_address.find(address);
    return found == kept.by_address.end() ? environment_text("HEADLIGHT_ENGINE_TOKEN") : found->second;
}

bool is_own_socket(const fs::path& path) {
    struct stat held {};
    return ::lstat(path.c_str(), &held) == 0 && S_ISSOCK(held.st_mode) && held.st_uid == ::getuid();
}

}  // namespace

bool is_engine_address(std::string_view text) { return text.starts_with(kSocket) || split(text); }

Result<EngineAddress> parse_engine_address(const std::string& text) {
    EngineAddress out;
    if (text.starts_with(kSocket)) {
        out.socket = text.substr(kSocket.size());
        if (out.socket.empty() || out.socket.native().size() > kLongestSocket)
            return Error{in_quotes(text) +
                         " is no path of a socket; copy the address that the server printed."};
        return out;
    }
    const auto parts = split(text);
    if (!parts)
        return Error{in_quotes(text.substr(0, text.find('/'))) +
                     " is no address of a server; write unix:PATH or 127.0.0.1:PORT, as it printed."};
    if (!contains(kHosts, parts->host))
        return Error{
            "The server must be reached through this computer, because its token is not secret on the "
            "way to " +
            in_quotes(parts->host) + "; forward its port with ssh -L, and give 127.0.0.1:PORT."};
    if (parts->port < 1 || parts->port > 65535)
        return Error{in_quotes(shown_address(text)) +
                     " has no port from 1 to 65535; copy the address that the server printed."};
    out.port = parts->port;
    out.token = parts->token.empty() ? known_token(shown_address(text)) : std::string(parts->token);
    if (out.token.size() != kTokenLength)
        return Error{shown_address(text) + " asks for a token, the " + std::to_string(kTokenLength) +
                     " letters that the server printed; write 127.0.0.1:PORT/TOKEN, or set "
                     "HEADLIGHT_ENGINE_TOKEN."};
    return out;
}

std::string shown_address(std::string_view text) {
    const auto parts = text.starts_with(kSocket) ? std::nullopt : split(text);
    return parts ? std::string(parts->host) + ":" + std::to_string(parts->port) : std::string(text);
}

std::string keep_token(const std::string& text) {
    const auto parts = text.starts_with(kSocket) ? std::nullopt : split(text);
    const std::string address = shown_address(text);
    if (!parts || parts->token.size() != kTokenLength) return address;
    KeptTokens& kept = kept_tokens();
    std::lock_guard lock(kept.mutex);
    kept.by_address[address] = parts->token;
    return address;
}

std::string engine_name(std::string_view address) {
    if (!address.starts_with(kSocket)) return shown_address(address);
    std::string name = fs::path(address.substr(kSocket.size())).stem().string();  // "gpt2-1234-ab12cd"
    for (int numbers = 0; numbers < 2 && name.rfind('-') > 0 && name.rfind('-') != name.npos; ++numbers)
        name.resize(name.rfind('-'));
    return name;
}

fs::path socket_folder() {
    if (const std::string runtime = environment_text("XDG_RUNTIME_DIR"); !runtime.empty())
        return fs::path(runtime) / "headlight";
    return cache_folder() / "headlight" / "sockets";
}

namespace {

/// Returns whether the process that "gpt2-1234-ab12cd.sock" names has ended; other names say nothing of it.
bool is_left_behind(const fs::path& path) {
    const std::string name = path.stem().string();
    const size_t last = name.rfind('-'),
                 before = last > 0 && last != name.npos ? name.rfind('-', last - 1) : name.npos;
    if (before == name.npos) return false;
    const std::string number = name.substr(before + 1, last - before - 1);
    const bool digits =
        !number.empty() && number.size() < 9 && number.find_first_not_of("0123456789") == std::string::npos;
    return digits && ::kill(std::stoi(number), 0) != 0 && errno == ESRCH;
}

}  // namespace

std::vector<std::string> engines_on_computer() {
    std::vector<std::pair<fs::file_time_type, std::string>> found;
    for (const fs::path& path : folder_entries(socket_folder()))
        if (std::error_code error;
            path.extension() == ".sock" && is_own_socket(path) && !is_left_behind(path))
            found.emplace_back(fs::last_write_time(path, error), std::string(kSocket) + path.string());
    std::sort(found.rbegin(), found.rend());
    std::vector<std::string> out;
    for (auto& [time, address] : found) out.push_back(std::move(address));
    return out;
}

}  // namespace headlight
