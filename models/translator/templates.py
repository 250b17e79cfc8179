"""English–German pairs of our own on what free translations teach badly: whom "it" names, numbers,
rare names, relative clauses. Written for the built-in translator; free to use by anyone (CC0).

    python models/translator/templates.py 20        prints twenty of them

Of every kind some combinations of words are held out: training never sees them, evaluate.py asks
for them.
"""

import random
import sys
import zlib


def words_of(text):
    return [tuple(word.split(":")) for word in text.split()]


# English, gender, German.
ANIMALS = words_of("""
    animal:n:Tier dog:m:Hund cat:f:Katze bird:m:Vogel horse:n:Pferd cow:f:Kuh sheep:n:Schaf
    mouse:f:Maus fish:m:Fisch child:n:Kind girl:n:Mädchen goat:f:Ziege rabbit:n:Kaninchen
    donkey:m:Esel duck:f:Ente fox:m:Fuchs pig:n:Schwein frog:m:Frosch snake:f:Schlange
    bear:m:Bär
""")
WAYS = words_of("""
    street:f:Straße river:m:Fluss field:n:Feld bridge:f:Brücke road:f:Straße path:m:Weg
    garden:m:Garten meadow:f:Wiese lake:m:See valley:n:Tal
""")
THINGS = words_of("""
    book:n:Buch key:m:Schlüssel car:n:Auto lamp:f:Lampe table:m:Tisch bag:f:Tasche
    picture:n:Bild letter:m:Brief watch:f:Uhr chair:m:Stuhl bed:n:Bett cup:f:Tasse hat:m:Hut
    shirt:n:Hemd house:n:Haus door:f:Tür bicycle:n:Fahrrad apple:m:Apfel flower:f:Blume
    knife:n:Messer coat:m:Mantel newspaper:f:Zeitung
""")
PEOPLE = words_of("""
    man:m:Mann woman:f:Frau teacher:m:Lehrer doctor:m:Arzt boy:m:Junge girl:n:Mädchen
    child:n:Kind friend:m:Freund brother:m:Bruder sister:f:Schwester mother:f:Mutter
    father:m:Vater
""")
OF_ANIMALS = words_of(
    "tired:müde hungry:hungrig sick:krank weak:schwach old:alt slow:langsam afraid:ängstlich "
    "lazy:faul"
)
OF_WAYS = words_of(
    "wide:breit long:lang wet:nass deep:tief dirty:schmutzig dangerous:gefährlich "
    "dark:dunkel narrow:schmal"
)
OF_THINGS = words_of("""
    old:alt new:neu expensive:teuer cheap:billig beautiful:schön big:groß small:klein
    heavy:schwer broken:kaputt dirty:schmutzig red:rot blue:blau
""")
NAMES = "Tom Anna Peter Paul Lucy Emma Ben David Sarah".split()
CITIES = [
    ("Berlin", "Berlin"),
    ("London", "London"),
    ("Paris", "Paris"),
    ("Boston", "Boston"),
    ("Munich", "München"),
    ("Vienna", "Wien"),
]

THE = {"m": "der", "f": "die", "n": "das"}
THE_ACCUSATIVE = {"m": "den", "f": "die", "n": "das"}
IT = {"m": "er", "f": "sie", "n": "es"}
IT_ACCUSATIVE = {"m": "ihn", "f": "sie", "n": "es"}


def held_out(*words):
    """One combination of words in eight."""
    return zlib.crc32(" ".join(map(str, words)).encode()) % 8 == 0


def capital(text):
    return text[0].upper() + text[1:]


def until(rng, wanted, draw):
    """Draw (words that name the combination, what is made of them) until it is held out, or is
    not, as wanted."""
    while True:
        words, made = draw(rng)
        if held_out(*words) == wanted:
            return made


