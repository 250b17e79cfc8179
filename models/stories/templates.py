"""Short texts of our own that ask for what the articles speak of: which adjectives a noun has, what
a word of several senses means, whom a pronoun names, who did it. Written for the built-in story
model; free to use by anyone (CC0).

    python models/stories/templates.py 20        prints twenty of them

Of every kind some combinations of words are held out: training never sees them, evaluate.py asks
for them.
"""

import random
import sys
import zlib

SIZES = "tiny little big huge tall small".split()
LOOKS = (
    "fluffy shiny soft old new pretty dirty funny broken round heavy warm cold sticky smooth"
).split()
COLORS = "red blue green yellow pink purple brown black white orange".split()
THINGS = """
    ball kite hat box car book doll bike boat drum cup blanket truck balloon flower leaf rock
    shell coat bag spoon toy stick cake apple bed chair table lamp bell ring key basket bucket
    pillow
""".split()
CREATURES = (
    "cat dog bird rabbit frog fish mouse bear creature horse duck pig monkey turtle lion fox "
    "squirrel owl cow sheep"
).split()
GIRLS = "Lily Mia Sara Anna Lucy Jane Emma Sue Amy Kate Molly Ella".split()
BOYS = "Tom Tim Ben Max Sam Jack Bob Joe Timmy Billy Dan Leo".split()
PLACES = "park garden forest house kitchen school store beach farm river barn yard".split()

# Adjectives of something that walks, and of what it walks over: "it was too …".
TIRED = "tired scared sleepy weak hungry sick lazy sad shy slow".split()
WIDE = "wide long busy wet icy muddy loud dark steep dirty".split()
WAYS = "street road river bridge field hill path yard".split()

# Senses of a word: ways to begin that leave both open, hints that decide, and what the text asks
# for in the end.
SENSES = {
    "bark": {
        "dog": [
            "was loud",
            "woke the baby",
            "scared the cat",
            "came at night",
            "made a noise",
            "was angry",
            "sounded happy",
            "could be heard far away",
            "frightened the kids",
            "was high and short",
            "hurt her ears",
            "did not stop",
        ],
        "tree": [
            "was rough",
            "was brown and dry",
            "had ants on it",
            "fell off in pieces",
            "had a hole in it",
            "was wet from the rain",
            "was thick and old",
            "smelled like wood",
            "was covered with moss",
            "felt hard",
            "had leaves stuck to it",
            "was peeling off",
        ],
    },
    "bat": {
        "cave": [
            "flew at night",
            "had black wings",
            "ate a bug",
            "slept upside down",
            "was scared of the sun",
            "had big ears",
            "flapped its wings",
            "made a tiny squeak",
            "woke up in the dark",
            "had two babies",
            "was hungry",
            "looked for a moth",
        ],
        "game": [
            "was made of wood",
            "hit the ball",
            "was long and heavy",
            "broke in two",
            "was for the team",
            "leaned on the wall",
            "had a good grip",
            "was too big to swing",
            "cost ten dollars",
            "was in his hand",
            "was a birthday gift",
            "had his name on it",
        ],
    },
    "light": {
        "dark": [
            "in the room",
            "outside again",
            "when the sun came up",
            "so he could read",
            "all day long",
            "and they could see",
            "in the morning",
            "because of the lamp",
            "after the storm",
            "near the window",
            "with the moon out",
            "even at night",
        ],
        "heavy": [
            "to carry",
            "and easy to lift",
            "as air",
            "enough to float",
            "so he could pick it up",
            "and it blew away",
            "for its size",
            "and thin",
            "enough for a baby to hold",
            "like paper",
            "like a feather",
            "in her hand",
        ],
    },
    "mole": {
        "ground": [
            "dug a tunnel",
            "had soft fur",
            "ate a worm",
            "came out of its hole",
            "could not see well",
            "had big claws",
            "lived under the grass",
            "popped up its head",
            "pushed up the dirt",
            "had a pink nose",
            "hid from the owl",
            "made a hill",
        ],
        "skin": [
            "was on her arm",
            "was small and brown",
            "was next to his nose",
            "had to be checked",
            "did not hurt",
            "was on her cheek",
            "was flat and round",
            "itched a little",
            "got a bandage",
            "was there since birth",
            "was on his back",
            "was shown to the doctor",
        ],
        "lesson": [
            "is a very big number",
            "counts tiny atoms",
            "is used for gas and water",
            "was on the test",
            "was hard to learn",
            "was written on the board",
            "is how we count atoms",
            "of water is not much",
            "of salt is on the scale",
            "has so many atoms",
            "was in the science book",
            "of gas fills a box",
        ],
    },
}

# The words after the word's second occurrence: only the sense tells them.
GOES_ON = {
    "bark": {
        "dog": ["ringing out", "growing louder", "waking the baby"],
        "tree": ["peeling off", "getting wet", "cracking"],
    },
    "bat": {
        "cave": ["flying away", "sleeping upside down", "flapping its wings"],
        "game": ["hitting the ball", "breaking in two", "leaning on the wall"],
    },
    "light": {
        "dark": ["outside", "all day long", "in the room"],
        "heavy": ["enough to float", "as air", "like a feather"],
    },
    "mole": {
        "ground": ["digging a tunnel", "eating a worm", "hiding from the owl"],
        "skin": ["itching a little", "hurting", "on the skin"],
        "lesson": ["counting atoms", "being a number", "on the test"],
    },
}


def held_out(*words):
    """One combination of words in eight."""
    return zlib.crc32(" ".join(words).encode()) % 8 == 0


def a(words):
    return ("an " if words[0] in "aeio" else "a ") + words


