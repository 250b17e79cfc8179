"""English–German pairs of our own on what free translations teach badly: whom "it" names, numbers,
times, dates, rare names, relative clauses, long sentences. Written for the built-in translator;
free to use by anyone (CC0).

    python models/translator/templates.py 20        prints twenty of them

Of every kind some combinations of words are held out: training never sees them, evaluate.py asks
for them.
"""

import json
import random
import re
import sys
import zlib
from pathlib import Path

import grammar
import phrases


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


TASTES = words_of("hot:heiß cold:kalt good:gut sweet:süß salty:salzig fresh:frisch")
DISHES = words_of(
    "soup:f:Suppe cake:m:Kuchen tea:m:Tee coffee:m:Kaffee milk:f:Milch fish:m:Fisch "
    "bread:n:Brot pizza:f:Pizza egg:n:Ei apple:m:Apfel salad:m:Salat meat:n:Fleisch"
)
FITS = words_of(
    "suitcase:m:Koffer box:f:Kiste bag:f:Tasche drawer:f:Schublade cupboard:m:Schrank "
    "car:n:Auto basket:m:Korb backpack:m:Rucksack"
)
WEATHER = words_of("cold:kalt dark:dunkel late:spät warm:warm windy:windig hot:heiß early:früh")
DATIVE = {"m": "dem", "f": "der", "n": "dem"}


