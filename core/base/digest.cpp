#include "base/digest.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace headlight {

namespace {

using State = std::array<uint32_t, 8>;

constexpr State kFirst1{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0, 0, 0, 0};
constexpr State kFirst256{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// The first 32 bits behind the point of the cube roots of the first 64 primes.
constexpr uint32_t kRounds[] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t word_at(const unsigned char* bytes) {
    return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

}  // namespace

Digest::Digest(DigestKind kind) : kind_(kind), state_(kind == DigestKind::sha1 ? kFirst1 : kFirst256) {}

void Digest::take_sha1(const unsigned char* block) {
    constexpr uint32_t kConstants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80];
    for (int i = 0; i < 16; ++i) w[i] = word_at(block + 4 * i);
    for (int i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int i = 0; i < 80; ++i) {
        const int part = i / 20;
        const uint32_t choice = part == 0   ? (b & c) | (~b & d)
                                : part == 2 ? (b & c) | (b & d) | (c & d)
                                            : b ^ c ^ d;
        const uint32_t next = std::rotl(a, 5) + choice + e + kConstants[part] + w[i];
        e = d;
        d = c;
        c = std::rotl(b, 30);
        b = a;
        a = next;
    }
    const State added{a, b, c, d, e, f, g, h};
    for (int i = 0; i < 5; ++i) state_[i] += added[i];
}

void Digest::take_sha256(const unsigned char* block) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i) w[i] = word_at(block + 4 * i);
    for (int i = 16; i < 64; ++i) {
        const uint32_t low = w[i - 15], high = w[i - 2];
        w[i] = w[i - 16] + (std::rotr(low, 7) ^ std::rotr(low, 18) ^ low >> 3) + w[i - 7] +
               (std::rotr(high, 17) ^ std::rotr(high, 19) ^ high >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int i = 0; i < 64; ++i) {
        const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                               ((e & f) ^ (~e & g)) + kRounds[i] + w[i];
        const uint32_t second =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const State added{a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state_[i] += added[i];
}

void Digest::take(const unsigned char* block) {
    if (kind_ == DigestKind::sha1)
        take_sha1(block);
    else
        take_sha256(block);
}

void Digest::add(std::string_view bytes) {
    bytes_ += bytes.size();
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    size_t left = bytes.size();
    while (left > 0) {
        if (waits_ == 0 && left >= kBlock) {
            take(data);
            data += kBlock;
            left -= kBlock;
            continue;
        }
        const size_t count = std::min(left, kBlock - waits_);
        std::memcpy(waiting_.data() + waits_, data, count);
        data += count;
        left -= count;
        waits_ = (waits_ + count) % kBlock;
        if (waits_ == 0) take(waiting_.data());
    }
}

std::string Digest::finish() {
    constexpr size_t kLength = 8;  // bytes at the end that say how many bits there were
    const uint64_t bits = bytes_ * 8;
    add(std::string_view("\x80", 1));
    while (waits_ != kBlock - kLength) add(std::string_view("\0", 1));
    char length[kLength];
    for (size_t i = 0; i < kLength; ++i) length[i] = static_cast<char>(bits >> (56 - 8 * i));
    add({length, kLength});
    std::string out;
    for (int i = 0; i < (kind_ == DigestKind::sha1 ? 5 : 8); ++i) {
        char text[9];
        std::snprintf(text, sizeof text, "%08x", state_[i]);
        out += text;
    }
    return out;
}

}  // namespace headlight
