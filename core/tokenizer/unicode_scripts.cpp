// Finds runs of Unicode scripts.
#include "tokenizer/unicode_scripts.h"

#include <oniguruma.h>

#include <string>
#include <vector>

#include "base/cast.h"
#include "base/utf8.h"
#include "tokenizer/unicode_age.h"

namespace headlight {

namespace {

constexpr int kNone = -1, kHan = 2;

/// Lists the scripts of the tokenizers' own table, of Unicode 9. Hiragana and Katakana count as Han.
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

/// Returns Oniguruma's number of a property, to test characters with.
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

/// Returns a character's script as its index in the table, or kNone; tries `guess` first.
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
