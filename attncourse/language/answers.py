"""The trained model on a reader's own answers: each of its steps is an exercise of the book.

>>> from attncourse.language import answers
>>> model = answers.assemble({})  # no answers: every step is the library's
>>> model.go_on("The cup belongs to Ada. Ada gives the cup to Ben. Who has the cup?")
'Ben.'
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

import attnlib
from attncourse.exercises.sandbox.answer import read_answer
from attncourse.exercises.sandbox.call import Clock, call
from attncourse.language import decoder
from attncourse.language.decoder import Decoder, Functions
from attncourse.language.sampling import nucleus
from attncourse.language.tokens import decode, encode, words

LAYER, HEAD = 2, 1  # whose map the book shows
TRIAL = "The trophy does not fit in the box because it is too big. What is too big? The"
RTOL, ATOL = 1e-3, 1e-4  # the model computes in float32, and so may an answer


# --- the library's functions, with the exercises' arguments ---


def rms_norm(x, gain, eps):
    return decoder.rms_norm(x, gain, eps)


def causal_mask(n_q, n_k):
    return attnlib.causal_mask(n_q, n_k)


def cross_entropy(scores, target):
    chosen = np.take_along_axis(scores, target[..., None], axis=-1)[..., 0]
    return attnlib.logsumexp(scores) - chosen


def streaming_attention(query, key, value, block_size):
    return attnlib.attention(query, key, value)


def grouped_query_attention(query, key, value):
    return attnlib.attention(query, key, value, enable_gqa=True)


def decode_step(query, key_cache, value_cache, key_new, value_new):
    key = np.concatenate([key_cache, key_new], axis=-2)
    value = np.concatenate([value_cache, value_new], axis=-2)
    return attnlib.attention(query, key, value), key, value


def top_p_scores(scores, p):
    return np.where(nucleus(attnlib.softmax(scores), p), scores, -np.inf)


def top_words(weights, words, count):
    return [words[j] for j in np.argsort(-weights, kind="stable")[:count]]


@dataclass(frozen=True)
class Step:
    """A step of the model: the exercise that asks for it, its chapter, the library's function."""

    name: str
    chapter: int
    does: str
    library: Callable


STEPS = (
    Step("rms_norm", 19, "brings every word's vector to one size", rms_norm),
    Step("split_heads", 11, "gives each head its features", decoder.split_heads),
    Step("rotary", 12, "rotates queries and keys by position", decoder.rotary),
    Step("raw_scores", 1, "scores each key for each query", attnlib.raw_scores),
    Step("causal_mask", 2, "hides the words that come later", causal_mask),
    Step("decode_mask", 2, "does so while the model writes", decoder.seen_keys),
    Step("mask_scores", 2, "sets hidden scores to minus infinity", attnlib.mask_scores),
    Step("softmax", 3, "turns scores into weights", attnlib.softmax),
    Step("av_product", 8, "adds up the weighted values", attnlib.av_product),
    Step("merge_heads", 11, "puts the heads' outputs side by side", decoder.merge_heads),
    Step("decode_step", 17, "writes a word with the cache", decode_step),
    Step("streaming_attention", 13, "does so in blocks of keys", streaming_attention),
    Step("grouped_query_attention", 11, "does so with shared keys", grouped_query_attention),
    Step("top_p_scores", 17, "keeps the likely words to draw from", top_p_scores),
    Step("cross_entropy", 4, "measures the loss", cross_entropy),
    Step("top_words", 0, "names the words that a head looks at", top_words),
)
NAMES = tuple(step.name for step in STEPS)
WAYS = ("decode_step", "streaming_attention", "grouped_query_attention")


# --- one step, the reader's or the library's ---