def tired_or_wide(rng, wanted=False, which=None):
    """An animal too tired or a way too wide, and its gender in "weil er, sie, es"."""

    def draw(rng):
        animal, way = rng.choice(ANIMALS), rng.choice(WAYS)
        of_animal = rng.random() < 0.5 if which is None else which == "animal"
        why = rng.choice(OF_ANIMALS if of_animal else OF_WAYS)
        return (animal[0], way[0], why[0]), (
            animal,
            way,
            why,
            IT[(animal if of_animal else way)[1]],
        )

    animal, way, why, it = until(rng, wanted, draw)
    begin, end = rng.choice(
        [
            ("did not cross", "hat {w} nicht überquert"),
            ("didn't cross", "hat {w} nicht überquert"),
            ("could not cross", "konnte {w} nicht überqueren"),
            ("couldn't cross", "konnte {w} nicht überqueren"),
        ]
    )
    over = end.format(w=f"{THE_ACCUSATIVE[way[1]]} {way[2]}")
    return (
        f"The {animal[0]} {begin} the {way[0]} because it was too {why[0]}.",
        f"{capital(THE[animal[1]])} {animal[2]} {over}, weil {it} zu {why[1]} war.",
    )


def noun_of_it(english):
    """The noun that "it" stands for in a sentence of tired_or_wide; "" in others."""
    words = english.rstrip(".").split()
    if "because it was too " not in english or words[-1] not in [
        w[0] for w in OF_ANIMALS + OF_WAYS
    ]:
        return ""
    return (
        words[1] if words[-1] in [w[0] for w in OF_ANIMALS] else words[words.index("because") - 1]
    )


def it_and_noun(pieces, english):
    """The places among its pieces of "it" and of the end of the noun that it stands for; none where
    the sentence is of another kind."""
    noun, text, ends = noun_of_it(english), "", []
    for piece in pieces:
        text += piece.replace("▁", " ")
        ends.append(len(text))
    if not noun or "▁it" not in pieces or f" {noun} " not in text:
        return None
    end = text.index(f" {noun} ") + len(noun) + 1
    return pieces.index("▁it"), next(i for i, e in enumerate(ends) if e >= end)


def it(rng, wanted=False):
    """A thing, and "it" for it, as subject or object."""

    def draw(rng):
        thing, why = rng.choice(THINGS), rng.choice(OF_THINGS)
        return (thing[0], why[0]), (thing, why)

    (thing, gender, german), why = until(rng, wanted, draw)
    the, name = f"{THE_ACCUSATIVE[gender]} {german}", rng.choice(NAMES)
    return rng.choice(
        [
            (
                f"I like the {thing} because it is {why[0]}.",
                f"Ich mag {the}, weil {IT[gender]} {why[1]} ist.",
            ),
            (
                f"{name} bought the {thing} because it was {why[0]}.",
                f"{name} hat {the} gekauft, weil {IT[gender]} {why[1]} war.",
            ),
            (
                f"Where is the {thing}? It is {why[0]}.",
                f"Wo ist {THE[gender]} {german}? {capital(IT[gender])} ist {why[1]}.",
            ),
            (
                f"{name} has the {thing}, but it is {why[0]}.",
                f"{name} hat {the}, aber {IT[gender]} ist {why[1]}.",
            ),
            (
                f"The {thing} is {why[0]}. I have bought it.",
                (
                    f"{capital(THE[gender])} {german} ist {why[1]}. Ich habe "
                    f"{IT_ACCUSATIVE[gender]} "
                    "gekauft."
                ),
            ),
        ]
    )


def number(rng, wanted=False):
    """Digits stay as they are."""

    def draw(rng):
        n = rng.choice([rng.randint(2, 99), rng.randint(100, 999), rng.randint(1000, 9999)])
        return (n,), n

    n, name, year = until(rng, wanted, draw), rng.choice(NAMES), rng.random() < 0.2
    if year:
        n = until(rng, wanted, lambda rng: ((y := rng.randint(1800, 2029),), y))
        return rng.choice(
            [
                (f"The house was built in {n}.", f"Das Haus wurde {n} gebaut."),
                (f"I was born in {n}.", f"Ich wurde {n} geboren."),
                (f"{name} came to Berlin in {n}.", f"{name} kam {n} nach Berlin."),
            ]
        )
    return rng.choice(
        [
            (f"I have {n} books.", f"Ich habe {n} Bücher."),
            (f"It costs {n} dollars.", f"Es kostet {n} Dollar."),
            (f"{name} has {n} friends.", f"{name} hat {n} Freunde."),
            (f"We need {n} chairs.", f"Wir brauchen {n} Stühle."),
            (f"There are {n} children in the school.", f"In der Schule sind {n} Kinder."),
            (f"My room is number {n}.", f"Mein Zimmer hat die Nummer {n}."),
            (f"She bought {n} apples.", f"Sie hat {n} Äpfel gekauft."),
            (f"He waited for {n} minutes.", f"Er hat {n} Minuten gewartet."),
            (f"The village is {n} kilometers away.", f"Das Dorf ist {n} Kilometer entfernt."),
            (f"{name} is {n} years old.", f"{name} ist {n} Jahre alt."),
        ]
    )


