"""A grammar of everyday English and German sentences: every tense and order in pairs of our own
(CC0), as whole sentences, questions, clauses and relative clauses. templates.py draws from it.

    python models/translator/grammar.py 20        prints twenty of its pairs
"""

import random
import re
import sys
from pathlib import Path

# English singular, plural, gender (w: weak), German singular, plural, kinds:
# p person, a animal, t thing, f food, d drink, w worn, r read, v vehicle, o opened, k place
NOUNS = """
    man:men:m:Mann:Männer:p woman:women:f:Frau:Frauen:p child:children:n:Kind:Kinder:p
    boy:boys:mw:Junge:Jungen:p girl:girls:n:Mädchen:Mädchen:p teacher:teachers:m:Lehrer:Lehrer:p
    doctor:doctors:m:Arzt:Ärzte:p friend:friends:m:Freund:Freunde:p
    brother:brothers:m:Bruder:Brüder:p sister:sisters:f:Schwester:Schwestern:p
    father:fathers:m:Vater:Väter:p mother:mothers:f:Mutter:Mütter:p uncle:uncles:m:Onkel:Onkel:p
    aunt:aunts:f:Tante:Tanten:p neighbor:neighbors:mw:Nachbar:Nachbarn:p
    student:students:mw:Student:Studenten:p colleague:colleagues:mw:Kollege:Kollegen:p
    boss:bosses:m:Chef:Chefs:p daughter:daughters:f:Tochter:Töchter:p son:sons:m:Sohn:Söhne:p
    cousin:cousins:m:Cousin:Cousins:p grandfather:grandfathers:m:Großvater:Großväter:p
    grandmother:grandmothers:f:Großmutter:Großmütter:p guest:guests:m:Gast:Gäste:p
    nurse:nurses:f:Krankenschwester:Krankenschwestern:p waiter:waiters:m:Kellner:Kellner:p
    driver:drivers:m:Fahrer:Fahrer:p police_officer:police_officers:mw:Polizist:Polizisten:p
    tourist:tourists:mw:Tourist:Touristen:p baby:babies:n:Baby:Babys:p
    customer:customers:mw:Kunde:Kunden:p painter:painters:m:Maler:Maler:p
    farmer:farmers:mw:Bauer:Bauern:p king:kings:m:König:Könige:p
    queen:queens:f:Königin:Königinnen:p dog:dogs:m:Hund:Hunde:a cat:cats:f:Katze:Katzen:a
    bird:birds:m:Vogel:Vögel:a horse:horses:n:Pferd:Pferde:a cow:cows:f:Kuh:Kühe:a
    sheep:sheep:n:Schaf:Schafe:a mouse:mice:f:Maus:Mäuse:a rabbit:rabbits:n:Kaninchen:Kaninchen:a
    duck:ducks:f:Ente:Enten:a fox:foxes:m:Fuchs:Füchse:a pig:pigs:n:Schwein:Schweine:a
    bear:bears:mw:Bär:Bären:a elephant:elephants:mw:Elefant:Elefanten:a
    monkey:monkeys:mw:Affe:Affen:a spider:spiders:f:Spinne:Spinnen:a book:books:n:Buch:Bücher:tr
    key:keys:m:Schlüssel:Schlüssel:t lamp:lamps:f:Lampe:Lampen:t table:tables:m:Tisch:Tische:t
    chair:chairs:m:Stuhl:Stühle:t bag:bags:f:Tasche:Taschen:to picture:pictures:n:Bild:Bilder:t
    letter:letters:m:Brief:Briefe:tro watch:watches:f:Uhr:Uhren:t bed:beds:n:Bett:Betten:t
    cup:cups:f:Tasse:Tassen:t bottle:bottles:f:Flasche:Flaschen:to box:boxes:f:Kiste:Kisten:to
    knife:knives:n:Messer:Messer:t plate:plates:m:Teller:Teller:t glass:glasses:n:Glas:Gläser:t
    spoon:spoons:m:Löffel:Löffel:t umbrella:umbrellas:m:Regenschirm:Regenschirme:t
    suitcase:suitcases:m:Koffer:Koffer:to phone:phones:n:Telefon:Telefone:t
    computer:computers:m:Computer:Computer:t newspaper:newspapers:f:Zeitung:Zeitungen:tr
    magazine:magazines:f:Zeitschrift:Zeitschriften:tr story:stories:f:Geschichte:Geschichten:r
    message:messages:f:Nachricht:Nachrichten:r present:presents:n:Geschenk:Geschenke:to
    ticket:tickets:f:Fahrkarte:Fahrkarten:t ball:balls:m:Ball:Bälle:t
    camera:cameras:f:Kamera:Kameras:t flower:flowers:f:Blume:Blumen:t
    kitchen_table:kitchen_tables:m:Küchentisch:Küchentische:t
    bedroom_door:bedroom_doors:f:Schlafzimmertür:Schlafzimmertüren:o
    shopping_bag:shopping_bags:f:Einkaufstasche:Einkaufstaschen:to
    phone_number:phone_numbers:f:Telefonnummer:Telefonnummern:
    birthday_present:birthday_presents:n:Geburtstagsgeschenk:Geburtstagsgeschenke:to
    car_key:car_keys:m:Autoschlüssel:Autoschlüssel:t
    coffee_cup:coffee_cups:f:Kaffeetasse:Kaffeetassen:t
    wine_glass:wine_glasses:n:Weinglas:Weingläser:t
    bookshelf:bookshelves:n:Bücherregal:Bücherregale:t alarm_clock:alarm_clocks:m:Wecker:Wecker:t
    school_bag:school_bags:f:Schultasche:Schultaschen:to
    garden_chair:garden_chairs:m:Gartenstuhl:Gartenstühle:t
    train_ticket:train_tickets:f:Zugfahrkarte:Zugfahrkarten:t
    desk:desks:m:Schreibtisch:Schreibtische:t
    washing_machine:washing_machines:f:Waschmaschine:Waschmaschinen:t
    toothbrush:toothbrushes:f:Zahnbürste:Zahnbürsten:t door:doors:f:Tür:Türen:o
    window:windows:n:Fenster:Fenster:o apple:apples:m:Apfel:Äpfel:f cake:cakes:m:Kuchen:Kuchen:f
    egg:eggs:n:Ei:Eier:f potato:potatoes:f:Kartoffel:Kartoffeln:f
    sandwich:sandwiches:n:Brötchen:Brötchen:f fish:fish:m:Fisch:Fische:f
    soup:soups:f:Suppe:Suppen:f pizza:pizzas:f:Pizza:Pizzas:f orange:oranges:f:Orange:Orangen:f
    banana:bananas:f:Banane:Bananen:f salad:salads:m:Salat:Salate:f
    tomato:tomatoes:f:Tomate:Tomaten:f coffee:coffees:m:Kaffee:Kaffees:d tea:teas:m:Tee:Tees:d
    beer:beers:n:Bier:Biere:d juice:juices:m:Saft:Säfte:d hat:hats:m:Hut:Hüte:wt
    shirt:shirts:n:Hemd:Hemden:wt coat:coats:m:Mantel:Mäntel:wt dress:dresses:n:Kleid:Kleider:wt
    jacket:jackets:f:Jacke:Jacken:wt shoe:shoes:m:Schuh:Schuhe:wt
    sweater:sweaters:m:Pullover:Pullover:wt skirt:skirts:m:Rock:Röcke:wt
    winter_coat:winter_coats:m:Wintermantel:Wintermäntel:wt ring:rings:m:Ring:Ringe:wt
    car:cars:n:Auto:Autos:v bicycle:bicycles:n:Fahrrad:Fahrräder:v
    bike:bikes:n:Fahrrad:Fahrräder:v bus:buses:m:Bus:Busse:v train:trains:m:Zug:Züge:v
    boat:boats:n:Boot:Boote:v truck:trucks:m:Lastwagen:Lastwagen:v
    plane:planes:n:Flugzeug:Flugzeuge:v house:houses:n:Haus:Häuser:k room:rooms:n:Zimmer:Zimmer:k
    garden:gardens:m:Garten:Gärten:k kitchen:kitchens:f:Küche:Küchen:k
    school:schools:f:Schule:Schulen:k city:cities:f:Stadt:Städte:k
    village:villages:n:Dorf:Dörfer:k hotel:hotels:n:Hotel:Hotels:k
    train_station:train_stations:m:Bahnhof:Bahnhöfe:k bridge:bridges:f:Brücke:Brücken:k
    street:streets:f:Straße:Straßen:k river:rivers:m:Fluss:Flüsse:k
    museum:museums:n:Museum:Museen:k restaurant:restaurants:n:Restaurant:Restaurants:k
    apartment:apartments:f:Wohnung:Wohnungen:k park:parks:m:Park:Parks:k
    hospital:hospitals:n:Krankenhaus:Krankenhäuser:k library:libraries:f:Bibliothek:Bibliotheken:k
    supermarket:supermarkets:m:Supermarkt:Supermärkte:k bank:banks:f:Bank:Banken:k
    church:churches:f:Kirche:Kirchen:k airport:airports:m:Flughafen:Flughäfen:k
    office:offices:n:Büro:Büros:k beach:beaches:m:Strand:Strände:k forest:forests:m:Wald:Wälder:k
    hotel_room:hotel_rooms:n:Hotelzimmer:Hotelzimmer:k
    bathroom:bathrooms:n:Badezimmer:Badezimmer:k
    living_room:living_rooms:n:Wohnzimmer:Wohnzimmer:k
    bus_stop:bus_stops:f:Bushaltestelle:Bushaltestellen:k
    post_office:post_offices:n:Postamt:Postämter:k
    swimming_pool:swimming_pools:n:Schwimmbad:Schwimmbäder:k lake:lakes:m:See:Seen:k
    mountain:mountains:m:Berg:Berge:k tower:towers:m:Turm:Türme:k
    bakery:bakeries:f:Bäckerei:Bäckereien:k shop:shops:m:Laden:Läden:k
    castle:castles:n:Schloss:Schlösser:k
"""
# English, comparative, German, comparative, kinds of nouns
ADJECTIVES = """
    old:older:alt:älter:ptkvwr new:newer:neu:neuer:tkvwr big:bigger:groß:größer:tkvwa
    small:smaller:klein:kleiner:tkvwa young:younger:jung:jünger:pa red:-:rot:-:twv
    blue:-:blau:-:twv green:-:grün:-:twv black:-:schwarz:-:twva white:-:weiß:-:twva
    yellow:-:gelb:-:tw brown:-:braun:-:twa beautiful:more_beautiful:schön:schöner:tkwvr
    heavy:heavier:schwer:schwerer:t expensive:more_expensive:teuer:teurer:tkvw
    cheap:cheaper:billig:billiger:tvw dirty:dirtier:schmutzig:schmutziger:tkvw
    clean:cleaner:sauber:sauberer:tkv broken:-:kaputt:-:tv empty:-:leer:-:tk
    friendly:friendlier:freundlich:freundlicher:p nice:nicer:nett:netter:p
    strong:stronger:stark:stärker:pa tired:more_tired:müde:müder:pa
    hungry:hungrier:hungrig:hungriger:pa happy:happier:glücklich:glücklicher:p
    sad:sadder:traurig:trauriger:p sick:-:krank:-:pa rich:richer:reich:reicher:p
    poor:poorer:arm:ärmer:p clever:cleverer:klug:klüger:pa tall:taller:groß:größer:p
    fast:faster:schnell:schneller:v slow:slower:langsam:langsamer:pav
    hot:hotter:heiß:heißer:fd cold:colder:kalt:kälter:fdk fresh:fresher:frisch:frischer:f
    good:better:gut:besser:fdrp sweet:sweeter:süß:süßer:f long:longer:lang:länger:r
    interesting:more_interesting:interessant:interessanter:rkp
    boring:more_boring:langweilig:langweiliger:rk short:shorter:kurz:kürzer:rw
    warm:warmer:warm:wärmer:wk quiet:quieter:ruhig:ruhiger:kp loud:louder:laut:lauter:pkv
    dangerous:more_dangerous:gefährlich:gefährlicher:kav modern:more_modern:modern:moderner:kv
    comfortable:more_comfortable:bequem:bequemer:wtv useful:more_useful:nützlich:nützlicher:tr
    strange:stranger:seltsam:seltsamer:prk famous:more_famous:berühmt:berühmter:pk
"""
TIMES = {
    "past": """yesterday=gestern;last week=letzte Woche;two days ago=vor zwei Tagen;
        this morning=heute Morgen;last night=gestern Abend;last summer=letzten Sommer;
        on Monday=am Montag;an hour ago=vor einer Stunde;last year=letztes Jahr;
        last weekend=letztes Wochenende;on Saturday=am Samstag;a week ago=vor einer Woche;
        yesterday evening=gestern Abend;last month=letzten Monat;in the morning=am Morgen;
        three years ago=vor drei Jahren;the day before yesterday=vorgestern;today=heute""",
    "present": """every day=jeden Tag;every morning=jeden Morgen;on Sundays=sonntags;today=heute;
        every evening=jeden Abend;in the evening=am Abend;every week=jede Woche;
        on weekends=am Wochenende;in the afternoon=am Nachmittag;at night=nachts;
        in summer=im Sommer;in winter=im Winter;after work=nach der Arbeit;
        after school=nach der Schule;before breakfast=vor dem Frühstück;
        every Friday=jeden Freitag""",
    "future": """tomorrow=morgen;tonight=heute Abend;this weekend=dieses Wochenende;
        next week=nächste Woche;on Friday=am Freitag;this afternoon=heute Nachmittag;
        in two hours=in zwei Stunden;soon=bald;at eight o'clock=um acht Uhr;today=heute;
        tomorrow morning=morgen früh;on the weekend=am Wochenende;next year=nächstes Jahr;
        this evening=heute Abend;after lunch=nach dem Mittagessen;next month=nächsten Monat;
        in ten minutes=in zehn Minuten;the day after tomorrow=übermorgen;
        next Tuesday=nächsten Dienstag;on Wednesday=am Mittwoch;at noon=mittags""",
    "now": "now=jetzt;right now=gerade;at the moment=im Moment;today=heute",
    "since": """for two years=seit zwei Jahren;for an hour=seit einer Stunde;
        for three days=seit drei Tagen;since Monday=seit Montag;for ten minutes=seit zehn Minuten;
        for a long time=schon lange;since this morning=seit heute Morgen;
        for a week=seit einer Woche;
        since last year=seit letztem Jahr;for half an hour=seit einer halben Stunde""",
}
OFTEN = "often=oft;always=immer;never=nie;sometimes=manchmal;usually=normalerweise;rarely=selten"
PLACES = """in the garden=im Garten;at the kitchen table=am Küchentisch;at school=in der Schule;
    at home=zu Hause;in the kitchen=in der Küche;in the park=im Park;
    at the train station=am Bahnhof;in the city=in der Stadt;at work=bei der Arbeit;
    at the supermarket=im Supermarkt;on the balcony=auf dem Balkon;at the airport=am Flughafen;
    in the living room=im Wohnzimmer;in Germany=in Deutschland;at the market=auf dem Markt;
    in the library=in der Bibliothek;in Berlin=in Berlin;in the office=im Büro;
    under the bridge=unter der Brücke;behind the house=hinter dem Haus;
    in front of the school=vor der Schule;next to the church=neben der Kirche;
    in the hotel=im Hotel;on the beach=am Strand;in bed=im Bett;in the rain=im Regen;
    at the bus stop=an der Bushaltestelle;in the restaurant=im Restaurant;here=hier;there=dort;
    in his room=in seinem Zimmer;in London=in London;in the bathroom=im Badezimmer;
    on the train=im Zug;at the river=am Fluss;in the street=auf der Straße;
    in the hospital=im Krankenhaus;in the old house=in dem alten Haus;in France=in Frankreich;
    in a small village=in einem kleinen Dorf;near the station=in der Nähe des Bahnhofs;
    next door=nebenan"""