@dataclass
class Part:
    """A step of one model. It tries the reader's function within the limits of `check`, and goes on
    with the library's if the reader's raises an error, takes too long or returns something of
    another form.

    anyway: use it even if it gives other numbers than the library's.
    """

    step: Step
    yours: Callable | None = None
    anyway: bool = False
    problem: str = ""  # why the library's is used, although there is an answer
    differs: str = ""  # which other numbers it gave
    on_trial: bool = True
    clock: Clock = field(default_factory=Clock)

    def __call__(self, *args):
        wanted = self.step.library(*args)
        if self.yours is None or self.problem:
            return wanted
        answer, stopped = self._answer([_copied(arg) for arg in args])
        if stopped:
            self.problem = f"yours {stopped}"
            return wanted
        given, self.problem = _in_form(answer, wanted)
        if self.problem:
            return wanted
        if self.on_trial and not self.differs:
            self.differs = _difference(given, wanted)
        if self.differs and not self.anyway:
            self.problem = f"yours {self.differs}"
            return wanted
        return given

    def _answer(self, args):
        """(what the reader's function returns, why it failed or "")."""
        if self.on_trial:
            outcome = call(self.yours, args, self.clock)
            return outcome.answer, _stopped(outcome.failure) if outcome.failure else ""
        try:  # it has been tried: the guard of a call takes ten times as long as most answers
            with np.errstate(all="ignore"):
                return read_answer(self.yours(*args)), ""
        except (Exception, SystemExit) as error:
            return None, f"stops with {type(error).__name__}: {error}".rstrip(": ")

    @property
    def is_yours(self):
        return self.yours is not None and not self.problem

    @property
    def why(self) -> str:
        """What there is to say about the reader's function; "" if it does what it should."""
        return self.problem or (f"it {self.differs}" if self.differs else "")


def _copied(arg):
    if isinstance(arg, np.ndarray):
        return arg.copy()
    return list(arg) if isinstance(arg, list) else arg


def _stopped(failure):
    if failure.kind == "TimeUp":
        return f"takes more than {failure.text}"
    return f"stops with {failure.kind}: {failure.text}".rstrip(": ")


def _in_form(answer, wanted):
    """(the answer in the form that the model needs, why it doesn't have that form or "")."""
    parts = wanted if isinstance(wanted, tuple) else (wanted,)
    if answer.nothing or answer.other:
        return None, f"yours returns {answer.other or answer.nothing}"
    if len(answer.pieces) != len(parts):
        count = f"{len(answer.pieces)} array{'s' * (len(answer.pieces) != 1)}"
        return None, f"yours returns {count} instead of {len(parts)}"
    found = []
    for piece, part in zip(answer.pieces, map(np.asarray, parts)):
        if piece.values.shape != part.shape:
            return None, f"yours returns the shape {piece.values.shape} instead of {part.shape}"
        kind, wants = piece.values.dtype.kind, part.dtype.kind
        if kind != wants and not {kind, wants} <= set("iuf"):
            return None, f"yours returns {piece.values.dtype} instead of {part.dtype}"
        found.append(piece.values if wants == "U" else piece.values.astype(part.dtype))
    if isinstance(wanted, list):
        return found[0].tolist(), ""
    return (tuple(found) if isinstance(wanted, tuple) else found[0]), ""


def _difference(given, wanted):
    """How far the answer is from the library's, in words; "" if it's as near as float32 allows."""
    if isinstance(wanted, list):
        return "" if given == wanted else f"gives {given[0]} instead of {wanted[0]}"
    pairs = zip(given, wanted) if isinstance(wanted, tuple) else [(given, wanted)]
    for one, other in pairs:
        if other.dtype.kind == "b":
            if count := int((one != other).sum()):
                return f"differs in {count} of {other.size} entries"
        elif not np.allclose(one, other, RTOL, ATOL, equal_nan=True):
            with np.errstate(invalid="ignore"):
                gaps = np.abs(np.subtract(one, other, dtype=np.float64))
            largest = np.nanmax(gaps, initial=0)
            return f"gives other numbers, up to {largest:.3g} away"
    return ""


# --- the model ---


