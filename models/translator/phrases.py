"""Everyday frames with slots, English and German, of our own (CC0): what a phrase book holds.
templates.py draws from them.

    python models/translator/phrases.py 20        prints twenty pairs
"""

import random
import re
import sys
from pathlib import Path

from grammar import NOUNS, PLACES, capital, shortened

# Verbs are written by person there: {bin|bist|ist|sind}.
# {slot} or {slot.n} in phrases.tsv for one of several of a kind; English = German
SLOTS = {
    "mass": """bread=Brot;cheese=Käse;milk=Milch;butter=Butter;water=Wasser;coffee=Kaffee;tea=Tee;
        wine=Wein;beer=Bier;sugar=Zucker;rice=Reis;meat=Fleisch;fish=Fisch;fruit=Obst;soup=Suppe;
        vegetables=Gemüse;chocolate=Schokolade;money=Geld;time=Zeit;help=Hilfe;paper=Papier;
        salt=Salz;juice=Saft;ice cream=Eis;music=Musik;sleep=Schlaf;work=Arbeit;food=Essen;
        eggs=Eier;apples=Äpfel;potatoes=Kartoffeln;tomatoes=Tomaten;flowers=Blumen;honey=Honig;
        ham=Schinken;orange juice=Orangensaft;chicken=Hähnchen;flour=Mehl;bananas=Bananen""",
    "food": """bread=Brot;cheese=Käse;fish=Fisch;meat=Fleisch;rice=Reis;soup=Suppe;cake=Kuchen;
        vegetables=Gemüse;fruit=Obst;chocolate=Schokolade;apples=Äpfel;salad=Salat;pizza=Pizza;
        eggs=Eier;noodles=Nudeln;potatoes=Kartoffeln;sandwiches=Brötchen;ice cream=Eis""",
    "drink": """coffee=Kaffee;tea=Tee;water=Wasser;milk=Milch;beer=Bier;wine=Wein;
        orange juice=Orangensaft;juice=Saft;apple juice=Apfelsaft;lemonade=Limonade""",
    "amount": """a cup of coffee=eine Tasse Kaffee;a cup of tea=eine Tasse Tee;
        a glass of milk=ein Glas Milch;a glass of wine=ein Glas Wein;
        a bottle of wine=eine Flasche Wein;
        a bottle of water=eine Flasche Wasser;a piece of cake=ein Stück Kuchen;
        a kilo of apples=ein Kilo Äpfel;a slice of bread=eine Scheibe Brot;
        two cups of coffee=zwei Tassen Kaffee;a bowl of soup=eine Schüssel Suppe;
        a cup of coffee with milk=eine Tasse Kaffee mit Milch;two glasses of beer=zwei Gläser Bier;
        a bottle of beer=eine Flasche Bier;a tea with sugar=einen Tee mit Zucker;
        a coffee without sugar=einen Kaffee ohne Zucker;a coffee with milk=einen Kaffee mit Milch;
        a cup of tea with lemon=eine Tasse Tee mit Zitrone;some water=etwas Wasser;
        a table for two=einen Tisch für zwei;a room for one night=ein Zimmer für eine Nacht;
        a double room=ein Doppelzimmer;the menu=die Speisekarte;the bill=die Rechnung;
        a ticket to Berlin=eine Fahrkarte nach Berlin;two tickets=zwei Karten;
        a new shirt=ein neues Hemd;some help=etwas Hilfe;something to eat=etwas zu essen;
        something to drink=etwas zu trinken;a box of chocolates=eine Schachtel Pralinen""",
    "language": """German=Deutsch;English=Englisch;French=Französisch;Spanish=Spanisch;
        Italian=Italienisch;Japanese=Japanisch;Russian=Russisch;Chinese=Chinesisch""",
    "hobby": """tennis=Tennis;football=Fußball;soccer=Fußball;chess=Schach;the piano=Klavier;
        the guitar=Gitarre;cards=Karten;basketball=Basketball;the violin=Geige;golf=Golf""",
    "for": """two years=zwei Jahren;three weeks=drei Wochen;a year=einem Jahr;five days=fünf Tagen;
        an hour=einer Stunde;two hours=zwei Stunden;half an hour=einer halben Stunde;
        ten minutes=zehn Minuten;six months=sechs Monaten;a month=einem Monat;a week=einer Woche;
        twenty minutes=zwanzig Minuten;four years=vier Jahren;three hours=drei Stunden""",
    "span": """two hours=zwei Stunden;half an hour=eine halbe Stunde;ten minutes=zehn Minuten;
        three days=drei Tage;a week=eine Woche;an hour=eine Stunde;all day=den ganzen Tag;
        five minutes=fünf Minuten;twenty minutes=zwanzig Minuten;a long time=lange;
        a month=einen Monat;two weeks=zwei Wochen;a quarter of an hour=eine Viertelstunde""",
    "when": """this weekend=dieses Wochenende;tonight=heute Abend;tomorrow=morgen;today=heute;
        on Sunday=am Sonntag;next week=nächste Woche;this afternoon=heute Nachmittag;
        tomorrow evening=morgen Abend;on Friday evening=am Freitagabend;on Saturday=am Samstag;
        next month=nächsten Monat;after school=nach der Schule;after lunch=nach dem Mittagessen;
        this evening=heute Abend;on the weekend=am Wochenende;in July=im Juli;
        next summer=nächsten Sommer;
        on Monday morning=am Montagmorgen;in the evening=am Abend;at noon=mittags""",
    "habit": """every day=jeden Tag;every morning=jeden Morgen;on Sundays=sonntags;
        every evening=jeden Abend;in the morning=morgens;on weekends=am Wochenende;
        twice a week=zweimal in der Woche;once a month=einmal im Monat;before work=vor der Arbeit;
        every Saturday=jeden Samstag;after dinner=nach dem Abendessen;at night=nachts""",
    "was": """yesterday=gestern;last night=gestern Abend;last week=letzte Woche;
    this morning=heute Morgen;
        last year=letztes Jahr;last summer=letzten Sommer;two days ago=vor zwei Tagen;
        last weekend=letztes Wochenende;on Monday=am Montag;an hour ago=vor einer Stunde;
        yesterday evening=gestern Abend;last Friday=letzten Freitag;a month ago=vor einem Monat""",
    "spot": """train station=Bahnhof m;bus stop=Bushaltestelle f;airport=Flughafen m;bank=Bank f;
        supermarket=Supermarkt m;post office=Post f;hotel=Hotel n;hospital=Krankenhaus n;
        restaurant=Restaurant n;bakery=Bäckerei f;museum=Museum n;pharmacy=Apotheke f;
        library=Bibliothek f;church=Kirche f;beach=Strand m;police station=Polizei f;
        swimming pool=Schwimmbad n;city center=Innenstadt f;market=Markt m;park=Park m;
        gas station=Tankstelle f;school=Schule f;town hall=Rathaus n;harbor=Hafen m;lake=See m;
        bookstore=Buchhandlung f;subway station=U-Bahn-Station f;castle=Schloss n;cinema=Kino n;
        parking lot=Parkplatz m;toilet=Toilette f;zoo=Zoo m;theater=Theater n;exit=Ausgang m""",
    "trip": """to the cinema=ins Kino;to the beach=an den Strand;swimming=schwimmen;home=nach Hause;
        to the zoo=in den Zoo;to the theater=ins Theater;to the park=in den Park;shopping=einkaufen;
        to the museum=ins Museum;for a walk=spazieren;to bed=ins Bett;to the mountains=in die Berge;
        to a restaurant=in ein Restaurant;dancing=tanzen;to the concert=zum Konzert;
        to the market=auf den Markt;to the party=zur Party;to the sea=ans Meer;by train=mit dem Zug;
        by bus=mit dem Bus;by bike=mit dem Fahrrad;to the lake=an den See;
        to the city=in die Stadt""",
    "event": """movie=Film m;concert=Konzert n;party=Party f;game=Spiel n;meeting=Besprechung f;
        lesson=Unterricht m;play=Theaterstück n;exam=Prüfung f;wedding=Hochzeit f;show=Show f;
        German course=Deutschkurs m;train=Zug m;trip=Reise f;school=Schule f;holiday=Urlaub m;
        class=Unterricht m""",
    "cost": """this book=dieses Buch;the ticket=die Fahrkarte;a coffee=ein Kaffee;
    the room=das Zimmer;
        this coat=dieser Mantel;that car=dieses Auto;a kilo of apples=ein Kilo Äpfel;
        this jacket=diese Jacke;the blue dress=das blaue Kleid;a stamp=eine Briefmarke;
        this watch=diese Uhr;a bottle of water=eine Flasche Wasser;the bike=das Fahrrad""",
    "hurt": """headache=Kopfschmerzen;stomachache=Bauchschmerzen;toothache=Zahnschmerzen;cold=p;
        fever=p""",
    "good": """attention=Aufmerksamkeit;love=Liebe;time=Zeit;money=Geld;peace=Frieden;
        patience=Geduld;luck=Glück;sleep=Schlaf;help=Hilfe;music=Musik;friendship=Freundschaft;
        work=Arbeit;hope=Hoffnung;water=Wasser;courage=Mut;freedom=Freiheit;rest=Ruhe;
        health=Gesundheit;happiness=Glück;knowledge=Wissen;information=Information;
        imagination=Fantasie;memory=Gedächtnis;truth=Wahrheit;trust=Vertrauen;practice=Übung;
        experience=Erfahrung;coffee=Kaffee;sunshine=Sonnenschein;fresh air=frische Luft;
        a good friend=ein guter Freund;a new idea=eine neue Idee;a little luck=ein bisschen Glück;
        a warm coat=ein warmer Mantel;this book=dieses Buch;your help=deine Hilfe;
        a computer=ein Computer;more time=mehr Zeit;good food=gutes Essen;your love=deine Liebe;
        your attention=deine Aufmerksamkeit;a little attention=ein bisschen Aufmerksamkeit;
        more attention=mehr Aufmerksamkeit;a cup of coffee=eine Tasse Kaffee""",
    "who": """I=ich 0;you=du 1;he=er 2;she=sie 2;we=wir 3;they=sie 3;my father=mein Vater 2;
        my mother=meine Mutter 2;Tom=Tom 2;Mary=Maria 2;my parents=meine Eltern 3;
        the children=die Kinder 3;my brother=mein Bruder 2;our teacher=unser Lehrer 2;
        her sister=ihre Schwester 2;the boy=der Junge 2;the woman=die Frau 2;my wife=meine Frau 2;
        my husband=mein Mann 2;his friends=seine Freunde 3;the old man=der alte Mann 2;
        my friends=meine Freunde 3;our neighbor=unser Nachbar 2;Tom and Mary=Tom und Maria 3;
        the students=die Schüler 3;the girl=das Mädchen 2""",
    "job": """doctor=Arzt;teacher=Lehrer;cook=Koch;painter=Maler;pilot=Pilot;farmer=Bauer;
        lawyer=Anwalt;engineer=Ingenieur;writer=Schriftsteller;singer=Sänger;baker=Bäcker;
        driver=Fahrer;student=Student;journalist=Journalist;mechanic=Mechaniker""",
    "weather": """cold=kalt;warm=warm;hot=heiß;windy=windig;dark=dunkel;cloudy=bewölkt;
        sunny=sonnig;late=spät;early=früh;cool=kühl;wet=nass""",
    "month": """January=Januar;February=Februar;March=März;April=April;May=Mai;June=Juni;
        July=Juli;August=August;September=September;October=Oktober;November=November;
        December=Dezember""",
}
WITH_ = """my friend=meinem Freund=meinen Freund;her mother=ihrer Mutter=ihre Mutter;
    my parents=meinen Eltern=meine Eltern;the children=den Kindern=die Kinder;
    his brother=seinem Bruder=seinen Bruder;our teacher=unserem Lehrer=unseren Lehrer;
    the old woman=der alten Frau=die alte Frau;the neighbors=den Nachbarn=die Nachbarn;
    my sister=meiner Schwester=meine Schwester;the little boy=dem kleinen Jungen=den kleinen Jungen;
    your father=deinem Vater=deinen Vater;her grandmother=ihrer Großmutter=ihre Großmutter;
    my son=meinem Sohn=meinen Sohn;our daughter=unserer Tochter=unsere Tochter;
    a good friend=einem guten Freund=einen guten Freund;Tom=Tom=Tom;Mary=Maria=Maria"""
