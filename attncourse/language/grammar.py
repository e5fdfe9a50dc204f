"""A small language: kinds of text with questions whose answers the grammar knows.

A text is a list of words. Some of its words are answers: they can be known from the words before
them. Certain combinations of words never occur in training; the model is tested on them.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

START = "<start>"  # begins every text, and ends the one before
NAMES = "Ada Ben Cleo Dan Eva Finn Gina Hugo Iris Jack Kate Liam Mona Noah Olga Paul".split()
THINGS = (
    "trophy ball book guitar lamp statue painting umbrella violin bottle hat cake clock chair"
    " tent drum"
).split()
BOTH = "box bag basket chest suitcase".split()  # they fit into others, and others into them
CONTAINERS = "drawer cupboard car fridge locker crate van trunk cellar".split()
TOO_BIG = "big large long wide tall thick huge bulky".split()
TOO_SMALL = "small narrow short tiny little low thin shallow".split()
GIFTS = "book cup ring coin hat letter apple pen map ball ticket watch".split()
PLACES = (
    "kitchen garden park school station library market office hotel museum theatre harbour"
).split()
NOUNS = "key cabinet door picture window dog house road tree table wall bridge".split()
BESIDE = "to near behind beside under above".split()
VERBS = {"is": "are", "was": "were"}  # one: many
LOOKS = "old new red green clean dark broken beautiful".split()
ANIMALS = "cat dog horse bird fish mouse goat cow".split()
SYLLABLES = "ba do fi gu ka lo mi nu pe ra so tu ve wi yo ze".split()
BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
GIVES = "gives hands sends brings".split()
GOES = "goes walks runs moves".split()
NOUN_FORMS = [noun + ending for noun in NOUNS for ending in ("", "s")]
CONTENT = [
    *dict.fromkeys(
        [
            *NAMES,
            *THINGS,
            *BOTH,
            *CONTAINERS,
            *TOO_BIG,
            *TOO_SMALL,
            *GIFTS,
            *PLACES,
            *NOUN_FORMS,
            *LOOKS,
            *ANIMALS,
        ]
    )
]
OTHERS = (
    ". ? : the in to is are was were it what who where means has too does not fit because called"
    " close belongs name of"
).split()


@dataclass(frozen=True)
class Text:
    """A text: its words, which of them are answers, the combinations in it, and which of these the
    last answer needs (None if it needs none).
    """

    kind: str
    words: tuple[str, ...]
    is_answer: tuple[bool, ...]
    combinations: tuple[tuple[str, ...], ...]
    asked: tuple[str, ...] | None


def text(kind, lines, combinations, asked):
    """Make a text of lines; an answer stands between two asterisks."""
    words, is_answer, inside = [START], [False], False
    for word in " ".join(lines).split():
        if word == "*":
            inside = not inside
        else:
            words.append(word)
            is_answer.append(inside)
    return Text(kind, tuple(words), tuple(is_answer), tuple(combinations), asked)


def is_held_out(combination) -> bool:
    """Whether this combination is kept out of training, as one in five is."""
    return zlib.crc32(" ".join(combination).encode()) % 5 == 0


# --- the kinds ---


def pairs(random: Random) -> Text:
    """Pairs of any two words, then the same pairs in another order."""
    count = random.randint(3, 8)
    drawn = random.sample(vocabulary()[1:], 2 * count)
    firsts, seconds = drawn[:count], drawn[count:]
    order = random.sample(range(count), count)
    lines = [f"{first} {second}" for first, second in zip(firsts, seconds)]
    lines += [f"{firsts[i]} * {seconds[i]} *" for i in order]
    return text("pairs", lines, [tuple(drawn)], tuple(drawn))


def code(random: Random) -> Text:
    """Any name, noun or adjective may stand for any other one."""
    count = random.randint(2, 4)
    drawn = random.sample(CONTENT, 2 * count)
    meaning = dict(zip(drawn[:count], drawn[count:]))
    lines = [f"{word} means {other} ." for word, other in meaning.items()]
    asked = random.sample(list(meaning), count)
    lines += [f"what is {word} ? * {meaning[word]} * ." for word in asked]
    return text("code", lines, [tuple(drawn)], tuple(drawn))


def fit(random: Random) -> Text:
    """What doesn't fit is too big, or what it should go into is too small."""
    thing, container = random.choice(THINGS + BOTH), random.choice(BOTH + CONTAINERS)
    while container == thing:
        container = random.choice(BOTH + CONTAINERS)
    is_thing = random.random() < 0.5
    adjective = random.choice(TOO_BIG if is_thing else TOO_SMALL)
    answer = thing if is_thing else container
    lines = [
        f"the {thing} does not fit in the {container} because it is too {adjective} .",
        f"what is too {adjective} ? the * {answer} * .",
    ]
    return text("fit", lines, [(thing, container)], (thing, container))