def it_again(rng, wanted=False):
    """A thing, a dish, an animal, what fits into what, and "it" for it or for the weather."""

    def draw(rng):
        thing, animal, dish = rng.choice(THINGS), rng.choice(ANIMALS), rng.choice(DISHES)
        why, other, taste = rng.choice(OF_THINGS), rng.choice(FITS), rng.choice(TASTES)
        return (thing[0], animal[0], dish[0], why[0], other[0]), (
            thing,
            animal,
            dish,
            why,
            other,
            taste,
        )

    thing, animal, dish, why, other, taste = until(rng, wanted, draw)
    n, of_animal, sky = new_name(rng), rng.choice(OF_ANIMALS), rng.choice(WEATHER)
    (a, g, b), big = thing, rng.random() < 0.5
    who, wer = n.english(), n.german("nom")
    the, den, er, ihn = THE[g], THE_ACCUSATIVE[g], IT[g], IT_ACCUSATIVE[g]
    winner = IT[g] if big else IT[other[1]]
    verb, past = rng.choice(
        [
            ("sold", "verkauft"),
            ("lost", "verloren"),
            ("found", "gefunden"),
            ("forgot", "vergessen"),
            ("bought", "gekauft"),
        ]
    )
    size, groß = ("big", "groß") if big else ("small", "klein")
    the_dish, it_dish = f"{THE_ACCUSATIVE[dish[1]]} {dish[2]}", IT[dish[1]]
    the_other = f"{THE_ACCUSATIVE[other[1]]} {other[2]}"
    the_animal, it_animal = f"{capital(THE[animal[1]])} {animal[2]}", IT[animal[1]]
    saw = f"{THE_ACCUSATIVE[animal[1]]} {animal[2]}"
    eaten = "gegessen" if animal[0] in ("child", "girl") else "gefressen"
    eat, iss = ("drink", "Trink") if dish[0] in ("tea", "coffee", "milk") else ("eat", "Iss")
    return rng.choice(
        [
            (
                f"Do not {eat} the {dish[0]}, it is too {taste[0]}.",
                f"{iss} {the_dish} nicht, {it_dish} ist zu {taste[1]}.",
            ),
            (
                f"I like the {dish[0]} because it is {taste[0]}.",
                f"Ich mag {the_dish}, weil {it_dish} {taste[1]} ist.",
            ),
            (
                f"The {dish[0]} is good, but it is too {taste[0]}.",
                f"{capital(THE[dish[1]])} {dish[2]} ist gut, aber {it_dish} ist zu {taste[1]}.",
            ),
            (
                f"The {a} does not fit into the {other[0]} because it is too {size}.",
                f"{capital(the)} {b} passt nicht in {the_other}, weil {winner} zu {groß} ist.",
            ),
            (
                f"The {a} didn't fit in the {other[0]} because it was too {size}.",
                f"{capital(the)} {b} passte nicht in {the_other}, weil {winner} zu {groß} war.",
            ),
            (
                f"{who} {verb} the {a} because it was {why[0]}.",
                f"{wer} hat {den} {b} {past}, weil {er} {why[1]} war.",
            ),
            (
                f"Where is my {a}? I cannot find it.",
                f"Wo ist mein{'e' if g == 'f' else ''} {b}? Ich kann {ihn} nicht finden.",
            ),
            (
                f"This is my {a}. It is {why[0]}.",
                f"Das ist mein{'e' if g == 'f' else ''} {b}. {capital(er)} ist {why[1]}.",
            ),
            (
                f"If the {a} is {why[0]}, I will not buy it.",
                f"Wenn {the} {b} {why[1]} ist, werde ich {ihn} nicht kaufen.",
            ),
            (
                f"{who} took the {a} and put it on the floor.",
                f"{wer} nahm {den} {b} und legte {ihn} auf den Boden.",
            ),
            (
                f"I have {'an' if a[0] in 'aeio' else 'a'} {a}, but it is {why[0]}.",
                f"Ich habe {dict(m='einen', f='eine', n='ein')[g]} {b}, aber {er} ist {why[1]}.",
            ),
            (
                f"{who} has {'an' if a[0] in 'aeio' else 'a'} {a}. It is very {why[0]}."
                if why[0] not in ("red", "blue", "broken")
                else f"{who} has {'an' if a[0] in 'aeio' else 'a'} {a}. It is {why[0]}.",
                f"{wer} hat {dict(m='einen', f='eine', n='ein')[g]} {b}. {capital(er)} ist "
                f"{'' if why[0] in ('red', 'blue', 'broken') else 'sehr '}{why[1]}.",
            ),
            (
                f"Is the {a} {why[0]}? Yes, it is {why[0]}.",
                f"Ist {the} {b} {why[1]}? Ja, {er} ist {why[1]}.",
            ),
            (
                f"The {animal[0]} is sleeping because it is {of_animal[0]}.",
                f"{the_animal} schläft, weil {it_animal} {of_animal[1]} ist.",
            ),
            (
                f"The {animal[0]} did not eat because it was {of_animal[0]}.",
                f"{the_animal} hat nicht {eaten}, weil {it_animal} {of_animal[1]} war.",
            ),
            (
                f"When the {animal[0]} is {of_animal[0]}, it sleeps.",
                f"Wenn {THE[animal[1]]} {animal[2]} {of_animal[1]} ist, schläft {it_animal}.",
            ),
            (
                f"I saw the {animal[0]}, but it did not see me.",
                f"Ich habe {saw} gesehen, aber {it_animal} hat mich nicht gesehen.",
            ),
            (
                f"The {a} is {why[0]}, but it is {sky[0]} outside.",
                f"{capital(the)} {b} ist {why[1]}, aber es ist draußen {sky[1]}.",
            ),
            (
                f"The {animal[0]} is in the house because it is raining.",
                f"{the_animal} ist im Haus, weil es regnet.",
            ),
            (
                f"The {a} that I {verb} was {why[0]}, but I liked it.",
                f"{capital(the)} {b}, {den} ich {past} habe, war {why[1]}, aber ich mochte {ihn}.",
            ),
            (
                f"My {a} is {why[0]}. {who} wants to see it.",
                f"Mein{'e' if g == 'f' else ''} {b} ist {why[1]}. {wer} will {ihn} sehen.",
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


# Names of people and places that English and German write alike; those of held_out.tsv are asked.
KNOWN = """
    Robert Michael Daniel Thomas Martin Stefan Andreas Markus Felix Jonas Lukas Leon Niklas Moritz
    Oliver Simon Philipp Fabian Sebastian Tobias Matthias Wolfgang Günther Helmut Jürgen Klaus
    Karl Hans Fritz Otto Walter Werner Heinz Uwe Rolf Ralf Frank Dieter Bernd Jens Lars Sven Olaf
    Laura Lisa Lena Sophie Hannah Johanna Katharina Claudia Sabine Monika Petra Ursula Renate
    Ingrid Helga Karin Heike Silke Anja Katja Nadja Tanja Vera Olga Irina Natalia Elena Carmen
    Isabel Lucia Chiara Giulia Francesca Paolo Marco Luigi Giovanni Pablo Carlos Miguel Juan Diego
    Pierre Jacques Michel Louis Claude Camille Amelie Chloe Yuki Kenji Hiroshi Akira Sakura Ali
    Omar Fatima Aisha Mehmet Ayse Ivan Boris Sergei Igor Yuri Anton Oleg Harry Charlie George
    William James Henry Edward Arthur Oscar Jacob Noah Liam Ethan Mason Logan Lucas Jackson Olivia
    Ava Isabella Amelia Charlotte Evelyn Abigail Emily Ella Grace Victoria Ruby Hazel Violet Zoe
    Müller Schneider Fischer Weber Becker Hoffmann Schulz Koch Bauer Richter Klein Wolf Schröder
    Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Werner Krause Lehmann Köhler
    Maier Huber Kaiser Fuchs Lang Scholz Möller Weiß Jung Hahn Vogel Friedrich Keller Frank Berger
    Winkler Roth Beck Lorenz Baumann Franke Albrecht Schuster Böhm Ludwigs Simmons Miller Johnson
    Williams Brown Jones Davis Wilson Anderson Taylor Moore Harris Clark Lewis Walker Young Allen
    King Wright Hill Scott Green Baker Adams Nelson Carter Mitchell Roberts Turner Parker Evans
    Edwards Collins Stewart Morris Rogers Reed Cook Morgan Bell Murphy Bailey Cooper Kelly Howard
    Quinn Quentin Quincy Xena Ximena Xaver Xerxes Yvonne Yannick Zachary Zelda Zoltan
"""
TOWNS = """
    Berlin Hamburg Frankfurt Stuttgart Dresden Leipzig Bremen Hannover Bonn Mannheim Karlsruhe
    Augsburg Freiburg Heidelberg Potsdam Rostock Kiel Kassel Ulm Passau Salzburg Graz Innsbruck Linz
    Basel Bern London Manchester Liverpool Oxford Cambridge Bristol Dublin Glasgow Boston Chicago
    Houston Seattle Denver Dallas Miami Atlanta Detroit Phoenix Montreal Ottawa Vancouver Sydney
    Melbourne Madrid Valencia Sevilla Malaga Bilbao Paris Lyon Marseille Bordeaux Nizza Amsterdam
    Rotterdam Utrecht Oslo Bergen Stockholm Helsinki Budapest Istanbul Ankara Tokio Kyoto Osaka
    Nagoya Bangkok
    Delhi Mumbai Lima Quito Havanna Santiago Nairobi Lagos Texas Alaska Hawaii Florida
    Quebec Xanten Zwickau Würzburg Göttingen Lübeck Düsseldorf Tübingen
"""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIRECTORY = Path(__file__).parent


def read_questions():
    """held_out.tsv: rows of (kind, English, what is asked of the German)."""
    lines = (DIRECTORY / "held_out.tsv").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if line and not line.startswith("#")]


def key_of(text):
    """Sentences that differ in case and marks alone count as one."""
    return re.sub(r"\W+", " ", text.lower()).strip()


def everyday():
    lines = (DIRECTORY / "everyday.tsv").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if line]


QUESTIONS = read_questions()
ASKED = {key_of(q[1]) for q in QUESTIONS} | {key_of(row[0]) for row in everyday()}
# whole words: training holds none of these names, in no sentence
ASKED_NAMES = {w for q in QUESTIONS if q[0] == "name" for w in q[2].split()}
KNOWN = [n for n in dict.fromkeys(KNOWN.split()) if n not in ASKED_NAMES]
TOWNS = [n for n in dict.fromkeys(TOWNS.split()) if n not in ASKED_NAMES]
_PIECES = []


def pieces():
    """Beginnings and insides of words among the pieces of the vocabulary."""
    if not _PIECES:
        table = json.loads((DIRECTORY / "vocab.json").read_text(encoding="utf-8"))
        words = [p for p in table if not p.startswith("<")]
        begins = [p[1:] for p in words if re.fullmatch("▁[A-ZÄÖÜ][a-zäöüß]{0,3}", p)]
        inner = [p for p in words if re.fullmatch("[a-zäöüßéèáó]{1,4}", p)]
        _PIECES.extend([begins, inner])
    return _PIECES


def unknown_name(rng):
    """Of syllables, of letters, of the pieces of the vocabulary, or one that exists."""
    kind = rng.random()
    if kind < 0.15:
        name = capital(
            "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 3))) + rng.choice(ENDINGS)
        )
    elif kind < 0.3:
        letters = [rng.choice(LETTERS if rng.random() < 0.6 else "aeiou") for _ in range(8)]
        name = capital("".join(letters[: rng.randint(3, 8)]))
    elif kind < 0.5:
        name = rng.choice(KNOWN)
    elif kind < 0.6:
        name = rng.choice(TOWNS)
    else:
        begins, inner = pieces()
        name = rng.choice(begins) + "".join(rng.choice(inner) for _ in range(rng.randint(1, 3)))
    return unknown_name(rng) if name in ASKED_NAMES else name


def new_name(rng):
    """The subjects and objects of grammar.py: names that few sentences hold, or well-known ones."""
    return grammar.Name(unknown_name(rng)) if rng.random() < 0.5 else grammar.a_name(rng)


def name(rng, wanted=False):
    """Rare names stay as they are."""

    def draw(rng):
        n = unknown_name(rng)
        return (n,), n

    n, m, (city, stadt) = until(rng, wanted, draw), until(rng, wanted, draw), rng.choice(CITIES)
    t = until(rng, wanted, draw)
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
            (f"{n} lives in {t}.", f"{n} wohnt in {t}."),
            (f"I live in {t}.", f"Ich wohne in {t}."),
            (f"We met {n} in {t}.", f"Wir haben {n} in {t} getroffen."),
            (f"I met {n} yesterday.", f"Gestern habe ich {n} getroffen."),
            (f"Yesterday I saw {n}.", f"Gestern habe ich {n} gesehen."),
            (f"Do you know {n}?", f"Kennst du {n}?"),
            (f"Do you know Mr. {n}?", f"Kennst du Herrn {n}?"),
            (f"We are going to {t}.", f"Wir fahren nach {t}."),
            (f"{n} comes from {t}.", f"{n} kommt aus {t}."),
            (f"{n} and I are friends.", f"{n} und ich sind Freunde."),
            (f"Where is {n}?", f"Wo ist {n}?"),
            (f"{n} met {m}.", f"{n} hat {m} getroffen."),
            (f"{n} said that {m} is sick.", f"{n} sagte, dass {m} krank ist."),
            (f"{n} gave {m} a book.", f"{n} hat {m} ein Buch gegeben."),
            (f"Her name is {n} {m}.", f"Ihr Name ist {n} {m}."),
            (f"Mrs. {n} likes {t}.", f"Frau {n} mag {t}."),
            (f"{n}'s brother lives in {t}.", f"Der Bruder von {n} wohnt in {t}."),
            (f"This is my colleague {n}.", f"Das ist mein Kollege {n}."),
            (f"{n} wants to travel to {t}.", f"{n} will nach {t} reisen."),
            (f"The flight to {t} is late.", f"Der Flug nach {t} hat Verspätung."),
            (f"Dr. {n} works in {t}.", f"Dr. {n} arbeitet in {t}."),
            (f"{n}, {m} and {t} are sitting here.", f"{n}, {m} und {t} sitzen hier."),
            (f"{n} is taller than {m}.", f"{n} ist größer als {m}."),
            (f"Can you call {n}, please?", f"Kannst du bitte {n} anrufen?"),
            (f"I think that {n} is in {t}.", f"Ich glaube, dass {n} in {t} ist."),
            (f"Our cat is called {n}.", f"Unsere Katze heißt {n}."),
            (f"The city of {t} is very old.", f"Die Stadt {t} ist sehr alt."),
            (f"Hello, I am {n}.", f"Hallo, ich bin {n}."),
            (f"{n} is not here.", f"{n} ist nicht hier."),
        ]
    )