CITIES = """Berlin=Berlin;London=London;Paris=Paris;Munich=München;Vienna=Wien;Cologne=Köln;
    Boston=Boston;Hamburg=Hamburg;Italy=Italien;Germany=Deutschland;France=Frankreich;
    Spain=Spanien;Japan=Japan;Canada=Kanada;Rome=Rom;Frankfurt=Frankfurt;New York=New York;
    Australia=Australien;England=England;Austria=Österreich;Zurich=Zürich;Europe=Europa"""
FEARS = """dogs=Hunden;spiders=Spinnen;the dark=der Dunkelheit;snakes=Schlangen;flying=dem Fliegen;
    the exam=der Prüfung;thunder=dem Donner;him=ihm;her=ihr;the big dog=dem großen Hund;
    mice=Mäusen"""
INTERESTS = """music=Musik;history=Geschichte;art=Kunst;politics=Politik;sports=Sport;
    computers=Computer;languages=Sprachen;old cars=alte Autos;mathematics=Mathematik"""
TASKS = """my homework=meinen Hausaufgaben;the work=der Arbeit;the suitcase=dem Koffer;
    this question=dieser Frage;the dishes=dem Abwasch;the computer=dem Computer"""
DISHES = """soup=die Suppe;coffee=der Kaffee;potatoes=;cake=der Kuchen;bread=das Brot;tea=der Tee;
    fish=der Fisch;meat=das Fleisch;pizza=die Pizza;rice=der Reis;milk=die Milch"""
