"""Ask the story model what people ask of it: does one head look at each adjective of a noun? Does
it remember a name and go on without a loop? Does the circuit behind "the red ball" stand?

The sentences are our own (CC0); training never sees them.
"""

import contextlib
import re

import templates
import torch

CIRCUIT = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
CIRCUIT_HEADS = ((0, 0), (1, 0), (1, 1), (1, 2), (2, 5), (3, 3))
ARTICLE = ("A fluffy blue creature roamed the verdant forest", "creature", "fluffy", "blue")
ADJECTIVES = [  # sentence up to the noun, and its two adjectives: frames and pairs of no template
    ("Grandma wore a long yellow scarf", "long", "yellow"),
    ("He sat down beside the tired old king", "tired", "old"),
    ("They looked up at a bright golden star", "bright", "golden"),
    ("In her pocket she kept one smooth gray stone", "smooth", "gray"),
    ("The children ran away from the angry green dragon", "angry", "green"),
    ("Nobody liked the cold, dark cave", "cold", "dark"),
    ("It was a hot and sunny morning", "hot", "sunny"),
    ("My brave little sister", "brave", "little"),
    ("Dad bought us some sweet ripe plums", "sweet", "ripe"),
    ("Under the stairs lived a quiet gray ghost", "quiet", "gray"),
    ("She put on her thick woolen socks", "thick", "woolen"),
    ("We found a strange wooden door", "strange", "wooden"),
]
PLAIN = [  # nouns without an adjective: there the head should look elsewhere
    "Then he went to the house",
    "She gave it to her mother",
    "They sat under the tree",
    "He opened the door of the car",
    "In the morning they took the bus",
    "It ran after a cat",
    "Dad came home with the dog",
    "We could see the moon and a boat",
]
NAMES = "Anna Sue Leo Dan Ruby Peter Emma Oscar Clara Max".split()
NAME_FORMS = {  # the first is that of the templates, with names that they hold out
    "asked": "My name is {x}. What is my name? Your name is",
    "called": 'There was a girl called {x}. One day she met a frog. The frog said, "Hello,',
    "friend": '{x} had a kite. The wind took the kite away. "Where is my kite?" asked',
}
OPENINGS = [
    "Once upon a time, there was a little boy named Ben. He",
    "One day, a girl named Mia went to the beach with her dad.",
    "The little rabbit wanted to find some carrots.",
    "Sam was very sad because he lost his toy car.",
    "It was raining, so Anna stayed inside the house.",
    "There was a big tree in the garden. A bird",
    "Grandma baked a cake for the party.",
    "The cat saw a butterfly and",
    "Max and Lucy were best friends.",
    "At night, the owl woke up.",
]
TEMPLATE_TEXT = re.compile(
    r"thought about (the|being) (bark|bat|light|mole)|[Ii]t was not (dark|heavy)\b|"
    r"[Ii]t came from the (dog|tree|cave|game|ground|skin|lesson)|"
    r"The color of the|The \w+ one was the|The (murderer|thief|painter) was|Someone had \w+ed the|"
    rf"The \w+ was ({'|'.join(templates.SIZES + templates.LOOKS + templates.COLORS)}) and "
    rf"({'|'.join(templates.SIZES + templates.LOOKS + templates.COLORS)})\.|"
    r"because it was too|said that (she|he) liked (her|his)|mole (was|is|dug|had)|bark (was|had)"
)


def each_adjective(reader, text, noun, first, second):
    """[layers, heads, 2]: the weight from a noun on its far and its near adjective, each on all of
    its tokens."""
    e, attention, _, _ = reader.read(text)
    q = reader.place(e, text, noun, last=True)
    return torch.stack(
        [attention[:, :, q, word_tokens(e, text, w)].sum(-1) for w in (first, second)], -1
    )


def word_tokens(e, text, word):
    """The tokens of a word's first occurrence."""
    m = re.search(rf"\b{re.escape(word)}\b", text)
    return [i for i, (a, b) in enumerate(e.offsets) if b > m.start() and a < m.end()]