MONTHS = [
    tuple(m.split("="))
    for m in "January=Januar February=Februar March=März April=April May=Mai "
    "June=Juni July=Juli August=August September=September October=Oktober November=November "
    "December=Dezember".split()
]


BEGINNINGS = [
    ("train", "Zug", "leaves", "fährt", "ab"),
    ("bus", "Bus", "arrives", "kommt", "an"),
    ("film", "Film", "begins", "beginnt", ""),
    ("concert", "Konzert", "starts", "beginnt", ""),
    ("plane", "Flugzeug", "lands", "landet", ""),
    ("museum", "Museum", "opens", "öffnet", ""),
    ("bank", "Bank", "closes", "schließt", ""),
    ("party", "Party", "starts", "beginnt", ""),
    ("meeting", "Besprechung", "begins", "beginnt", ""),
    ("ship", "Schiff", "leaves", "fährt", "ab"),
    ("lesson", "Unterricht", "begins", "beginnt", ""),
    ("train", "Zug", "arrives", "kommt", "an"),
]


def clock(rng, wanted=False):
    """Times of day stay as they are."""

    def draw(rng):
        t = f"{rng.randint(0, 23)}:{rng.randint(0, 59):02d}"
        return (t,), t

    t, u, n = until(rng, wanted, draw), until(rng, wanted, draw), new_name(rng)
    n, m = n.english(), n.german("nom")
    uhr = " Uhr"
    noun, german, verb, word, off = rng.choice(BEGINNINGS)
    the = capital(
        THE[
            dict(
                Konzert="n",
                Flugzeug="n",
                Museum="n",
                Schiff="n",
                Bank="f",
                Party="f",
                Besprechung="f",
            ).get(german, "m")
        ]
    )
    day = rng.choice(
        [
            ("", ""),
            ("", ""),
            (" tomorrow", "morgen "),
            (" on Monday", "am Montag "),
            (" today", "heute "),
            (" every morning", "jeden Morgen "),
        ]
    )
    return rng.choice(
        [
            (
                f"The {noun} {verb} at {t}{day[0]}.",
                f"{the} {german} {word} {day[1]}um {t}{uhr} {off}.",
            ),
            (f"The {noun} {verb} at {t}.", f"{the} {german} {word} um {t}{uhr} {off}."),
            (f"{n} came at {t}.", f"{m} kam um {t}{uhr}."),
            (f"It is {t}.", f"Es ist {t}{uhr}."),
            (f"I get up at {t}{day[0]}.", f"Ich stehe {day[1]}um {t}{uhr} auf."),
            (f"School starts at {t}.", f"Die Schule beginnt um {t}{uhr}."),
            (f"We will meet at {t}.", f"Wir treffen uns um {t}{uhr}."),
            (f"{n} called me at {t}.", f"{m} hat mich um {t}{uhr} angerufen."),
            (f"I have to go at {t}.", f"Ich muss um {t}{uhr} gehen."),
            (f"Can we meet at {t}{day[0]}?", f"Können wir uns {day[1]}um {t}{uhr} treffen?"),
            (
                f"The {noun} {verb} between {t} and {u}.",
                f"{the} {german} {word} zwischen {t} und {u}{uhr} {off}.",
            ),
            (f"We are open from {t} to {u}.", f"Wir haben von {t} bis {u}{uhr} geöffnet."),
            (f"Dinner is at {t}.", f"Das Abendessen ist um {t}{uhr}."),
            (f"{n} will be here until {t}.", f"{m} wird bis {t}{uhr} hier sein."),
            (
                f"{n} went to bed at {t} because it was late.",
                f"{m} ging um {t}{uhr} ins Bett, weil es spät war.",
            ),
        ]
    )