GOALS = """to the train station=zum Bahnhof;to school=zur Schule;to the cinema=ins Kino;
    home=nach Hause;to Berlin=nach Berlin;to the park=in den Park;to the airport=zum Flughafen;
    to work=zur Arbeit;to the supermarket=zum Supermarkt;to the beach=an den Strand;
    to the market=zum Markt;to Munich=nach München;to the city=in die Stadt;to the lake=zum See;
    to the doctor=zum Arzt;to the museum=ins Museum;to the post office=zur Post;
    to the library=in die Bibliothek;to the river=zum Fluss;to the kitchen=in die Küche;
    to the restaurant=ins Restaurant;to the station=zum Bahnhof;to the hospital=ins Krankenhaus"""
FAR = """to Italy=nach Italien;to Berlin=nach Berlin;to Germany=nach Deutschland;
    to London=nach London;to Paris=nach Paris;to France=nach Frankreich;to Vienna=nach Wien;
    to Boston=nach Boston;to Spain=nach Spanien;to Australia=nach Australien;
    to Cologne=nach Köln;to Japan=nach Japan;to the sea=ans Meer;to New York=nach New York"""
WITH = """with my friend=mit meinem Freund;with her mother=mit ihrer Mutter;with us=mit uns;
    with me=mit mir;with his dog=mit seinem Hund;with the children=mit den Kindern;
    with her=mit ihr;with him=mit ihm;with my parents=mit meinen Eltern;
    with their friends=mit ihren Freunden;with our neighbors=mit unseren Nachbarn;alone=allein;
    with my whole family=mit meiner ganzen Familie;for my sister=für meine Schwester;
    without me=ohne mich;with a friend=mit einem Freund;together=zusammen"""