def adjectives(rng, noun, wanted):
    """Two adjectives for a noun, of a pair that is held out or of one that is not."""
    while True:
        first, second = rng.choice(SIZES + LOOKS), rng.choice(COLORS)
        if held_out(first, second, noun) == wanted:
            return first, second


def chain(rng, wanted=False):
    """Two nouns with two adjectives each; later the text asks for an adjective of one, or for the
    noun of a pair."""
    nouns = rng.sample(CREATURES if rng.random() < 0.5 else THINGS, 2)
    pairs = [adjectives(rng, noun, wanted) for noun in nouns]
    while set(pairs[0]) & set(pairs[1]):
        pairs[1] = adjectives(rng, nouns[1], wanted)
    one, other = (a(" ".join([*pair, noun])) for pair, noun in zip(pairs, nouns))
    name, place = rng.choice(GIRLS + BOYS), rng.choice(PLACES)
    begin = rng.choice(
        [
            f"{one[0].upper() + one[1:]} and {other} were in the {place}.",
            f"{name} saw {one} and {other}.",
            f"There was {one}. There was also {other}.",
            f"In the {place} {name} found {one}. Next to it was {other}.",
        ]
    )
    asked = [(noun, *pair) for pair, noun in zip(pairs, nouns)]
    rng.shuffle(asked)
    ends = []
    for noun, first, second in asked:
        ends.append(
            rng.choice(
                [
                    f"The {noun} was {first} and {second}.",
                    f"The {noun} was {second} and {first}.",
                    f"The color of the {noun} was {second}.",
                    f"{name} liked the {noun} because it was {first}.",
                    f"{name} liked the {first} {second} {noun}.",
                    f"The {first} one was the {noun}.",
                ]
            )
        )
    return f"{begin} {' '.join(ends)}"


def begin_sense(word, hint, name):
    """Up to the second time that the word is said; nothing but the hint tells what it means."""
    first = "It was light" if word == "light" else f"The {word}"
    return f"{first} {hint}. {name} thought about {'being' if word == 'light' else 'the'} {word}"


def end_sense(word):
    """The story that leads to the answer; the same for every sense."""
    return ". It was not" if word == "light" else ". It came from the"


def sense(rng, wanted=False):
    """A word, a hint, the word again and how it goes on, or what it then must mean."""
    word = rng.choice(list(SENSES))
    answer = rng.choice(list(SENSES[word]))
    while True:
        name, hint = rng.choice(GIRLS + BOYS), rng.choice(SENSES[word][answer])
        if held_out(word, name, hint) == wanted:
            break
    end = f" {rng.choice(GOES_ON[word][answer])}" if not wanted and rng.random() < 0.8 else ""
    return f"{begin_sense(word, hint, name)}{end}{end_sense(word)} {answer}."


def pronoun(rng, wanted=False):
    """A girl and a boy with a thing each; "she" and "he" ask whose."""
    while True:
        girl, boy, (hers, his) = rng.choice(GIRLS), rng.choice(BOYS), rng.sample(THINGS, 2)
        if held_out(girl, boy, hers) == wanted:
            break
    owners = [(girl, hers), (boy, his)]
    rng.shuffle(owners)
    color, other = rng.sample(COLORS, 2)
    begin = (
        f"{owners[0][0]} had {a(color)} {owners[0][1]} and {owners[1][0]} had {a(other)} "
        f"{owners[1][1]}."
    )
    ends = [
        f"She played with her {hers}.",
        f"He played with his {his}.",
        f"{girl} said that she liked her {hers}.",
        f"{boy} said that he liked his {his}.",
    ]
    return begin + " " + " ".join(rng.sample(ends, rng.randint(2, 3)))


def it(rng, wanted=False):
    """A pronoun: which was too tired, which was too wide?"""
    while True:
        animal, way, tired = (
            rng.choice(CREATURES + ["animal"]),
            rng.choice(WAYS),
            rng.random() < 0.5,
        )
        why = rng.choice(TIRED if tired else WIDE)
        if held_out(animal, way, why) == wanted:
            break
    verb = rng.choice(["did not cross", "didn't cross", "could not cross", "would not go over"])
    return (
        f"The {animal} {verb} the {way} because it was too {why}. The {animal if tired else way} "
        f"was {why}."
    )


SIGNS = [
    "had {x} on the hands",
    "had {x} on the shoes",
    "hid {x} under the bed",
    "washed off {x}",
    "dropped {x} on the floor",
]
CRIMES = [
    ("murderer", "blood", "Someone had killed the king."),
    ("thief", "crumbs", "Someone had stolen the cake."),
    ("thief", "gold", "Someone had stolen the ring."),
    ("painter", "paint", "Someone had painted the wall."),
]
PEOPLE = (
    "cook maid doctor farmer teacher king queen prince nurse sailor butcher baker driver "
    "gardener captain painter"
).split()
QUIET = [
    "slept all night",
    "read a book",
    "was at the beach",
    "played with the kids",
    "sat in the garden",
    "sang a song",
    "was sick in bed",
]


def who(rng, wanted=False):
    """Who did it? The one with the sign."""
    while True:
        role, what, begin = rng.choice(CRIMES)
        people = rng.sample([p for p in PEOPLE if p != role and p not in begin], 3)
        if held_out(role, people[0]) == wanted:
            break
    sign = rng.choice(SIGNS).format(x=what)
    said = [f"The {people[0]} {sign}."] + [f"The {p} {rng.choice(QUIET)}." for p in people[1:]]
    rng.shuffle(said)
    return f"{begin} {' '.join(said)} The {role} was the {people[0]}."


KINDS = [chain, chain, chain, sense, sense, sense, pronoun, it, who, who]


def text(rng):
    """A text of a kind drawn at random."""
    return rng.choice(KINDS)(rng)


if __name__ == "__main__":
    random_ = random.Random(1)
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        print(text(random_))