def date(rng, wanted=False):
    """English writes May 5, German 5. Mai."""

    def draw(rng):
        month, day = rng.choice(MONTHS), rng.randint(1, 31)
        return (month[0], day), (month, day)

    (month, monat), day = until(rng, wanted, draw)
    year, n = rng.randint(1850, 2035), new_name(rng)
    n, m = n.english(), n.german("nom")
    th = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}.get(day, "th")
    english = rng.choice(
        [
            f"{month} {day}",
            f"{month} {day}",
            f"{month} {day}{th}",
            f"{day} {month}",
            f"the {day}{th} of {month}",
        ]
    )
    german = f"{day}. {monat}"
    if rng.random() < 0.3:
        english = f"{month} {day}, {year}" if english.startswith(month) else f"{english} {year}"
        german += f" {year}"
    return rng.choice(
        [
            (f"I was born on {english}.", f"Ich wurde am {german} geboren."),
            (f"{n} came on {english}.", f"{m} kam am {german}."),
            (f"The concert is on {english}.", f"Das Konzert ist am {german}."),
            (f"My birthday is on {english}.", f"Mein Geburtstag ist am {german}."),
            (f"School begins on {english}.", f"Die Schule beginnt am {german}."),
            (f"Today is {english}.", f"Heute ist der {german}."),
            (f"We arrive on {english}.", f"Wir kommen am {german} an."),
            (
                f"The meeting on {english} was cancelled.",
                f"Die Besprechung am {german} wurde abgesagt.",
            ),
            (f"On {english} we will fly to Berlin.", f"Am {german} fliegen wir nach Berlin."),
            (f"{n} has been here since {english}.", f"{m} ist seit dem {german} hier."),
            (
                f"The shop is closed until {english}.",
                f"Der Laden ist bis zum {german} geschlossen.",
            ),
            (f"{n} died on {english}.", f"{m} starb am {german}."),
            (f"They got married on {english}.", f"Sie haben am {german} geheiratet."),
            (
                f"{n} moved to Paris in {month} {year}.",
                f"{m} ist im {monat} {year} nach Paris gezogen.",
            ),
            (f"It was in {month} {year}.", f"Es war im {monat} {year}."),
        ]
    )