class Assembled(Decoder):
    """The trained model with its steps in `parts`, by name. `assemble` makes one."""

    parts: dict[str, Part]
    way = WAYS[0]  # how a new word attends to the cache

    def attend(self, i, w, x, cache, edited):
        """As a decoder; a single new word uses the function of `way`."""
        if cache is None or not len(cache) or x.shape[-2] > 1:
            return super().attend(i, w, x, cache, edited)
        f, part, group = self.functions, self.parts[self.way], self.sizes.h // self.sizes.h_kv
        positions = np.array([len(cache)])
        query, key, value = self.heads(w, x)
        query = f.rotary(query, positions, self.sizes.base)
        key = f.rotary(key, positions, self.sizes.base)
        if self.way == "decode_step":
            each = (cache.key, cache.value, key, value)
            output, key, value = part(query, *(np.repeat(one, group, axis=-3) for one in each))
            cache.key, cache.value = key, value = key[..., ::group, :, :], value[..., ::group, :, :]
        else:
            key, value = cache.append(key, value)
            if self.way == "streaming_attention":
                each = (np.repeat(one, group, axis=-3) for one in (key, value))
                output = part(query, *each, 4)
            else:
                output = part(query, key, value)
        return dict(query=query, key=key, value=value, scores=None, weights=None, output=output)

    def go_on(self, text: str, way: str = WAYS[0], use_cache: bool = True) -> str:
        """What the model writes after this text, always the most likely word.

        way: the function with which a new word attends, "decode_step", "streaming_attention" or
            "grouped_query_attention".
        """
        self.way, tokens = way, encode(text)
        whole = decode([*tokens, *self.generate(tokens, use_cache=use_cache)])
        return whole.removeprefix(decode(tokens)).strip()

    def write(self, text: str = "", seed: int = 0, p: float = 0.9, count: int = 60) -> str:
        """A text with this beginning, each word drawn from the likely ones (`top_p_scores`), until
        the text ends.
        """
        random, cache, tokens = np.random.default_rng(seed), self.new_cache(), encode(text)
        read = list(tokens)
        for _ in range(count):
            scores = self(read, cache).logits[-1].astype(np.float64)
            kept = self.parts["top_p_scores"](scores, p)
            weights = attnlib.softmax(kept)
            read = [int(random.choice(len(weights), p=weights))]
            if read == [0]:  # the start ends a text
                break
            tokens += read
        return decode(tokens)

    def looks_at(self, text: str, layer: int = LAYER, head: int = HEAD):
        """(words, weights): what the last word of the text looks at in this head."""
        tokens = encode(text)
        return words(tokens), self(tokens).layers[layer].weights[head, -1]

    def losses(self, tokens):
        """The loss at each word but the first of texts of equal length: `(batch, n - 1)`."""
        logits = self(tokens[:, :-1]).logits.astype(np.float64)
        return self.parts["cross_entropy"](logits, tokens[:, 1:])


def assemble(functions: Mapping[str, Callable], anyway=()) -> Assembled:
    """The trained model with these functions, by the names of their exercises, and with the
    library's.

    An answer is tried on a short text first. If it fails there, or gives something other than the
    library's function, the library's is used unless `anyway` names the exercise.
    """
    names = [anyway] if isinstance(anyway, str) else [*anyway]
    unknown = [name for name in [*functions, *names] if name not in NAMES]
    if unknown:
        raise ValueError(f"the model has no step {unknown[0]!r}; its steps are {', '.join(NAMES)}")
    parts = {step.name: Part(step, functions.get(step.name), step.name in names) for step in STEPS}
    for name, problem in getattr(functions, "problems", {}).items():  # of answer_files.collect
        parts[name].problem = f"yours can't be defined here: {problem}"
    base = decoder.load()
    model = Assembled(base.sizes, base.parameters, _functions(parts))
    model.parts = parts
    _try_out(model)
    return model


def _functions(parts):
    def seen_keys(n_q, n_k):
        return parts["causal_mask" if n_q == n_k else "decode_mask"](n_q, n_k)

    def rms_norm(x, gain, eps=1e-5):
        return parts["rms_norm"](x, gain, eps)

    def rotary(x, positions, base):
        return parts["rotary"](x, np.asarray(positions), base)

    same = ("split_heads", "raw_scores", "mask_scores", "softmax", "av_product", "merge_heads")
    return Functions(
        rms_norm=rms_norm,
        rotary=rotary,
        seen_keys=seen_keys,
        **{name: parts[name] for name in same},
    )


def _try_out(model):
    """Run every step: on a text, on two texts at a time, and while writing."""
    tokens, cache = encode(TRIAL), model.new_cache()
    logits = model(tokens[:-1], cache).logits[-1].astype(np.float64)
    for model.way in WAYS:
        model(tokens[-1:], cache)
    model.way = WAYS[0]
    model(tokens[-2:], cache)  # two new words at a time: the mask of decoding
    model.losses(np.array([tokens, tokens[::-1]]))
    names, weights = model.looks_at(TRIAL)
    model.parts["top_words"](weights, names, 3)
    model.parts["top_p_scores"](logits, 0.9)
    for part in model.parts.values():
        part.on_trial = False


def report(model: Assembled) -> str:
    """Step by step, whether it's the reader's function or the library's, and why."""
    parts = list(model.parts.values())
    width = max(map(len, NAMES))
    lines = [f"{sum(part.is_yours for part in parts)} of {len(parts)} steps are yours."]
    for part in parts:
        whose = "yours" if part.is_yours else "the library's"
        lines.append(f"{part.step.name:{width}}  {whose}")
        lines += textwrap.wrap(part.why, 72, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)