SYLLABLES = (
    "ba be bo da del do fa fin ga go ha jo ka kel ki la len lo ma mir mo na nel no pa per ra rin "
    "ro sa sel ta tor va ven wil za zor"
).split()
ENDINGS = "n r l s d k t x th ck nn ra ta lo na".split() + [""] * 8


def unknown_name(rng):
    return capital(
        "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 3))) + rng.choice(ENDINGS)
    )


def name(rng, wanted=False):
    """Rare names stay as they are."""

    def draw(rng):
        n = unknown_name(rng)
        return (n,), n

    n, m, (city, stadt) = until(rng, wanted, draw), until(rng, wanted, draw), rng.choice(CITIES)
    return rng.choice(
        [
            (f"{n} lives in {city}.", f"{n} wohnt in {stadt}."),
            (f"Have you seen {n}?", f"Hast du {n} gesehen?"),
            (f"My name is {n}.", f"Mein Name ist {n}."),
            (f"{n} is my friend.", f"{n} ist mein Freund."),
            (f"I know {n}.", f"Ich kenne {n}."),
            (f"{n} and {m} are here.", f"{n} und {m} sind hier."),
            (f"{n} is tired.", f"{n} ist müde."),
            (f"I will visit {n} tomorrow.", f"Ich werde {n} morgen besuchen."),
            (f"We drove to {n}.", f"Wir sind nach {n} gefahren."),
            (f"{n} bought a new car.", f"{n} hat ein neues Auto gekauft."),
            (f"Mr. {n} is a teacher.", f"Herr {n} ist Lehrer."),
        ]
    )


def relative(rng, wanted=False):
    """Relative clauses: the verb at the end, the pronoun by gender and case."""

    def draw(rng):
        person, thing, why = rng.choice(PEOPLE), rng.choice(THINGS), rng.choice(OF_THINGS)
        return (person[0], thing[0]), (person, thing, why)

    (person, g, german), (thing, h, ding), why = until(rng, wanted, draw)
    who, what, owner = f"{capital(THE[g])} {german}", f"{capital(THE[h])} {ding}", rng.choice(NAMES)
    verb, past = rng.choice(
        [("bought", "gekauft"), ("found", "gefunden"), ("saw", "gesehen"), ("sold", "verkauft")]
    )
    return rng.choice(
        [
            (
                f"The {person} who {verb} the {thing} is here.",
                f"{who}, {THE[g]} {THE_ACCUSATIVE[h]} {ding} {past} hat, ist hier.",
            ),
            (
                f"The {thing} that I {verb} is {why[0]}.",
                f"{what}, {THE_ACCUSATIVE[h]} ich {past} habe, ist {why[1]}.",
            ),
            (
                f"The {thing} which {owner} {verb} was {why[0]}.",
                f"{what}, {THE_ACCUSATIVE[h]} {owner} {past} hat, war {why[1]}.",
            ),
            (
                f"The {person} who lives here has {'an' if thing[0] in 'aeio' else 'a'} {thing}.",
                f"{who}, {THE[g]} hier wohnt, hat {dict(m='einen', f='eine', n='ein')[h]} {ding}.",
            ),
            (
                f"I know the {person} who {verb} the {thing}.",
                (
                    f"Ich kenne {THE_ACCUSATIVE[g]} {dict(Junge='Jungen').get(german, german)}, "
                    f"{THE[g]} {THE_ACCUSATIVE[h]} {ding} {past} hat."
                ),
            ),
            (
                f"The {thing} that is on the table is {why[0]}.",
                f"{what}, {THE[h]} auf dem Tisch ist, ist {why[1]}.",
            ),
        ]
    )


KINDS = [tired_or_wide, it, number, name, name, name, relative]


def pair(rng):
    """A pair of a kind drawn at random."""
    return rng.choice(KINDS)(rng)


if __name__ == "__main__":
    random_ = random.Random(1)
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        print("\t".join(pair(random_)))
