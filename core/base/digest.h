// Digests by which the contents of files are known: SHA-1 and SHA-256 (FIPS 180-4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headlight {

enum class DigestKind { sha1, sha256 };

/// The digest of bytes that come in pieces.
class Digest {
public:
    explicit Digest(DigestKind kind);
    void add(std::string_view bytes);
    /// Of all that was added, in hexadecimal. Nothing can be added behind it.
    std::string finish();

private:
    void take(const unsigned char* block);
    void take_sha1(const unsigned char* block);
    void take_sha256(const unsigned char* block);

    static constexpr size_t kBlock = 64;
    DigestKind kind_;
    std::array<uint32_t, 8> state_;
    std::array<unsigned char, kBlock> waiting_;  // the beginning of a block
    size_t waits_ = 0;                           // how much of it is there
    uint64_t bytes_ = 0;
};

}  // namespace headlight
