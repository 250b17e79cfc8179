#include "tokenizer/unicode_scripts.h"

#include <oniguruma.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/cast.h"
#include "base/utf8.h"

namespace headlight {

namespace {

constexpr int kNone = -1, kHan = 2;

/// Scripts of the tokenizers' own table, of Unicode 9. Hiragana and Katakana are looked for as Han.
constexpr std::string_view kScripts[] = {"Latin",
                                         "Common",
                                         "Han",
                                         "Adlam",
                                         "Ahom",
                                         "AnatolianHieroglyphs",
                                         "Arabic",
                                         "Armenian",
                                         "Avestan",
                                         "Balinese",
                                         "Bamum",
                                         "BassaVah",
                                         "Batak",
                                         "Bengali",
                                         "Bhaiksuki",
                                         "Bopomofo",
                                         "Brahmi",
                                         "Braille",
                                         "Buginese",
                                         "Buhid",
                                         "CanadianAboriginal",
                                         "Carian",
                                         "CaucasianAlbanian",
                                         "Chakma",
                                         "Cham",
                                         "Cherokee",
                                         "Coptic",
                                         "Cuneiform",
                                         "Cypriot",
                                         "Cyrillic",
                                         "Deseret",
                                         "Devanagari",
                                         "Duployan",
                                         "EgyptianHieroglyphs",
                                         "Elbasan",
                                         "Ethiopic",
                                         "Georgian",
                                         "Glagolitic",
                                         "Gothic",
                                         "Grantha",
                                         "Greek",
                                         "Gujarati",
                                         "Gurmukhi",
                                         "Hangul",
                                         "Hanunoo",
                                         "Hatran",
                                         "Hebrew",
                                         "ImperialAramaic",
                                         "Inherited",
                                         "InscriptionalPahlavi",
                                         "InscriptionalParthian",
                                         "Javanese",
                                         "Kaithi",
                                         "Kannada",
                                         "KayahLi",
                                         "Kharoshthi",
                                         "Khmer",
                                         "Khojki",
                                         "Khudawadi",
                                         "Lao",
                                         "Lepcha",
                                         "Limbu",
                                         "LinearA",
                                         "LinearB",
                                         "Lisu",
                                         "Lycian",
                                         "Lydian",
                                         "Mahajani",
                                         "Malayalam",
                                         "Mandaic",
                                         "Manichaean",
                                         "Marchen",
                                         "MeeteiMayek",
                                         "MendeKikakui",
                                         "MeroiticCursive",
                                         "MeroiticHieroglyphs",
                                         "Miao",
                                         "Modi",
                                         "Mongolian",
                                         "Mro",
                                         "Multani",
                                         "Myanmar",
                                         "Nabataean",
                                         "NewTaiLue",
                                         "Newa",
                                         "Nko",
                                         "Ogham",
                                         "OlChiki",
                                         "OldHungarian",
                                         "OldItalic",
                                         "OldNorthArabian",
                                         "OldPermic",
                                         "OldPersian",
                                         "OldSouthArabian",
                                         "OldTurkic",
                                         "Oriya",
                                         "Osage",
                                         "Osmanya",
                                         "PahawhHmong",
                                         "Palmyrene",
                                         "PauCinHau",
                                         "PhagsPa",
                                         "Phoenician",
                                         "PsalterPahlavi",
                                         "Rejang",
                                         "Runic",
                                         "Samaritan",
                                         "Saurashtra",
                                         "Sharada",
                                         "Shavian",
                                         "Siddham",
                                         "SignWriting",
                                         "Sinhala",
                                         "SoraSompeng",
                                         "Sundanese",
                                         "SylotiNagri",
                                         "Syriac",
                                         "Tagalog",
                                         "Tagbanwa",
                                         "TaiLe",
                                         "TaiTham",
                                         "TaiViet",
                                         "Takri",
                                         "Tamil",
                                         "Tangut",
                                         "Telugu",
                                         "Thaana",
                                         "Thai",
                                         "Tibetan",
                                         "Tifinagh",
                                         "Tirhuta",
                                         "Ugaritic",
                                         "Vai",
                                         "WarangCiti",
                                         "Yi"};
constexpr std::string_view kAlsoHan[] = {"Hiragana", "Katakana"};

/// What came into Unicode later has no script there.
constexpr std::pair<char32_t, char32_t> kLater[] = {
    {0x560, 0x560},     {0x588, 0x588},     {0x5EB, 0x5EF},     {0x61D, 0x61D},     {0x7FB, 0x7FF},
    {0x85F, 0x89F},     {0x8B5, 0x8B5},     {0x8BE, 0x8D3},     {0x9FC, 0xA00},     {0xA76, 0xA80},
    {0xAFA, 0xB00},     {0xB4E, 0xB55},     {0xC04, 0xC04},     {0xC3A, 0xC3C},     {0xC5B, 0xC5F},
    {0xC70, 0xC77},     {0xC84, 0xC84},     {0xCD7, 0xCDD},     {0xCF3, 0xD00},     {0xD04, 0xD04},
    {0xD3B, 0xD3C},     {0xD80, 0xD81},     {0xE85, 0xE86},     {0xE89, 0xE89},     {0xE8B, 0xE8C},
    {0xE8E, 0xE93},     {0xE98, 0xE98},     {0xEA0, 0xEA0},     {0xEA8, 0xEA9},     {0xEAC, 0xEAC},
    {0xEBA, 0xEBA},     {0x170D, 0x170D},   {0x1715, 0x171F},   {0x180F, 0x180F},   {0x1878, 0x187F},
    {0x1ABF, 0x1AFF},   {0x1B4C, 0x1B4F},   {0x1B7D, 0x1B7F},   {0x1C89, 0x1CBF},   {0x1CF7, 0x1CF7},
    {0x1CFA, 0x1CFF},   {0x1DF6, 0x1DFA},   {0x20BF, 0x20CF},   {0x23FF, 0x23FF},   {0x2B96, 0x2B97},
    {0x2BBA, 0x2BBC},   {0x2BC9, 0x2BC9},   {0x2BD2, 0x2BEB},   {0x2BF0, 0x2BFF},   {0x2C2F, 0x2C2F},
    {0x2C5F, 0x2C5F},   {0x2E45, 0x2E7F},   {0x312E, 0x3130},   {0x31BB, 0x31BF},   {0x32FF, 0x32FF},
    {0x4DB6, 0x4DBF},   {0x9FD6, 0x9FFF},   {0xA7AF, 0xA7AF},   {0xA7B8, 0xA7F6},   {0xA82C, 0xA82F},
    {0xA8FE, 0xA8FF},   {0xAB66, 0xAB6F},   {0xFBC2, 0xFBD2},   {0xFD40, 0xFD4F},   {0xFDC8, 0xFDEF},
    {0xFDFE, 0xFDFF},   {0x1019C, 0x1019F}, {0x10324, 0x1032F}, {0x10570, 0x105FF}, {0x10768, 0x107FF},
    {0x10A34, 0x10A37}, {0x10A48, 0x10A4F}, {0x10D00, 0x10E5F}, {0x10E7F, 0x10FFF}, {0x11070, 0x1107E},
    {0x110C2, 0x110CF}, {0x11144, 0x1114F}, {0x111CE, 0x111CF}, {0x1133A, 0x1133B}, {0x1145A, 0x1145A},
    {0x1145E, 0x1147F}, {0x116B8, 0x116BF}, {0x1171A, 0x1171C}, {0x11740, 0x1189F}, {0x11900, 0x11ABF},
    {0x11CB7, 0x11FFF}, {0x12544, 0x12FFF}, {0x1342F, 0x143FF}, {0x16A70, 0x16ACF}, {0x16B90, 0x16EFF},
    {0x16F45, 0x16F4F}, {0x16F7F, 0x16F8E}, {0x16FE1, 0x16FFF}, {0x187ED, 0x187FF}, {0x18AF3, 0x1AFFF},
    {0x1B002, 0x1BBFF}, {0x1BCA4, 0x1CFFF}, {0x1D1E9, 0x1D1FF}, {0x1D246, 0x1D2FF}, {0x1D372, 0x1D3FF},
    {0x1DAB0, 0x1DFFF}, {0x1E02B, 0x1E7FF}, {0x1E94B, 0x1E94F}, {0x1E960, 0x1EDFF}, {0x1F10D, 0x1F10F},
    {0x1F12F, 0x1F12F}, {0x1F16C, 0x1F16F}, {0x1F1AD, 0x1F1E5}, {0x1F252, 0x1F2FF}, {0x1F6D3, 0x1F6DF},
    {0x1F6F7, 0x1F6FF}, {0x1F7D5, 0x1F7FF}, {0x1F8AE, 0x1F90F}, {0x1F91F, 0x1F91F}, {0x1F928, 0x1F92F},
    {0x1F931, 0x1F932}, {0x1F93F, 0x1F93F}, {0x1F94C, 0x1F94F}, {0x1F95F, 0x1F97F}, {0x1F992, 0x1F9BF},
    {0x1F9C1, 0x1FFFF}, {0x2A6D7, 0x2A6FF}, {0x2B735, 0x2B73F}, {0x2CEA2, 0x2F7FF}, {0x2FA1E, 0x323FF}};

bool came_later(char32_t c) {
    const auto* at = std::upper_bound(std::begin(kLater), std::end(kLater), c,
                                      [](char32_t value, const auto& range) { return value < range.first; });
    return at != std::begin(kLater) && c <= (at - 1)->second;
}

/// Oniguruma's number of a property, and whether it holds for a character.
int property(std::string_view name) {
    std::string text(name);
    auto* begin = reinterpret_cast<OnigUChar*>(text.data());
    return ONIGENC_PROPERTY_NAME_TO_CTYPE(ONIG_ENCODING_UTF8, begin, begin + text.size());
}
bool holds(int property, char32_t c) {
    return property >= 0 && ONIGENC_IS_CODE_CTYPE(ONIG_ENCODING_UTF8, c, static_cast<unsigned>(property));
}

struct Properties {
    std::vector<int> scripts, also_han;
    Properties() {
        for (const auto name : kScripts) scripts.push_back(property(name));
        for (const auto name : kAlsoHan) also_han.push_back(property(name));
    }
};

/// A character's script as its place in the table, or kNone; `guess` is asked first.
int script_of(char32_t c, int guess) {
    constexpr char32_t kLongVowelMark = 0x30FC;
    static const Properties table;
    if (c == U' ' || came_later(c)) return kNone;
    if (c == kLongVowelMark) return kHan;
    if (guess != kNone && holds(table.scripts[guess], c)) return guess;
    for (const int p : table.also_han)
        if (holds(p, c)) return kHan;
    for (int i = 0; i < isize(table.scripts); ++i)
        if (holds(table.scripts[i], c)) return i;
    return kNone;
}

}  // namespace

Status find_scripts(std::string_view text, const std::function<void(size_t, size_t)>& found) {
    int last = kNone;
    size_t begin = 0;
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        const int script = script_of(c.value, last);
        if (script != kNone && script != last) {
            if (last != kNone) found(begin, at);
            begin = at;
            last = script;
        }
        at += c.length;
    }
    if (last != kNone) found(begin, text.size());
    return success();
}

}  // namespace headlight