# English, what follows it, whether do asks for it; German ich, du, er, wir
MODALS = """
    can|können kann kannst kann;could|können könnte könntest könnte;
    should|sollen sollte solltest sollte;
    must|müssen muss musst muss;may|dürfen darf darfst darf;
    would like to|mögen möchte möchtest möchte;have to*|müssen muss musst muss;
    want to*|wollen will willst will;need to*|müssen muss musst muss;
    had to*|müssen musste musstest musste;wanted to*|wollen wollte wolltest wollte
"""
DEFINITE = {
    "nom": dict(m="der", f="die", n="das", p="die"),
    "acc": dict(m="den", f="die", n="das", p="die"),
    "dat": dict(m="dem", f="der", n="dem", p="den"),
}
ENDING_OF_EIN = {
    "nom": dict(m="", f="e", n="", p="e"),
    "acc": dict(m="en", f="e", n="", p="e"),
    "dat": dict(m="em", f="er", n="em", p="en"),
}
RELATIVE = {
    **DEFINITE,
    "dat": dict(m="dem", f="der", n="dem", p="denen"),
    "gen": dict(m="dessen", f="deren", n="dessen", p="deren"),
}
OF_MINE = dict(a="ein", my="mein", your="dein", his="sein", her="ihr", our="unser", their="ihr")
OF_MINE["no"] = "kein"
# English subject, object; German nominative, accusative, person
PRONOUNS = [
    ("I", "me", "ich", "mich", 0),
    ("you", "you", "du", "dich", 1),
    ("he", "him", "er", "ihn", 2),
    ("she", "her", "sie", "sie", 2),
    ("we", "us", "wir", "uns", 3),
    ("they", "them", "sie", "sie", 3),
]
FAMILIAR = "Tom Anna Peter Paul Lucy Emma Ben David Sarah Mary John Lily Max Julia".split()
GERMAN_NAMES = {"Mary": "Maria"}
NUMBERS = [
    ("two", "zwei"),
    ("three", "drei"),
    ("four", "vier"),
    ("five", "fünf"),
    ("many", "viele"),
]


def spaced(text):
    return text.replace("_", " ")


def phrases(text):
    return [tuple(p.strip().split("=")) for p in " ".join(text.split()).split(";")]


NOUNS = [tuple(map(spaced, word.split(":"))) for word in NOUNS.split()]
ADJECTIVES = [tuple(map(spaced, word.split(":"))) for word in ADJECTIVES.split()]
# verbs.tsv: English base, s, past, participle, ing; German infinitive, ich, du, er, past,
# participle, haben or sein, prefix; what is the object (kinds), > for a direction, or nothing
VERBS = [
    (
        [*map(spaced, english.split())],
        german.split()[:6],
        "haben" if german.split()[6] == "h" else "sein",
        german.split()[7].strip("-"),
        objects,
    )
    for english, german, objects in (
        line.split("\t")
        for line in Path(__file__).with_name("verbs.tsv").read_text(encoding="utf-8").splitlines()
    )
]
TIMES = {tense: phrases(text) for tense, text in TIMES.items()}
OFTEN, PLACES, GOALS, FAR, WITH = map(phrases, (OFTEN, PLACES, GOALS, FAR, WITH))
MODALS = [
    (english.strip("* "), english.endswith("*"), german.split())
    for english, german in (m.strip().split("|") for m in MODALS.replace("\n", " ").split(";"))
]
HAVE = dict(
    haben=("habe", "hast", "hat", "haben"),
    sein=("bin", "bist", "ist", "sind"),
    werden=("werde", "wirst", "wird", "werden"),
    würde=("würde", "würdest", "würde", "würden"),
    war=("war", "warst", "war", "waren"),
)


def capital(text):
    return text[0].upper() + text[1:]


def of_kind(kinds):
    return [n for n in NOUNS if set(n[5]) & set(kinds)]


def end_of_adjective(kind, case, gender):
    """After der-words, after ein-words, after neither."""
    if gender == "p":
        return "en" if kind != "none" or case == "dat" else "e"
    if case == "dat" or (case == "acc" and gender == "m"):
        return "en"
    return "e" if kind == "def" else dict(m="er", f="e", n="es")[gender]


def with_end(adjective, end):
    if adjective.endswith("e"):
        adjective = adjective[:-1]
    return {"teuer": "teur", "sauber": "sauber"}.get(adjective, adjective) + end


def noun_in(noun, case, plural):
    _, _, gender, one, many, _ = noun
    if plural:
        return many + ("n" if case == "dat" and many[-1] not in "ns" else "")
    if "w" in gender and case != "nom":
        return one + ("n" if one[-1] in "er" and one != "Bär" else "en")
    return one


class Phrase:
    """A noun phrase: its English, and its German in each case."""

    def __init__(self, rng, noun, determiner=None, adjective=None, plural=False, person=None):
        self.noun, self.plural = noun, plural and noun[0] != noun[1]
        plural = self.plural
        self.determiner = determiner or rng.choice(
            "the the the the a a a my my your his her our their this".split()
        )
        self.number = None
        if plural and self.determiner == "a":
            self.number = rng.choice(NUMBERS)
        self.adjective = adjective
        if adjective is None and rng.random() < 0.3:
            some = [a for a in ADJECTIVES if set(a[4]) & set(noun[5])]
            self.adjective = rng.choice(some) if some else None
        self.gender = "p" if plural else noun[2][0]

    @property
    def definite(self):
        return self.determiner not in ("a", "no")

    def english(self):
        words = [self.adjective[0]] if self.adjective else []
        words.append(self.noun[1 if self.plural else 0])
        first = self.number[0] if self.number else self.determiner
        if first == "a" and words[0][0] in "aeiou":
            first = "an"
        if first == "this" and self.plural:
            first = "these"
        return " ".join([first, *words])

    def german(self, case):
        kind = "def" if self.determiner in ("the", "this") else "ein"
        if self.number:
            first, kind = self.number[1], "none"
        elif self.determiner == "the":
            first = DEFINITE[case][self.gender]
        elif self.determiner == "this":
            the = DEFINITE[case][self.gender]
            first = "dies" + dict(der="er", die="e", das="es", den="en", dem="em")[the]
        else:
            first = OF_MINE[self.determiner] + ENDING_OF_EIN[case][self.gender]
        words = [first]
        if self.adjective:
            words.append(with_end(self.adjective[2], end_of_adjective(kind, case, self.gender)))
        return " ".join([*words, noun_in(self.noun, case, self.plural)])


