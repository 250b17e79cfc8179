#include "model/change.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace headlight {

namespace {

constexpr ChangeRow kAblations[] = {{ChangeKind::zero, "zero", "its z is 0"},
                                    {ChangeKind::mean, "mean", "its z is the mean over the positions"},
                                    {ChangeKind::uniform, "uniform", "it attends to all allowed keys alike"},
                                    {ChangeKind::hard, "hard", "it attends to its heaviest key alone"},
                                    {ChangeKind::keep, "keep", "the other heads of its layer are taken away"}};

bool is_self(const ModelConfig& c, int site) { return c.site(site).kind != AttentionKind::cross; }

Error unusable(const std::string& text, const std::string& helps) { return Error{"The change \"" + text.substr(0, 60) + "\" cannot be used; " + helps}; }

/// "3.5" or "cross.0.2" to site and head.
bool read_head(const ModelConfig& c, const std::string& text, int& site, int& head) {
    for (site = 0; site < c.sites(); ++site) {
        const std::string path = site_path(c, site), begin = path + ".";
        const std::string short_begin = path.rfind("decoder.", 0) == 0 ? begin.substr(8) : begin;
        for (const std::string& b : {begin, short_begin}) {
            if (text.rfind(b, 0) != 0) continue;
            char* end = nullptr;
            const long number = std::strtol(text.c_str() + b.size(), &end, 10);
            if (end == text.c_str() + b.size() || *end || number < 0 || number >= c.heads(site)) continue;
            head = static_cast<int>(number);
            return true;
        }
    }
    return false;
}

std::string head_place(const ModelConfig& c, const Change& change) { return change.site < 0 ? "" : "@" + site_path(c, change.site) + "." + std::to_string(change.head); }

std::string short_number(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    return text;
}

/// Splits "a@L.H" into a and the head; true where there is none or it exists.
bool take_head(const ModelConfig& c, std::string& text, Change& change) {
    const size_t at = text.find('@');
    if (at == std::string::npos) return true;
    const bool read = read_head(c, text.substr(at + 1), change.site, change.head);
    text.erase(at);
    return read;
}

bool read_number(const std::string& text, float& value) {
    char* end = nullptr;
    value = std::strtof(text.c_str(), &end);
    return !text.empty() && !*end && !std::isnan(value);
}

/// "16", or "3-5" where several may be named: the first and how many.
bool read_span(const std::string& text, bool several, int& first, int& count) {
    int last = 0, used = 0;
    const bool one = std::sscanf(text.c_str(), "%6d%n", &first, &used) == 1 && used == static_cast<int>(text.size()) && first >= 0;
    if (one || !several) return one;
    if (std::sscanf(text.c_str(), "%6d-%6d%n", &first, &last, &used) != 2 || used != static_cast<int>(text.size()) || first < 0 || last < first) return false;
    count = last - first + 1;
    return true;
}

bool read_pair(const std::string& text, bool several, Change& change) {
    const size_t arrow = text.find('>');
    return arrow != std::string::npos && read_span(text.substr(0, arrow), several, change.query, change.queries) && read_span(text.substr(arrow + 1), several, change.key, change.keys);
}

std::string span_name(int first, int count) { return std::to_string(first) + (count > 1 ? "-" + std::to_string(first + count - 1) : ""); }

}  // namespace

bool Change::concerns(const ModelConfig& c, int of_site) const { return site < 0 ? is_self(c, of_site) : site == of_site; }

bool Change::concerns(const ModelConfig& c, int of_site, int of_head) const {
    if (!concerns(c, of_site)) return false;
    return kind == ChangeKind::keep ? head != of_head : head < 0 || head == of_head;
}

std::span<const ChangeRow> ablations() { return kAblations; }

Result<Change> parse_ablation(const ModelConfig& c, const std::string& text) {
    const size_t colon = text.find(':');
    const std::string how = colon == std::string::npos ? "zero" : text.substr(colon + 1);
    Change change;
    if (!read_head(c, text.substr(0, colon), change.site, change.head))
        return Error{"There is no head \"" + text.substr(0, 40) + "\": heads go from " + site_path(c, 0) + ".0 to " + site_path(c, c.sites() - 1) + "." + std::to_string(c.heads(c.sites() - 1) - 1) + "; correct --ablate."};
    for (const ChangeRow& row : kAblations)
        if (how == row.name) {
            change.kind = row.kind;
            return change;
        }
    return unusable(text, "write zero, mean, uniform, hard or keep behind the colon.");
}

Result<Change> parse_change(const ModelConfig& c, const std::string& text) {
    const size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
    Change change;
    if (name == "ablate") return parse_ablation(c, rest);
    if (name == "skip-attention" || name == "skip-mlp") {
        change.kind = name == "skip-mlp" ? ChangeKind::skip_mlp : ChangeKind::skip_attention;
        for (int site = 0; site < c.sites(); ++site)
            if (site_path(c, site) == rest || site_path(c, site) == "decoder." + rest) change.site = site;
        if (change.site >= 0) return change;
        return unusable(text, "there is no such layer.");
    }
    const size_t equals = rest.find('=');
    if (name == "freeze" && equals != std::string::npos) {
        change.kind = ChangeKind::freeze;
        change.from = rest.substr(equals + 1);
        if (!change.from.empty() && read_head(c, rest.substr(0, equals), change.site, change.head)) return change;
        return unusable(text, "write freeze:L.H=TEXT with a head that the model has.");
    }
    if (name == "score" && equals != std::string::npos) {
        change.kind = ChangeKind::score;
        const bool number = read_number(rest.substr(equals + 1), change.value);
        rest.erase(equals);
        if (number && take_head(c, rest, change) && read_pair(rest, false, change)) return change;
        return unusable(text, "write score:QUERY>KEY@L.H=NUMBER.");
    }
    if (!take_head(c, rest, change)) return unusable(text, "there is no such head behind the @.");
    if (name == "temperature") {
        change.kind = ChangeKind::temperature;
        if (read_number(rest, change.value) && change.value >= 0) return change;
        return unusable(text, "a temperature is a number from 0 (hard) upwards, or inf.");
    }
    if (name == "forbid" || name == "allow") {
        change.kind = name == "allow" ? ChangeKind::allow : ChangeKind::forbid;
        if (read_pair(rest, true, change)) return change;
    }
    return unusable(text, "write ablate:L.H:mean, temperature:0.5, forbid:16>10@L.H, allow:3-5>9, score:16>10@L.H=4.5, freeze:L.H=TEXT, skip-attention:L or skip-mlp:L.");
}

std::string change_name(const ModelConfig& c, const Change& change) {
    const std::string pair = span_name(change.query, change.queries) + ">" + span_name(change.key, change.keys);
    switch (change.kind) {
        case ChangeKind::temperature: return "temperature:" + short_number(change.value) + head_place(c, change);
        case ChangeKind::forbid: return "forbid:" + pair + head_place(c, change);
        case ChangeKind::allow: return "allow:" + pair + head_place(c, change);
        case ChangeKind::score: return "score:" + pair + head_place(c, change) + "=" + short_number(change.value);
        case ChangeKind::freeze: return "freeze:" + site_path(c, change.site) + "." + std::to_string(change.head) + "=" + change.from;
        case ChangeKind::skip_attention: return "skip-attention:" + site_path(c, change.site);
        case ChangeKind::skip_mlp: return "skip-mlp:" + site_path(c, change.site);
        default: break;
    }
    for (const ChangeRow& row : kAblations)
        if (row.kind == change.kind) return "ablate:" + site_path(c, change.site) + "." + std::to_string(change.head) + ":" + row.name;
    return "";
}

}  // namespace headlight