ITEMS = "book key letter bag watch umbrella phone newspaper camera ticket hat coat".split()
TOPS = """kitchen table=den Küchentisch=dem Küchentisch;table=den Tisch=dem Tisch;
    chair=den Stuhl=dem Stuhl;bed=das Bett=dem Bett;desk=den Schreibtisch=dem Schreibtisch;
    sofa=das Sofa=dem Sofa;floor=den Boden=dem Boden;shelf=das Regal=dem Regal"""
VEHICLES = "bus=im Bus;train=im Zug;plane=im Flugzeug;subway=in der U-Bahn"
HOUSE = """fridge=Im Kühlschrank;house=Im Haus;kitchen=In der Küche;cellar=Im Keller;
    bottle=In der Flasche"""


def split(text):
    return [tuple(p.strip().split("=")) for p in " ".join(text.split()).split(";")]


SLOTS = {slot: split(text) for slot, text in SLOTS.items()}
FRAMES = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
]
WITH_, CITIES, FEARS, INTERESTS, TASKS, DISHES, TOPS, VEHICLES, HOUSE = map(
    split, (WITH_, CITIES, FEARS, INTERESTS, TASKS, DISHES, TOPS, VEHICLES, HOUSE)
)
DISHES = [d for d in DISHES if d[1]]
BY_NAME = {n[0]: n for n in NOUNS}
BROKEN = [
    "lamp",
    "computer",
    "phone",
    "watch",
    "washing machine",
    "car",
    "bicycle",
    "camera",
    "window",
]
BROKEN += ["door", "boat", "bus", "alarm clock"]
CASES = dict(
    der=dict(m="der", f="die", n="das"),
    den=dict(m="den", f="die", n="das"),
    dem=dict(m="dem", f="der", n="dem"),
    zum=dict(m="zum", f="zur", n="zum"),
    einen=dict(m="einen", f="eine", n="ein"),
    am=dict(m="am", f="an der", n="am"),
)
OBJECT = dict(
    I=("me", "mich", "mir"),
    you=("you", "dich", "dir"),
    he=("him", "ihn", "ihm"),
    she=("her", "sie", "ihr"),
    we=("us", "uns", "uns"),
    they=("them", "sie", "ihnen"),
)
MINE = dict(
    I=("my", "mein"),
    you=("your", "dein"),
    he=("his", "sein"),
    she=("her", "ihr"),
    we=("our", "unser"),
    they=("their", "ihr"),
)
VERB = dict(
    do="do does",
    like="like likes",
    drink_="drink drinks",
    want="want wants",
    need="need needs",
    speak="speak speaks",
    have="have has",
    play="play plays",
    live="live lives",
    come="come comes",
    know="know knows",
    get_="get gets",
    try_="try tries",
    wash="wash washes",
    prefer="prefer prefers",
)
FEMININE = {w for w in "Milch Butter Hilfe Zeit Musik Schokolade Arbeit Suppe Limonade".split()}
PLURAL = {w for w in "Eier Äpfel Kartoffeln Tomaten Blumen Bananen Nudeln Brötchen".split()}
NEUTER = {
    w
    for w in "Brot Wasser Bier Fleisch Obst Gemüse Geld Papier Salz Eis Essen Mehl Hähnchen".split()
}