class Name:
    """A name, the same in both languages but for Mary."""

    plural, definite, gender = False, True, "m"

    def __init__(self, english, german=None):
        self.name, self.german_name = english, german or GERMAN_NAMES.get(english, english)

    def english(self):
        return self.name

    def german(self, case):
        return self.german_name


class Pronoun:
    definite = True

    def __init__(self, row):
        self.row = row
        self.plural = row[4] == 3

    def english(self):
        return self.row[0]

    def german(self, case):
        return self.row[2 if case == "nom" else 3]


def a_name(rng):
    return Name(rng.choice(FAMILIAR))


def subject(rng, kinds="p", name=a_name, pronouns=True):
    """A pronoun, a name or a noun phrase."""
    kind = rng.random()
    if pronouns and kind < 0.45:
        return Pronoun(rng.choice(PRONOUNS))
    if kind < 0.62 and "p" in kinds:
        return name(rng)
    noun = rng.choice(of_kind(kinds))
    return Phrase(rng, noun, plural=rng.random() < 0.2)


def person_of(phrase):
    """0 ich, 1 du, 2 er, 3 wir."""
    if isinstance(phrase, Pronoun):
        return phrase.row[4]
    return 3 if phrase.plural else 2


def form(verb, person):
    """The present of a German verb's row."""
    return verb[0] if person == 3 else verb[1 + person]


def base_of(infinitive, prefix):
    return infinitive[len(prefix) :]


def past_of(past, person):
    """First and third person singular are alike; the plural adds an ending."""
    if person == 1:
        return past + ("st" if past[-1] not in "sßtd" else "est")
    if person == 3:
        return past + ("n" if past.endswith("e") else "en")
    return past


class Clause:
    """One verb with all that belongs to it; order and tense are chosen when it is written."""

    def __init__(
        self,
        rng,
        who=None,
        verb=None,
        what=None,
        tense=None,
        no=None,
        short=False,
        name=a_name,
        when=True,
    ):
        self.rng = rng
        self.who = who or subject(rng, name=name)
        self.verb = verb or rng.choice(VERBS)
        objects = self.verb[4]
        self.what, self.place, self.company, self.time, self.often = what, None, None, None, None
        if objects and ">" not in objects and what is None:
            if "p" in objects and rng.random() < 0.35:
                rows = [p for p in PRONOUNS if p[4] != person_of(self.who) or p[4] == 2]
                if person_of(self.who) in (0, 3):
                    rows = [p for p in rows if p[0] not in ("I", "we")]
                self.what = Pronoun(rng.choice(rows))
                if self.what.row[0] in ("he", "she", "they") and isinstance(self.who, Pronoun):
                    if self.what.row[0] == self.who.row[0]:
                        self.what = name(rng)
            elif objects.strip("kp") == "" and "p" in objects and rng.random() < 0.3:
                self.what = name(rng)
            else:
                self.what = Phrase(rng, rng.choice(of_kind(objects)), plural=rng.random() < 0.15)
        tenses = "past past past present progressive perfect will going modal modal often".split()
        if self.verb[0][4] == "-":
            tenses = "past present present modal often will".split()
        self.tense = tense or rng.choice(tenses)
        if self.tense in ("progressive", "modal") and self.verb[0][4] == "-":
            self.tense = "present"
        self.no = rng.random() < 0.18 if no is None else no
        if self.tense == "modal":
            self.modal = rng.choice(MODALS)
            if self.no and self.modal[0] in ("must", "may", "would like to", "could"):
                self.modal = MODALS[0]
        if self.tense == "often":
            self.often, self.no = rng.choice(OFTEN), False
        self.perfect_past = person_of(self.who) in (0, 1, 3) or rng.random() < 0.7
        if ">" in objects:
            self.place = rng.choice(FAR if ">>" in objects else GOALS)
        elif self.verb[0][0] in ("live", "stay"):
            self.place = rng.choice(PLACES)
        elif rng.random() < (0.15 if short else 0.3) and self.verb[0][0] != "know":
            self.place = rng.choice(PLACES)
        static = self.verb[0][0] in ("know", "like", "love", "need", "understand")
        if not static and rng.random() < (0.05 if short else 0.15):
            self.company = rng.choice(WITH)
        if when and not static and rng.random() < (0.2 if short else 0.45):
            self.time = rng.choice(TIMES[self.times()])
        if self.tense == "since":
            self.time, self.no = rng.choice(TIMES["since"]), False
        if self.tense == "perfect" or (self.tense == "often" and rng.random() < 0.8):
            self.time = None

    def times(self):
        if self.tense == "modal":
            return "past" if self.modal[0] in ("had to", "wanted to") else "future"
        return dict(
            past="past",
            was="past",
            present="present",
            progressive="now",
            perfect="past",
            will="future",
            going="future",
            often="present",
            would="future",
            since="since",
        )[self.tense]

    # English
    def english_verb(self):
        """Auxiliary or none, the rest."""
        base, third, past, done, doing = self.verb[0]
        person = person_of(self.who)
        be = ("am", "are", "is", "are")[person]
        was = "was" if person in (0, 2) else "were"
        have = "has" if person == 2 else "have"
        if self.tense in ("present", "often"):
            return None, third if person == 2 else base
        if self.tense == "past":
            return None, past
        if self.tense == "modal":
            word, asks, _ = self.modal
            if asks:
                first, rest = word.split(" ", 1)
                if person == 2:
                    first = dict(have="has", want="wants", need="needs").get(first, first)
                return None, f"{first} {rest} {base}"
            first, *rest = word.split()
            return first, " ".join([*rest, base])
        return dict(
            progressive=(be, doing),
            was=(was, doing),
            perfect=(have, done),
            will=("will", base),
            going=(be, f"going to {base}"),
            would=("would", base),
            since=(have, f"been {doing}"),
        )[self.tense]

    def plain_verb(self):
        """do, does or did, and the base, where there is no auxiliary."""
        person, base = person_of(self.who), self.verb[0][0]
        if self.tense == "modal":
            word = self.modal[0]
            did = word in ("had to", "wanted to")
            base = (
                f"{dict(had='have', wanted='want').get(word.split()[0], word.split()[0])} to {base}"
            )
        else:
            did = self.tense == "past"
        return ("did" if did else "does" if person == 2 else "do"), base

    def english_rest(self):
        words = []
        if self.what is not None:
            what = self.what.row[1] if isinstance(self.what, Pronoun) else self.what.english()
            if self.no and not self.what.definite and not self.what.plural:
                what = re.sub(r"^an? ", lambda m: m[0], what)
            words.append(what)
        for part in (
            (self.company, self.place) if ">" not in self.verb[4] else (self.place, self.company)
        ):
            if part:
                words.append(part[0])
        return words

    def with_object(self, verb):
        """pick up him is wrong: pick him up."""
        rest = self.english_rest()
        first, _, particle = verb.rpartition(" ")
        if particle in ("up", "away", "on") and self.verb[0][0] != "get up" and rest:
            if isinstance(self.what, Pronoun) or self.rng.random() < 0.3:
                return " ".join([first, rest[0], particle, *rest[1:]])
        return " ".join([verb, *rest])

    def english(self, time_first=False, question=False, gap=False):
        time = self.time[0] if self.time else None
        often = f"{self.often[0]} " if self.often else ""
        who = self.who.english() if self.who else ""
        first, rest = self.english_verb()
        not_ = "not " if self.no else ""
        if first is None and (self.no or question):
            first, rest = self.plain_verb()
        rest = self.with_object(rest)
        if question:
            text = f"{first} {who} {often}{not_}{rest}"
        elif first is None:
            text = f"{who} {often}{rest}"
        else:
            text = f"{who} {first} {often}{not_}{rest}"
        if time:
            text = f"{time} {text}" if time_first else f"{text} {time}"
        return text

    # German
    def german_verb(self):
        """The finite verb, what stands at the end, and the finite verb of a clause's end."""
        row, auxiliary, prefix = self.verb[1:4]
        person, infinitive, done = person_of(self.who), row[0], row[5]
        if self.tense in ("present", "progressive", "often", "since"):
            finite = base_of(infinitive, prefix) if person == 3 else row[1 + person]
            return finite, prefix, prefix + finite
        if self.tense == "was" or (self.tense == "past" and not self.perfect_past):
            finite = past_of(row[4], person)
            return finite, prefix, prefix + finite
        if self.tense in ("past", "perfect"):
            finite = HAVE[auxiliary][person]
            return finite, done, f"{done} {finite}"
        if self.tense == "modal":
            row = self.modal[2]
            finite = (
                row[1 + person]
                if person < 3
                else dict(
                    könnte="könnten",
                    sollte="sollten",
                    möchte="möchten",
                    musste="mussten",
                    wollte="wollten",
                ).get(row[1], row[0])
            )
        else:
            finite = HAVE["würde" if self.tense == "would" else "werden"][person]
        return finite, infinitive, f"{infinitive} {finite}"

    def german_middle(self, time_first=False):
        words, time = [], self.time[1] if self.time and not time_first else None
        pronoun = isinstance(self.what, Pronoun)
        negated = not self.no
        if pronoun:
            words.append(self.what.german("acc"))
        if time:
            words.append(time)
        if self.often:
            words.append(self.often[1])
        if self.what is not None and not pronoun:
            what = self.what.german("acc")
            if self.no and isinstance(self.what, Phrase) and self.what.determiner == "a":
                if not self.what.number:
                    what, negated = "k" + what, True
                else:
                    words.append("nicht")
                    negated = True
            words.append(what)
        if not negated:
            words.append("nicht")
        for part in (self.company, self.place):
            if part:
                words.append(part[1])
        return words

    def german(self, order="main", time_first=False):
        """main: subject first; inverted: the verb first; last: the verb at the end."""
        finite, end, at_end = self.german_verb()
        who, middle = self.who.german("nom"), self.german_middle(time_first)
        if order == "last":
            parts = [who, *middle, at_end]
        elif order == "inverted" or time_first:
            parts = [finite, who, *middle, end]
            if isinstance(self.what, Pronoun) and not isinstance(self.who, Pronoun):
                parts = [finite, middle[0], who, *middle[1:], end]
            if time_first:
                parts.insert(0, self.time[1])
        else:
            parts = [who, finite, *middle, end]
        return " ".join(p for p in parts if p)


