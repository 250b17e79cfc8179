// Computes the digests that identify files: SHA-1 and SHA-256.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct _GChecksum;

namespace headlight {

enum class DigestKind { sha1, sha256 };

class Digest {
public:
    explicit Digest(DigestKind kind);
    void add(std::string_view bytes);
    /// Returns the digest of everything added, in hexadecimal. Call once, after the last add().
    std::string finish();

private:
    struct Free {
        void operator()(_GChecksum* sum) const;
    };
    std::unique_ptr<_GChecksum, Free> sum_;
};

}  // namespace headlight