def decimal(rng, wanted=False):
    """A point becomes a comma, a comma a point."""

    def draw(rng):
        whole = rng.choice([rng.randint(0, 9), rng.randint(0, 99), rng.randint(100, 999)])
        c = f"{whole}.{rng.choice([rng.randint(0, 9), f'{rng.randint(0, 99):02d}'])}"
        return (c,), c

    c, n = until(rng, wanted, draw), new_name(rng)
    d, n, m = c.replace(".", ","), n.english(), n.german("nom")
    big = f"{rng.randint(1, 999)},{rng.randint(0, 999):03d}"
    gross, percent, room = big.replace(",", "."), rng.randint(1, 100), rng.randint(1, 999)
    phone = f"{rng.randint(100, 999)}-{rng.randint(1000, 9999)}"
    return rng.choice(
        [
            (f"It costs {c} euros.", f"Es kostet {d} Euro."),
            (f"The ticket costs {c} dollars.", f"Die Fahrkarte kostet {d} Dollar."),
            (f"{n} paid {c} euros for the book.", f"{m} hat {d} Euro für das Buch bezahlt."),
            (f"The temperature is {c} degrees.", f"Die Temperatur beträgt {d} Grad."),
            (f"It is {c} kilometers to the station.", f"Es sind {d} Kilometer bis zum Bahnhof."),
            (f"The baby weighs {c} kilos.", f"Das Baby wiegt {d} Kilo."),
            (f"The table is {c} meters long.", f"Der Tisch ist {d} Meter lang."),
            (f"{n} ran {c} kilometers.", f"{m} ist {d} Kilometer gelaufen."),
            (f"We need {c} liters of milk.", f"Wir brauchen {d} Liter Milch."),
            (f"A kilo of apples costs {c} euros.", f"Ein Kilo Äpfel kostet {d} Euro."),
            (f"{c} percent of the students passed.", f"{d} Prozent der Schüler haben bestanden."),
            (f"Prices rose by {c} percent.", f"Die Preise sind um {d} Prozent gestiegen."),
            (
                f"About {percent} percent of the people came.",
                f"Etwa {percent} Prozent der Leute kamen.",
            ),
            (f"The village has {big} inhabitants.", f"Das Dorf hat {gross} Einwohner."),
            (f"The car costs {big} euros.", f"Das Auto kostet {gross} Euro."),
            (f"Her room number is {room}.", f"Ihre Zimmernummer ist {room}."),
            (f"My phone number is {phone}.", f"Meine Telefonnummer ist {phone}."),
            (f"Open the book on page {room}.", f"Öffne das Buch auf Seite {room}."),
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


def of_grammar(make):
    """A kind whose combinations are whole sentences."""

    def kind(rng, wanted=False):
        while True:
            english, german = make(rng, new_name)
            if held_out(english) == wanted:
                return english, german

    return kind


def phrase(rng, wanted=False):
    while True:
        english, german = phrases.pair(rng)
        if held_out(english) == wanted:
            return english, german


def need(rng, wanted=False):
    """Attention, love and patience, and who needs it."""
    while True:
        english, german = phrases.pair(rng, phrases.NEEDS)
        if held_out(english) == wanted:
            return english, german


relative_of_grammar, sentence = of_grammar(grammar.relative), of_grammar(grammar.pair)
# how often: what is copied, what "it" names, relative clauses, phrases, sentences
KINDS = [
    (tired_or_wide, 8),
    (it, 5),
    (it_again, 11),
    (number, 3),
    (name, 14),
    (clock, 5),
    (date, 5),
    (decimal, 5),
    (relative, 5),
    (relative_of_grammar, 12),
    (phrase, 22),
    (need, 3),
    (sentence, 24),
]
COPIES = {number, name, clock, date, decimal}


def asked(english):
    """Whether a question or an everyday sentence of ours is in it, or a name that is asked."""
    return key_of(english) in ASKED or not ASKED_NAMES.isdisjoint(re.findall(r"\w+", english))


def pair(rng):
    """A pair of a kind drawn at random."""
    return pair_and_kind(rng)[0]


def pair_and_kind(rng):
    kind = rng.choices([k for k, _ in KINDS], [w for _, w in KINDS])[0]
    made = kind(rng)
    made = made[0], made[1].replace(" .", ".").replace(" ?", "?")
    return pair_and_kind(rng) if asked(made[0]) else (made, kind)


if __name__ == "__main__":
    random_ = random.Random(1)
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        print("\t".join(pair(random_)))
