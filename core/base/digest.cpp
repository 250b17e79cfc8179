// Computes digests with GLib.
#include "base/digest.h"

#include <glib.h>

namespace headlight {

Digest::Digest(DigestKind kind)
    : sum_(g_checksum_new(kind == DigestKind::sha1 ? G_CHECKSUM_SHA1 : G_CHECKSUM_SHA256)) {}

void Digest::Free::operator()(_GChecksum* sum) const { g_checksum_free(sum); }

void Digest::add(std::string_view bytes) {
    g_checksum_update(sum_.get(), reinterpret_cast<const guchar*>(bytes.data()),
                      static_cast<gssize>(bytes.size()));
}

std::string Digest::finish() { return g_checksum_get_string(sum_.get()); }

}  // namespace headlight