def give(random: Random) -> Text:
    """Who has what, who gives it to whom, and who has it now."""

    def belongs(gift, name):
        return f"the {gift} belongs to {name} ."

    def gives(gift, name, other):
        return f"{name} {random.choice(GIVES)} the {gift} to {other} ."

    def ask(gift, name):
        return f"who has the {gift} ? * {name} * ."

    return story("give", random, GIFTS, NAMES, belongs, gives, ask)


def where(random: Random) -> Text:
    """Who is where, who goes where, and where they are now."""

    def is_in(name, place):
        return f"{name} is in the {place} ."

    def goes(name, _, other):
        return f"{name} {random.choice(GOES)} to the {other} ."

    def ask(name, place):
        return f"where is {name} ? in the * {place} * ."

    return story("where", random, NAMES, PLACES, is_in, goes, ask)


def story(kind, random, keys, values, say, change, ask):
    """One to three facts, up to two changes, and one or two questions.

    What is held out are triples of key, earlier value and later value. If pairs of key and value
    were, the question could be answered by noticing that all other pairs occur in training.
    """
    facts = {key: random.choice(values) for key in random.sample(keys, random.randint(1, 3))}
    lines = [say(key, value) for key, value in facts.items()]
    triples, last = [], {}
    for _ in range(random.randint(0, 2)):
        key = random.choice(list(facts))
        value = random.choice([value for value in values if value != facts[key]])
        lines.append(change(key, facts[key], value))
        last[key] = (key, facts[key], value)
        triples.append(last[key])
        facts[key] = value
    asked = random.sample(list(facts), random.randint(1, min(2, len(facts))))
    lines += [ask(key, facts[key]) for key in asked]
    return text(kind, lines, triples, last.get(asked[-1]))


def agree(random: Random) -> Text:
    """The verb agrees with its noun, whatever nouns come in between."""
    nouns = random.sample(NOUNS, random.choice((2, 2, 3)))
    many = [random.random() < 0.5 for _ in nouns]
    first, *others = [noun + "s" * is_many for noun, is_many in zip(nouns, many)]
    between = " ".join(f"{random.choice(BESIDE)} the {other}" for other in others)
    verb = random.choice(list(VERBS.items()))[many[0]]
    lines = [f"the {first} {between} * {verb} * {random.choice(LOOKS)} ."]
    combinations = [(first, other) for other in others]
    return text("agree", lines, combinations, combinations[-1])


def copy(random: Random) -> Text:
    """A made-up name has to be copied; its syllables are tokens."""
    # No two names in a text share a syllable: what follows a syllable is never in doubt.
    drawn, called = iter(random.sample(SYLLABLES, 9)), {}
    for animal in random.sample(ANIMALS, random.randint(1, 3)):
        called[animal] = [next(drawn) for _ in range(random.choice((2, 3)))]

    def name(animal):
        first, *others = called[animal]
        return " ".join([first.capitalize(), *("-" + syllable for syllable in others)])

    asked = random.sample(list(called), random.randint(1, min(2, len(called))))
    lines = [f"the {animal} is called {name(animal)} ." for animal in called]
    lines += [f"what is the name of the {animal} ? * {name(animal)} * ." for animal in asked]
    combinations = [tuple(syllables) for syllables in called.values()]
    return text("copy", lines, combinations, tuple(called[asked[-1]]))


def close(random: Random) -> Text:
    """Open brackets have to be closed from the inside out."""
    before, is_open = [], []
    for _ in range(random.randint(2, 8)):
        if is_open and (len(is_open) == 4 or random.random() < 0.4):
            before.append(BRACKETS[is_open.pop()])
        else:
            is_open.append(random.choice(list(BRACKETS)))
            before.append(is_open[-1])
    if not is_open:
        is_open.append(random.choice(list(BRACKETS)))
        before.append(is_open[-1])
    after = [BRACKETS[bracket] for bracket in reversed(is_open)]
    lines = ["close", *before, ": *", *after, "* ."]
    return text("close", lines, [tuple(before)], tuple(before))


KINDS: dict[str, Callable[[Random], Text]] = {
    kind.__name__: kind for kind in (pairs, code, fit, give, where, agree, copy, close)
}


def write(kind: str, random: Random, held_out: bool = False) -> Text:
    """A text of this kind: for training, one without any held-out combination, otherwise one whose
    last answer needs such a combination.
    """
    while True:
        written = KINDS[kind](random)
        if held_out:
            if written.asked is not None and is_held_out(written.asked):
                return written
        elif not any(map(is_held_out, written.combinations)):
            return written


@functools.cache
def vocabulary() -> tuple[str, ...]:
    """Every word of the language, once, the start first."""
    syllables = [s.capitalize() for s in SYLLABLES] + ["-" + s for s in SYLLABLES]
    every = [START, *OTHERS, *CONTENT, *BESIDE, *GIVES, *GOES, *BRACKETS, *BRACKETS.values()]
    return tuple(dict.fromkeys([*every, *syllables]))
