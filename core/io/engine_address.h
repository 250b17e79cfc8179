// Says where servers of the engine's protocol listen (docs/engine.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

/// Holds a socket's path, or a port of this computer and the token that the server printed.
struct EngineAddress {
    std::filesystem::path socket;
    int port = 0;
    std::string token;
};

/// Returns whether a text is written as an address, so that it names no model: "unix:PATH", "HOST:PORT",
/// "HOST:PORT/TOKEN".
bool is_engine_address(std::string_view text);

/// Parses an address. A token that it lacks is the one that keep_token() kept, or HEADLIGHT_ENGINE_TOKEN.
/// Refuses hosts other than this computer, because neither the token nor the numbers would be secret on the
/// way.
Result<EngineAddress> parse_engine_address(const std::string& text);

/// Returns the address without its token, for users.
std::string shown_address(std::string_view text);

/// Does the same, and keeps the token in this process's memory, so that no document holds it.
std::string keep_token(const std::string& text);

/// Returns a name for what serves there: that of the socket's file without its numbers ("gpt2"), or the
/// address without its token.
std::string engine_name(std::string_view address);

/// Returns the folder of sockets: $XDG_RUNTIME_DIR/headlight, or headlight/sockets of the cache.
std::filesystem::path socket_folder();

/// Lists the addresses of servers whose sockets are in that folder, the newest first.
std::vector<std::string> engines_on_computer();

}  // namespace headlight