def none_of(word):
    if word in FEMININE or word in PLURAL or word == "Pizza":
        return "keine"
    return "kein" if word in NEUTER else "keinen"


def pair(rng, only=None):
    english, german = rng.choice(only or FRAMES)
    who = rng.choice(SLOTS["who"])
    if "{who" in english and re.search(r"\{who:|\{my|met at|WHO", english + german):
        pronouns = SLOTS["who"][:6]
        if "met at" in english:
            pronouns = [w for w in pronouns if w[0] in ("we", "they")]
        who = rng.choice(pronouns)
    if "was born" in english or "a job" in english:
        who = rng.choice([w for w in SLOTS["who"] if w[1].endswith("2")])
    german_who, person = who[1][:-2], int(who[1][-1])
    third = person == 2
    drawn = {}

    def draw(slot, rows):
        if slot not in drawn:
            taken = [v for k, v in drawn.items() if k.split(".")[0] == slot.split(".")[0]]
            drawn[slot] = rng.choice([r for r in rows if r not in taken])
        return drawn[slot]

    rows_of = dict(
        with_=WITH_,
        city=CITIES,
        fear=FEARS,
        interest=INTERESTS,
        task=TASKS,
        dish=DISHES,
        top=TOPS,
        vehicle=VEHICLES,
        house=HOUSE,
        in_place=PLACES,
    )
    for slot, kinds in (("item", None), ("present", "t"), ("sup", "tkvwra")):
        rows_of[slot] = [
            n for n in NOUNS if (n[0] in ITEMS if kinds is None else set(n[5]) & set(kinds))
        ]
    rows_of["thing"] = [BY_NAME[w] for w in BROKEN]

    def in_english(m):
        slot = m[1]
        if "|" in slot:
            return slot.split("|")[person]
        if slot == "who":
            return who[0]
        if slot == "who:me":
            return OBJECT[who[0]][0]
        if slot == "my_":
            return MINE[who[0]][0]
        if slot == "my.0":
            return "my"
        if slot == "be":
            return ("am", "are", "is", "are")[person]
        if slot == "was_":
            return "was" if person in (0, 2) else "were"
        if slot == "is_":
            return "is"
        if slot == "try":
            return "tries" if third else "try"
        if slot in VERB:
            return VERB[slot].split()[third]
        if slot == "attention":
            return draw(
                slot,
                [
                    ("help", "deine Hilfe"),
                    ("attention", "deine Aufmerksamkeit"),
                    ("letter", "deinen Brief"),
                    ("patience", "deine Geduld"),
                    ("kind attention", "eure freundliche Aufmerksamkeit"),
                    ("time", "deine Zeit"),
                    ("present", "dein Geschenk"),
                ],
            )[0]
        article = slot.startswith("a ")
        name = slot.removeprefix("a ")
        rows = rows_of.get(name.split(".")[0].lower()) or SLOTS[name.split(".")[0].lower()]
        text = draw(name.lower(), rows)[0]
        if article:
            text = ("an " if text[0] in "aeiou" else "a ") + text
        return capital(text) if name[0].isupper() else text

    def in_german(m):
        slot = m[1]
        if "|" in slot:
            return slot.split("|")[person].replace("@", "uns" if who[0] == "we" else "sich")
        if slot == "who":
            return german_who
        if slot == "WHO":
            return "" if person < 3 else german_who
        if slot.startswith("who:"):
            return OBJECT[who[0]][1 if slot == "who:mich" else 2]
        if slot in ("meine", "meinen"):
            mine = MINE[who[0]][1]
            return mine + slot[4:]
        if slot == "for_":
            return drawn["with_"][2]
        if slot == "with_":
            return drawn["with_"][1]
        word, _, name = slot.rpartition(" ")
        if slot == "top dat":
            return drawn["top"][2]
        if slot == "when bis":
            return drawn["when"][1].removeprefix("am ").removeprefix("im ")
        if slot == "Good":
            return capital(drawn["good"][1])
        if word == "etwas":
            word = drawn[name][1]
            return word if word in PLURAL else f"etwas {word}"
        if word == "kein_nom":
            return f"{none_of(drawn[name][1]).replace('keinen', 'kein')} {drawn[name][1]}"
        if word == "kein":
            return f"{none_of(drawn[name][1])} {drawn[name][1]}"
        if word == "In":
            return drawn["house"][1]
        if word == "ACC":
            text = drawn["good"][1]
            return (
                text.replace("ein guter", "einen guten")
                .replace("ein warmer", "einen warmen")
                .replace("ein Computer", "einen Computer")
            )
        if slot.split(".")[0] in ("item", "thing", "present"):
            noun = drawn[slot]
            case = "den" if slot == "item" and "gelegt" in german else "der"
            return f"{CASES[case][noun[2][0]]} {noun[3]}"
        if word == "MEIN":
            noun = drawn["item"]
            return f"{dict(m='meinen', f='meine', n='mein')[noun[2][0]]} {noun[3]}"
        if name == "sup":
            noun = drawn["sup"]
            the = CASES["der"][noun[2][0]]
            if word == "rel":
                return CASES["den"][noun[2][0]]
            return f"{the} {'beste' if word == 'best' else 'schönste'} {noun[3]}"
        if word or slot == "event":
            noun, _, gender = drawn[name][1].rpartition(" ")
            if word == "der nächste":
                return f"{CASES['der'][gender]} nächste {noun}"
            if word == "des":
                if gender == "f":
                    return f"der {noun}"
                return f"des {noun}{'es' if noun[-1] == 's' or noun == 'Strand' else 's'}"
            return f"{CASES[word][gender]} {noun}"
        return drawn[slot][1]

    english_text = re.sub(r"\{([^}]*)\}", in_english, english)
    german_text = re.sub(r"\{([^}]*)\}", in_german, german).replace(" .", ".")
    if "schlief er" in german_text:
        german_text = german_text.replace("schlief er", f"schlief {german_who}")
    return shortened(rng, capital(english_text)), capital(" ".join(german_text.split()))


NEEDS = [f for f in FRAMES if "ood} " in f[0] or "attention" in f[0]]

if __name__ == "__main__":
    random_ = random.Random(1)
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        print("\t".join(pair(random_)))