def plain_weight(reader, head):
    """The head's mean weight on the two tokens before a noun that has no adjective."""
    out = []
    for text in PLAIN:
        _, attention, _, _ = reader.read(text)
        out.append(attention[head[0], head[1], -1, -3:-1].sum().item())
    return sum(out) / len(out)


def next_word(reader, text):
    """[vocab]: probabilities of the next token."""
    return reader.read(text)[3][-1].softmax(-1)


def names(reader):
    """By form: Anna's probability, and the mean over all names of the first token's."""
    out = {}
    for form, text in NAME_FORMS.items():
        p = [
            next_word(reader, text.format(x=x))[reader.tok.encode(" " + x).ids[0]].item()
            for x in NAMES
        ]
        out[form] = (p[0], sum(p) / len(p))
    return out


@torch.no_grad()
def goes_on(reader, text, tokens, temperature=0.0, seed=0):
    """How the model continues a text; stops at the end token."""
    g = torch.Generator().manual_seed(seed)
    ids, new, past = reader.tok.encode(text).ids, [], None
    given = torch.tensor([ids])
    for _ in range(tokens):
        out = reader.model(given, past_key_values=past, use_cache=True)
        logits, past = out.logits[0, -1], out.past_key_values
        if temperature:
            top = logits.topk(40)
            at = torch.multinomial((top.values / temperature).softmax(-1), 1, generator=g)
            token = int(top.indices[at])
        else:
            token = int(logits.argmax())
        if token == 0:
            break
        new.append(token)
        given = torch.tensor([[token]])
    return reader.tok.decode(new)


def loops(text, given=""):
    """Whether a sentence of the continuation is said twice, four words come three times, or words
    are said twice at once."""
    words = re.findall(r"[\w']+", text.lower())
    grams = [tuple(words[i : i + 4]) for i in range(len(words) - 3)]
    sentences = [s.strip().lower() for s in re.split(r"[.!?]", text) if len(s.split()) > 2]
    at_once = any(
        words[i : i + n] == words[i + n : i + 2 * n]
        for n in (2, 3, 4, 5, 6)
        for i in range(len(words) - 2 * n + 1)
    )
    return at_once or len(set(sentences)) < len(sentences) or any(grams.count(g) > 2 for g in grams)


def openings(reader, tokens=80):
    """[(continuation, whether it loops)]."""
    out = [goes_on(reader, text, tokens) for text in OPENINGS]
    return [(text, loops(text)) for text in out]


def template_share(reader, each=10, tokens=100):
    """The share of sampled continuations (temperature 0.7, top 40) in which a template speaks."""
    texts = [goes_on(reader, o, tokens, 0.7, seed) for o in OPENINGS for seed in range(each)]
    return sum(bool(TEMPLATE_TEXT.search(t)) for t in texts) / len(texts), texts


@contextlib.contextmanager
def without_head(model, layer, head):
    """Let one head write nothing."""
    width = model.config.n_embd // model.config.n_head

    def cut(_, inputs):
        x = inputs[0].clone()
        x[..., head * width : (head + 1) * width] = 0
        return (x,)

    hook = model.transformer.h[layer].attn.c_proj.register_forward_pre_hook(cut)
    try:
        yield
    finally:
        hook.remove()


def circuit(reader):
    """p(ball), p(ball) without each head of the circuit, and the weights of its heads."""
    e, attention, _, logits = reader.read(CIRCUIT)
    ball = reader.tok.encode(" ball").ids[0]

    def without(layer, head):
        with without_head(reader.model, layer, head):
            return next_word(reader, CIRCUIT)[ball].item()

    return dict(
        ball=logits[-1].softmax(-1)[ball].item(),
        without={f"{layer}.{h}": without(layer, h) for layer, h in CIRCUIT_HEADS},
        previous=attention[0, 0].diagonal(-1).mean().item(),
        to_ball={
            f"{layer}.{h}": attention[layer, h, -1, 4].item() for layer, h in CIRCUIT_HEADS[1:]
        },
    )