SHORT = [
    ("do not", "don't"),
    ("does not", "doesn't"),
    ("did not", "didn't"),
    ("can not", "can't"),
    ("will not", "won't"),
    ("is not", "isn't"),
    ("are not", "aren't"),
    ("have not", "haven't"),
    ("has not", "hasn't"),
    ("should not", "shouldn't"),
    ("would not", "wouldn't"),
    ("could not", "couldn't"),
    ("was not", "wasn't"),
    ("were not", "weren't"),
    ("I am", "I'm"),
    ("I will", "I'll"),
    ("we are", "we're"),
    ("he is", "he's"),
    ("it is", "it's"),
    ("they are", "they're"),
    ("you are", "you're"),
    ("I have been", "I've been"),
    ("I would like", "I'd like"),
]


def shortened(rng, text):
    """Half of the sentences as they are spoken."""
    text = re.sub(r"\bcan not\b", "cannot", text) if rng.random() < 0.4 else text
    if rng.random() < 0.5:
        return text
    for long, short in SHORT:
        text = re.sub(rf"\b{long}\b", short, text)
        text = re.sub(rf"\b{capital(long)}\b", capital(short), text)
    return text


def question_verb(text):
    """does he not come: doesn't he come."""
    return re.sub(
        r"\b([Dd]oes|[Dd]o|[Dd]id|[Cc]ould|[Ss]hould|[Ii]s|[Aa]re|[Hh]as|[Hh]ave|[Ww]ould) "
        r"(I|you|he|she|we|they|it) not ",
        r"\1n't \2 ",
        text,
    )


def finished(rng, english, german, mark="."):
    return shortened(rng, capital(english)) + mark, capital(german) + mark


def predicate(rng, who, tense="is"):
    """... is tired."""
    noun_kinds = who.noun[5] if isinstance(who, Phrase) else "p"
    some = [a for a in ADJECTIVES if set(a[4]) & set(noun_kinds)] or ADJECTIVES[:6]
    adjective = rng.choice(some)
    person = person_of(who)
    very = rng.choice([("", "")] * 5 + [("very ", "sehr "), ("too ", "zu "), ("not ", "nicht ")])
    be = dict(is_=("am", "are", "is", "are"), was=("was", "were", "was", "were"))
    english = be["is_" if tense == "is" else "was"][person]
    german = HAVE["sein" if tense == "is" else "war"][person]
    if adjective[0] in ("red", "blue", "green", "black", "white", "yellow", "brown", "broken"):
        very = ("", "")
    return f"{english} {very[0]}{adjective[0]}", (german, f"{very[1]}{adjective[2]}")


# Kinds of pairs
def plain(rng, name=a_name):
    c = Clause(rng, name=name)
    first = bool(c.time) and rng.random() < 0.3 and c.tense != "since"
    return finished(rng, c.english(first), c.german(time_first=first))


def ongoing(rng, name=a_name):
    some = [
        v
        for v in VERBS
        if v[0][4] != "-"
        and ">" not in v[4]
        and v[0][0]
        not in (
            "break",
            "forget",
            "lose",
            "find",
            "meet",
            "get up",
            "buy",
            "take",
            "put on",
            "throw away",
            "see",
            "hear",
            "order",
            "pay for",
            "bring",
            "close",
            "open",
        )
    ]
    c = Clause(rng, verb=rng.choice(some), tense="since", name=name, no=False)
    return finished(rng, c.english(), c.german())


def asked(rng, name=a_name):
    """Yes or no, and where, when, why, how long, what, who."""
    kind = rng.random()
    tense = rng.choice("past past present modal will perfect progressive".split())
    if kind < 0.5:
        c = Clause(rng, tense=tense, short=True, name=name)
        if c.tense == "modal" and c.modal[0] == "would like to":
            c.modal = MODALS[0]
        return finished(rng, question_verb(c.english(question=True)), c.german("inverted"), "?")
    word = rng.choice(
        [("why", "warum"), ("when", "wann"), ("where", "wo"), ("how often", "wie oft")]
    )
    c = Clause(rng, tense=tense, short=True, name=name, no=False, when=False)
    if word[0] in ("where",):
        c = Clause(
            rng,
            verb=rng.choice([v for v in VERBS if ">" not in v[4]]),
            tense=tense,
            short=True,
            no=False,
            when=False,
            name=name,
        )
        c.place = None
    if word[0] == "how often":
        c.tense, c.often = "present", None
    return finished(
        rng, f"{word[0]} {c.english(question=True)}", f"{word[1]} {c.german('inverted')}", "?"
    )


def what_asked(rng, name=a_name):
    some = [v for v in VERBS if v[4] and ">" not in v[4] and " " not in v[0][0]]
    who = subject(rng, name=name)
    c = Clause(
        rng,
        who=who,
        verb=rng.choice(some),
        tense=rng.choice("past present modal will".split()),
        short=True,
        no=False,
        when=rng.random() < 0.4,
        what=Name("@"),
    )
    word = ("who", "wen") if set(c.verb[4]) == {"p"} else ("what", "was")
    c.company = c.place = None
    english = c.english(question=True).replace(" @", "")
    german = c.german("inverted").replace(" @", "")
    return finished(rng, f"{word[0]} {english}", f"{word[1]} {german}", "?")


JOINTS = [
    ("because", "weil"),
    ("because", "weil"),
    ("because", "weil"),
    ("when", "wenn"),
    ("if", "wenn"),
    ("although", "obwohl"),
    ("before", "bevor"),
    ("after", "nachdem"),
    ("while", "während"),
    ("until", "bis"),
    ("as soon as", "sobald"),
]
IMPERSONAL = [
    ("it is raining", "es regnet"),
    ("it is cold", "es kalt ist"),
    ("it is late", "es spät ist"),
    ("it is too hot", "es zu heiß ist"),
    ("it is snowing", "es schneit"),
    ("it is dark", "es dunkel ist"),
    ("it is Sunday", "es Sonntag ist"),
    ("it is windy", "es windig ist"),
    ("it is warm", "es warm ist"),
    ("it is early", "es früh ist"),
]


