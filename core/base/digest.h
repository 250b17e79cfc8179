// Digests by which the contents of files are known: SHA-1 and SHA-256.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct _GChecksum;

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
    struct Free {
        void operator()(_GChecksum* sum) const;
    };
    std::unique_ptr<_GChecksum, Free> sum_;
};

}  // namespace headlight
