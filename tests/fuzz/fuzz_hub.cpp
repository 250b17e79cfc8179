#include <filesystem>

#include "hub/files.h"

/// What a hub says of a repository and of its pull requests: no name leaves its folder, no hash names another
/// file than a blob.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headlight;
    const std::string_view said(reinterpret_cast<const char*>(data), size);
    HubConversions conversions;
    static_cast<void>(add_hub_conversions(said, "owner/name", conversions));
    for (const int number : conversions.all())
        if (number <= 0) __builtin_trap();
    const auto listing = parse_hub_listing(said, "owner/name");
    if (!listing) return 0;
    for (const HubFile& file : listing->files) {
        const std::filesystem::path path(file.name);
        for (const auto& part : path)
            if (part == "..") __builtin_trap();
        if (path.is_absolute() || file.hash.find('/') != std::string::npos) __builtin_trap();
    }
    for (const char* gguf : {"", "Q4"})
        if (const auto chosen = choose_hub_files(*listing, gguf, "owner/name"); chosen && chosen->empty())
            __builtin_trap();
    return 0;
}