def joined(rng, name=a_name):
    """A main clause and one that depends on it, either first."""
    english, german = rng.choice(JOINTS)
    tense = "past" if english in ("because", "although", "after", "before") else "present"
    if rng.random() < 0.35 and english in ("because", "although"):
        tense = "present"
    tense_of_main = tense
    if english in ("when", "if", "until", "as soon as"):
        tense_of_main = rng.choice("will modal present".split())
    a = Clause(rng, tense=tense_of_main, short=True, name=name)
    if tense_of_main == "modal" and a.times() == "past":
        a.modal = MODALS[0]
    if tense == "past" and german in ("während", "bis"):
        tense = "present"
    if english in ("because", "when", "if") and rng.random() < 0.3:
        inside, hinten = rng.choice(IMPERSONAL)
        if tense == "past":
            a.tense = "will"
            a.time = None
    elif rng.random() < 0.4 and english in ("because", "although", "when", "if"):
        who = subject(rng, rng.choice(["p", "p", "a", "tkv"]))
        b, (finite, rest) = predicate(rng, who, "was" if tense == "past" else "is")
        inside, hinten = f"{who.english()} {b}", f"{who.german('nom')} {rest} {finite}"
    else:
        b = Clause(rng, tense=tense, short=True, when=False, name=name)
        if german == "nachdem" and tense == "past":
            b.perfect_past, b.no = True, False
            finite, done, _ = b.german_verb()
            inside = b.english()
            had = dict(zip(HAVE["haben"], ("hatte", "hattest", "hatte", "hatten")))
            had.update(zip(HAVE["sein"], HAVE["war"]))
            hinten = b.german("last")
            hinten = hinten[: -len(finite)] + had[finite]
        else:
            inside, hinten = b.english(), b.german("last")
    if rng.random() < 0.35:
        return finished(
            rng, f"{english} {inside}, {a.english()}", f"{german} {hinten}, {a.german('inverted')}"
        )
    return finished(rng, f"{a.english()} {english} {inside}", f"{a.german()}, {german} {hinten}")


THINKING = [
    ("I think", "ich glaube"),
    ("I know", "ich weiß"),
    ("she says", "sie sagt"),
    ("he said", "er sagte"),
    ("I hope", "ich hoffe"),
    ("we think", "wir denken"),
    ("do you know", "weißt du"),
    ("I am sure", "ich bin sicher"),
    ("they believe", "sie glauben"),
    ("I am glad", "ich bin froh"),
    ("it is a pity", "es ist schade"),
    ("I heard", "ich habe gehört"),
]
WONDERING = [
    ("I don't know", "ich weiß nicht"),
    ("can you tell me", "kannst du mir sagen"),
    ("do you know", "weißt du"),
    ("nobody knows", "niemand weiß"),
    ("tell me", "sag mir"),
    ("could you tell me", "könntest du mir sagen"),
    ("I want to know", "ich will wissen"),
    ("she asked me", "sie fragte mich"),
    ("I have forgotten", "ich habe vergessen"),
]


def reported(rng, name=a_name):
    kind = rng.random()
    if kind < 0.6:
        english, german = rng.choice(THINKING)
        mark = "?" if english.startswith("do ") else "."
        that = rng.choice(["that ", "that ", ""])
        if rng.random() < 0.35:
            who = subject(rng, rng.choice(["p", "p", "tkv"]))
            b, (finite, rest) = predicate(rng, who)
            inside, hinten = f"{who.english()} {b}", f"{who.german('nom')} {rest} {finite}"
        else:
            c = Clause(rng, short=True, name=name)
            inside, hinten = c.english(), c.german("last")
        return finished(rng, f"{english} {that}{inside}", f"{german}, dass {hinten}", mark)
    english, german = rng.choice(WONDERING)
    mark = "?" if english.split()[0] in ("can", "do", "could") else "."
    word = rng.choice(
        [
            ("why", "warum"),
            ("when", "wann"),
            ("if", "ob"),
            ("whether", "ob"),
            ("where", "wo"),
            ("how", "wie"),
        ]
    )
    verbs = [v for v in VERBS if ">" not in v[4]] if word[0] in ("where", "how") else VERBS
    c = Clause(rng, verb=rng.choice(verbs), short=True, when=False, name=name)
    if word[0] in ("where", "how"):
        c.place = c.company = None
    return finished(
        rng, f"{english} {word[0]} {c.english()}", f"{german}, {word[1]} {c.german('last')}", mark
    )


IF_ONLY = [
    ("{I} had more time", "{ich} mehr Zeit {hätte}"),
    ("{I} had a car", "{ich} ein Auto {hätte}"),
    ("{I} were rich", "{ich} reich {wäre}"),
    ("{I} were not so tired", "{ich} nicht so müde {wäre}"),
    ("it were not so cold", "es nicht so kalt wäre"),
    ("{I} had enough money", "{ich} genug Geld {hätte}"),
    ("the weather were better", "das Wetter besser wäre"),
    ("{I} were you", "{ich} du {wäre}"),
    ("it were cheaper", "es billiger wäre"),
    ("{I} were younger", "{ich} jünger {wäre}"),
    ("{I} knew the way", "{ich} den Weg {wüsste}"),
    ("{I} could swim", "{ich} schwimmen {könnte}"),
]
HAETTE = dict(
    hätte="hätte hättest hätte hätten",
    wäre="wäre wärst wäre wären",
    wüsste="wüsste wüsstest wüsste wüssten",
    könnte="könnte könntest könnte könnten",
)


def conditional(rng, name=a_name):
    english, german = rng.choice(IF_ONLY)
    who = subject(rng, name=name)
    if "were you" in english:
        who = Pronoun(PRONOUNS[0])
    english = english.replace("{I}", who.english())
    german = german.replace("{ich}", who.german("nom"))
    for word, forms in HAETTE.items():
        german = german.replace("{" + word + "}", forms.split()[person_of(who)])
    same = isinstance(who, Pronoun)
    c = Clause(rng, who=who if same else None, tense="would", short=True, when=rng.random() < 0.2)
    if rng.random() < 0.5:
        return finished(
            rng, f"if {english}, {c.english()}", f"wenn {german}, {c.german('inverted')}"
        )
    return finished(rng, f"{c.english()} if {english}", f"{c.german()}, wenn {german}")


def described(rng, name=a_name):
    """Subjects and what they are; comparisons; there is."""
    kind = rng.random()
    who = subject(
        rng, rng.choice(["p", "a", "t", "k", "v", "f", "w", "r"]), name=name, pronouns=False
    )
    if kind < 0.4:
        tense = rng.choice(["is", "was"])
        b, (finite, rest) = predicate(rng, who, tense)
        if rng.random() < 0.25:
            be, _, more = b.partition(" ")
            return finished(
                rng, f"{be} {who.english()} {more}", f"{finite} {who.german('nom')} {rest}", "?"
            )
        return finished(rng, f"{who.english()} {b}", f"{who.german('nom')} {finite} {rest}")
    if kind < 0.6 and isinstance(who, Phrase):
        who = Phrase(rng, who.noun, adjective=False, plural=False)
        some = [a for a in ADJECTIVES if set(a[4]) & set(who.noun[5]) and a[1] != "-"]
        if some:
            adjective = rng.choice(some)
            other = Phrase(
                rng,
                who.noun if rng.random() < 0.3 else rng.choice(of_kind(who.noun[5])),
                determiner=rng.choice("my your his her the this".split()),
                adjective=False,
            )
            if other.english() != who.english():
                as_, als = (adjective[1] + " than", adjective[3] + " als")
                if rng.random() < 0.3:
                    as_, als = f"as {adjective[0]} as", f"so {adjective[2]} wie"
                return finished(
                    rng,
                    f"{who.english()} is {as_} {other.english()}",
                    f"{who.german('nom')} ist {als} {other.german('nom')}",
                )
    if kind < 0.75:
        what = Phrase(rng, rng.choice(NOUNS), determiner="a", plural=rng.random() < 0.3)
        place = rng.choice([p for p in PLACES if p[0] not in ("at home",)])
        be, ist = ("are", "sind") if what.plural else ("is", "ist")
        if rng.random() < 0.3:
            be, ist = ("were", "waren") if what.plural else ("was", "war")
        if rng.random() < 0.3 and not what.number:
            return finished(
                rng,
                f"{be} there {what.english()} {place[0]}",
                f"{ist} {place[1]} {what.german('nom')}",
                "?",
            )
        return finished(
            rng, f"there {be} {what.english()} {place[0]}", f"{place[1]} {ist} {what.german('nom')}"
        )
    place = rng.choice(PLACES)
    be = ("are", "sind") if who.plural else ("is", "ist")
    if rng.random() < 0.3:
        be = ("were", "waren") if who.plural else ("was", "war")
    return finished(
        rng, f"{who.english()} {be[0]} {place[0]}", f"{who.german('nom')} {be[1]} {place[1]}"
    )


def two(rng, name=a_name):
    """and, but, or, so: both keep their order."""
    a, b = Clause(rng, short=True, name=name), Clause(rng, short=True, name=name)
    if rng.random() < 0.5:
        b.who = a.who
        if b.what is a.who or (isinstance(b.what, Pronoun) and isinstance(b.who, Pronoun)):
            b.what = name(rng) if "p" in b.verb[4] else b.what
    and_, und = rng.choice([("and", " und"), ("but", ", aber"), ("and", " und")])
    if rng.random() < 0.25:
        who = subject(rng, rng.choice(["p", "tkv"]))
        p, (finite, rest) = predicate(rng, who, "was" if b.times() == "past" else "is")
        return finished(
            rng,
            f"{a.english()}, {and_} {who.english()} {p}",
            f"{a.german()}{und} {who.german('nom')} {finite} {rest}",
        )
    comma = rng.choice([",", ""])
    return finished(
        rng, f"{a.english()}{comma} {and_} {b.english()}", f"{a.german()}{und} {b.german()}"
    )


def ordered(rng, name=a_name):
    """Imperatives, and let us."""
    c = Clause(rng, who=Pronoun(PRONOUNS[1]), tense="present", no=False, short=True, name=name)
    infinitive, _, du, _, _, _ = c.verb[1]
    if c.verb[0][0] in (
        "need",
        "like",
        "love",
        "know",
        "understand",
        "hear",
        "find",
        "lose",
        "live",
    ):
        return ordered(rng, name)
    if c.time and c.time[0] == "now":
        c.time = None
    please = rng.random() < 0.4
    middle = c.german_middle()
    rest = c.with_object(c.verb[0][0]) + (f" {c.time[0]}" if c.time else "")
    if rng.random() < 0.35:
        c.who = Pronoun(PRONOUNS[4])
        verb = base_of(infinitive, c.verb[3])
        german = " ".join(p for p in [verb, "wir", *middle, c.verb[3]] if p)
        return finished(rng, f"let's {rest}", german, rng.choice("!."))
    stem = IMPERATIVES.get(c.verb[1][0], base_of(infinitive, c.verb[3])[:-2])
    no = rng.random() < 0.25 and (c.what is None or c.what.definite)
    if no:
        c.no = True
        middle = c.german_middle()
    bitte = ["bitte"] if please else []
    before = [middle.pop(0)] if isinstance(c.what, Pronoun) and bitte else []
    german = " ".join(p for p in [stem, *before, *bitte, *middle, c.verb[3]] if p)
    middle = before + middle
    if please and rng.random() < 0.4:
        german = " ".join(p for p in ["bitte", stem, *middle, c.verb[3]] if p)
    dont = "don't " if no else ""
    english = f"please {dont}{rest}" if please else f"{dont}{rest}"
    return finished(rng, english, german, rng.choice("!.") if not please else ".")


IMPERATIVES = dict(
    sehen="sieh",
    finden="finde",
    lesen="lies",
    essen="iss",
    nehmen="nimm",
    öffnen="öffne",
    einladen="lade",
    reparieren="repariere",
    zerbrechen="zerbrich",
    vergessen="vergiss",
    zeichnen="zeichne",
    beobachten="beobachte",
    füttern="füttere",
    wegwerfen="wirf",
    mieten="miete",
    arbeiten="arbeite",
    warten="warte",
    treffen="triff",
    fernsehen="sieh",
    verkaufen="verkauf",
    ausleihen="leih",
)

PREPOSITIONAL = [  # English after the subject, German preposition, case, participle, kinds
    ("talked to", "mit", "dat", "gesprochen hat", "p"),
    ("waited for", "auf", "acc", "gewartet hat", "pv"),
    ("worked with", "mit", "dat", "gearbeitet hat", "p"),
    ("live in", "in", "dat", "wohn", "k"),
    ("danced with", "mit", "dat", "getanzt hat", "p"),
    ("thought about", "an", "acc", "gedacht hat", "pt"),
    ("played with", "mit", "dat", "gespielt hat", "pa"),
    ("spoke about", "über", "acc", "gesprochen hat", "prk"),
    ("is afraid of", "vor", "dat", "Angst hat", "pa"),
    ("came with", "mit", "dat", "gekommen ist", "pv"),
]
BE_AT = [
    ("on the table", "auf dem Tisch"),
    ("in the kitchen", "in der Küche"),
    ("next to the window", "neben dem Fenster"),
    ("under the bed", "unter dem Bett"),
    ("in the garden", "im Garten"),
    ("on the chair", "auf dem Stuhl"),
    ("in my bag", "in meiner Tasche"),
    ("behind the door", "hinter der Tür"),
    ("in the car", "im Auto"),
    ("in front of the house", "vor dem Haus"),
]


GIVEN = [
    ("gave", "gegeben"),
    ("sold", "verkauft"),
    ("showed", "gezeigt"),
    ("sent", "geschickt"),
    ("brought", "gebracht"),
    ("bought", "gekauft"),
]
DATIVE = ["mir", "dir", "ihm", "ihr", "uns", "ihnen"]


def giver(rng, name):
    """Who gives, and to whom: never oneself."""
    who = subject(rng, name=name)
    to = rng.choice(
        [k for k in range(6) if not isinstance(who, Pronoun) or k != PRONOUNS.index(who.row)]
    )
    if isinstance(who, Pronoun) and who.row[0] == "we" and to == 0:
        to = 1
    if isinstance(who, Pronoun) and who.row[0] == "I" and to == 4:
        to = 1
    return who, PRONOUNS[to][1], DATIVE[to]


def given(rng, name=a_name):
    """She gave me the book."""
    who, me, mir = giver(rng, name)
    verb, done = rng.choice(GIVEN)
    what = Phrase(rng, rng.choice(of_kind("tfw")))
    have = HAVE["haben"][person_of(who)]
    return finished(
        rng,
        f"{who.english()} {verb} {me} {what.english()}",
        f"{who.german('nom')} {have} {mir} {what.german('acc')} {done}",
    )


def given_clause(rng, noun, gender, which, name):
    """who sold me the car, that you gave me."""
    verb, done = rng.choice(GIVEN)
    if "p" in noun[5]:
        to = rng.randrange(6)
        what = Phrase(rng, rng.choice(of_kind("tv")))
        have = "haben" if gender == "p" else "hat"
        return (
            f"{which} {verb} {PRONOUNS[to][1]} {what.english()}",
            f"{RELATIVE['nom'][gender]} {DATIVE[to]} {what.german('acc')} {done} {have}",
        )
    who, me, mir = giver(rng, name)
    have = HAVE["haben"][person_of(who)]
    ich = who.german("nom")
    return (
        f"{rng.choice([which + ' ', ''])}{who.english()} {verb} {me}",
        f"{RELATIVE['acc'][gender]} {ich} {mir} {done} {have}",
    )


def whose_clause(rng, gender, name):
    """whose brother works here, whose book I have read."""
    if rng.random() < 0.5:
        own = Phrase(rng, rng.choice(of_kind("pa")), "the", False)
        c = Clause(rng, who=own, tense=rng.choice(["past", "present"]), short=True, name=name)
        german = c.german("last")[len(own.german("nom")) :]
        english = c.english()[len(own.english()) :]
    else:
        noun = rng.choice(of_kind("twr"))
        verbs = [v for v in VERBS if set(v[4]) & set(noun[5]) and ">" not in v[4]]
        own = Phrase(rng, noun, "the", False)
        c = Clause(rng, verb=rng.choice(verbs), what=Name("@"), tense="past", no=False, short=True)
        english = f" {c.english()}".replace(" @", "")
        german = f" {c.german('last')}".replace(" @", "")
    return (
        f"whose {own.noun[0]}{english}",
        f"{RELATIVE['gen'][gender]} {noun_in(own.noun, 'nom', False)}{german}",
    )


def relative_clause(rng, noun, plural, name):
    """English and German of a clause that depends on the noun: forms by kind of noun."""
    gender = "p" if plural else noun[2][0]
    person = Name("@") if not plural else None
    kinds, form_ = noun[5], rng.random()
    human = "p" in kinds or "a" in kinds
    which = (
        rng.choice(["who", "who", "that"])
        if "p" in kinds
        else rng.choice(["that", "that", "which"])
    )
    if set("pt") & set(kinds) and rng.random() < 0.09:
        return given_clause(rng, noun, gender, which, name)
    if "p" in kinds and rng.random() < 0.1:
        return whose_clause(rng, gender, name)
    if human and form_ < 0.4:
        verbs = (
            VERBS
            if "p" in kinds
            else [v for v in VERBS if v[0][0] in ("sleep", "run", "eat", "see", "swim")]
        )
        c = Clause(
            rng,
            who=person or Phrase(rng, noun, "the", False, True),
            verb=rng.choice(verbs),
            tense=rng.choice("past past perfect present progressive modal".split()),
            short=True,
            name=name,
        )
        if c.tense == "perfect":
            c.time = None
        who = c.who.english()
        english = c.english().replace(who, which, 1)
        nominative = RELATIVE["nom"][gender]
        german = c.german("last")
        old = c.who.german("nom")
        return english, nominative + german[len(old) :]
    if form_ < 0.5 and not plural:
        own = rng.choice(of_kind("ptvwa" if "p" in kinds else "k" if "k" in kinds else "t"))
        if "p" in kinds:
            owned = Phrase(rng, own, "the", adjective=False)
            p, (finite, rest) = predicate(rng, owned, rng.choice(["is", "was"]))
            return (f"whose {own[0]} {p}", f"{RELATIVE['gen'][gender]} {own[3]} {rest} {finite}")
    if form_ < 0.62:
        some = [p for p in PREPOSITIONAL if set(p[4]) & set(kinds)]
        if some:
            verb, preposition, case, end, _ = rng.choice(some)
            who = subject(rng, name=name)
            per = person_of(who)
            if verb == "live in":
                verb = "lives in" if per == 2 else "live in"
                end = ("wohne", "wohnst", "wohnt", "wohnen")[per]
            else:
                for old in ("hat", "ist"):
                    if end.endswith(" " + old):
                        end = end[:-3] + HAVE["haben" if old == "hat" else "sein"][per]
                if verb.startswith("is "):
                    verb = ("am", "are", "is", "are")[per] + verb[2:]
            head, tail = verb.rsplit(" ", 1)
            german = f"{preposition} {RELATIVE[case][gender]} {who.german('nom')} {end}"
            style = rng.random()
            if style < 0.3:
                relative = "whom" if "p" in kinds else "which"
                return f"{tail} {relative} {who.english()} {head}", german
            if "k" in kinds and tail == "in" and style < 0.6:
                return f"where {who.english()} {head}", german
            return f"{rng.choice([which + ' ', ''])}{who.english()} {verb}", german
    if form_ < 0.72 and "k" not in kinds:
        place = rng.choice(BE_AT)
        be, ist = ("are", "sind") if plural else ("is", "ist")
        if rng.random() < 0.3:
            be, ist = ("were", "waren") if plural else ("was", "war")
        return f"{which} {be} {place[0]}", f"{RELATIVE['nom'][gender]} {place[1]} {ist}"
    some = [v for v in VERBS if set(v[4]) & set(kinds) and ">" not in v[4]]
    if not some:
        return relative_clause(rng, noun, plural, name)
    c = Clause(
        rng,
        who=subject(rng, name=name),
        verb=rng.choice(some),
        what=Name("@"),
        tense=rng.choice("past past past perfect present modal will".split()),
        short=True,
        name=name,
    )
    if c.tense == "perfect":
        c.time = None
    c.no = c.no and rng.random() < 0.5
    english = c.english().replace(" @", "", 1)
    german = c.german("last").replace(" @", "", 1)
    which = rng.choice([which + " ", which + " ", ""])
    return f"{which}{english}", f"{RELATIVE['acc'][gender]} {german}"


def relative(rng, name=a_name):
    """Relative clauses after a subject, an object, a predicate."""
    noun = rng.choice(of_kind(rng.choice(["p", "p", "a", "t", "r", "v", "w", "k"])))
    plural = rng.random() < 0.18
    place = rng.random()
    determiner = rng.choice("the the the my the a".split())
    if determiner == "a" and (plural or place < 0.5):
        determiner = "the"
    head = Phrase(rng, noun, determiner, False if rng.random() < 0.75 else None, plural)
    if plural and determiner == "a":
        head.number = None
    english, german = relative_clause(rng, noun, plural, name)
    if place < 0.5:
        if rng.random() < 0.7 or "k" in noun[5]:
            p, (finite, rest) = predicate(rng, head, rng.choice(["is", "is", "was"]))
            return finished(
                rng,
                f"{head.english()} {english} {p}",
                f"{head.german('nom')}, {german}, {finite} {rest}",
            )
        be, ist = ("are", "sind") if plural else ("is", "ist")
        at = rng.choice(
            [
                ("here", "hier"),
                ("over there", "dort drüben"),
                ("at home", "zu Hause"),
                ("on the table", "auf dem Tisch")
                if "t" in noun[5]
                else ("in the house", "im Haus"),
            ]
        )
        return finished(
            rng,
            f"{head.english()} {english} {be} {at[0]}",
            f"{head.german('nom')}, {german}, {ist} {at[1]}",
        )
    if place < 0.68:
        be, ist = (
            ("these are", "das sind") if plural else (rng.choice(["this is", "that is"]), "das ist")
        )
        return finished(
            rng, f"{be} {head.english()} {english}", f"{ist} {head.german('nom')}, {german}"
        )
    openings = [
        ("I know", "ich kenne", "pk"),
        ("do you know", "kennst du", "pk"),
        ("I like", "ich mag", "ptwrkav"),
        ("where is", "wo ist", "twrvp"),
        ("I see", "ich sehe", "pavk"),
        ("she is looking for", "sie sucht", "tpawr"),
        ("have you seen", "hast du|gesehen", "ptawrv"),
        ("we need", "wir brauchen", "tvw"),
        ("he bought", "er hat|gekauft", "twrv"),
        ("I cannot find", "ich kann|nicht finden", "twr"),
    ]
    begin, anfang, kinds = rng.choice(
        [o for o in openings if set(o[2]) & set(noun[5])] or openings[2:3]
    )
    mark = "?" if begin.split()[0] in ("do", "where", "have") else "."
    case = "nom" if begin == "where is" else "acc"
    if begin == "where is" and plural:
        begin, anfang = "where are", "wo sind"
    anfang, _, ende = anfang.partition("|")
    ende = f" {ende}" if ende else ""
    return finished(
        rng,
        f"{begin} {head.english()} {english}",
        f"{anfang} {head.german(case)}{ende}, {german}",
        mark,
    )


KINDS = [
    (plain, 6),
    (ongoing, 1),
    (given, 2),
    (asked, 4),
    (what_asked, 1),
    (joined, 4),
    (reported, 3),
    (conditional, 2),
    (described, 3),
    (two, 3),
    (ordered, 2),
]


def pair(rng, name=a_name):
    """A pair of a kind drawn at random, without relative clauses, which are drawn apart."""
    return rng.choices([k for k, _ in KINDS], [w for _, w in KINDS])[0](rng, name)


if __name__ == "__main__":
    random_ = random.Random(1)
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        print("\t".join(random_.choice([pair, pair, relative])(random_)))
