"""`python -m attncourse.language train`: the decoder learns the language, in minutes on a CPU.

Two stages. First pairs of any two words, until the model looks them up (it learns that suddenly);
then all kinds together. Without the first stage, the model doesn't learn in that time the kinds in
which something has to be looked up: README.md has the numbers.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from torch.nn import functional as F

from attncourse.language import decoder_torch
from attncourse.language.decoder import Decoder, Sizes
from attncourse.language.evaluate import accuracy, pack
from attncourse.language.grammar import Text, write
from attncourse.language.tokens import numbers

# How many texts of each kind a step of the second stage reads.
SHARES = dict(pairs=8, code=16, fit=8, give=20, where=24, agree=8, copy=24, close=20)


@dataclass(frozen=True)
class Plan:
    """How long to train, and how."""

    pair_steps: int = 900  # at most; the first stage ends at this loss:
    pair_loss: float = 0.2
    steps: int = 2400
    pair_texts: int = 64
    shares: tuple[tuple[str, int], ...] = tuple(SHARES.items())
    rate: float = 3e-3
    other_words: float = 0.05  # weight of a word that isn't an answer
    log_every: int = 50
    log_texts: int = 50


def batches(plan: Plan, random: Random, only_pairs: bool) -> Iterator[list[Text]]:
    """The texts of one step, in two halves, each of texts of similar length: that needs less
    padding."""
    shares = {"pairs": plan.pair_texts} if only_pairs else dict(plan.shares)
    while True:
        texts = [write(kind, random) for kind, count in shares.items() for _ in range(count)]
        texts.sort(key=lambda text: len(text.words))
        yield texts


def loss_and_gradients(sizes, parameters, texts, other_words):
    """Leaves gradients in the parameters, and returns the mean loss of an answer's word."""
    halves = [pack(texts[: len(texts) // 2]), pack(texts[len(texts) // 2 :])]
    weights = [np.where(answer, 1, other_words) * belongs for _, belongs, answer in halves]
    total, loss_of_answers = sum(weight.sum() for weight in weights), 0.0
    for (tokens, _, is_answer), weight in zip(halves, weights):
        read = torch.from_numpy(tokens)
        logits = decoder_torch.logits(sizes, parameters, read[:, :-1]).flatten(0, 1)
        losses = F.cross_entropy(logits, read[:, 1:].flatten(), reduction="none")
        (losses @ torch.from_numpy(weight.astype(np.float32)).flatten() / total).backward()
        loss_of_answers += float(losses.detach()[torch.from_numpy(is_answer).flatten()].sum())
    return loss_of_answers / sum(is_answer.sum() for _, _, is_answer in halves)


def rate_at(share: float) -> float:
    """The learning rate over its largest: 1, and from 60 % of the stage on down to 2 %."""
    return min(1.0, max(0.02, (1 - share) / 0.4))


def train(
    sizes: Sizes | None = None, plan: Plan | None = None, seed: int = 0, threads: int | None = None
) -> tuple[Decoder, list[dict]]:
    """A decoder trained on the language, and its log.

    Args:
        sizes: those of the decoder; None for the course's own.
        plan: how long to train; None for the course's own.
        seed: of the parameters and of the texts. The same seed gives the same decoder on the same
            machine with the same number of threads.
        threads: of torch; None leaves them as they are.

    Returns:
        The decoder, and a dictionary for every `plan.log_every` steps: the step, the seconds, the
        loss of an answer's word over these steps, and the accuracy on held-out texts by kind.
    """
    sizes, plan = sizes or Sizes(len(numbers())), plan or Plan()
    with torch_threads(threads):
        parameters = decoder_torch.new_parameters(sizes, seed)
        optimizer = torch.optim.AdamW(parameters.values(), plan.rate, (0.9, 0.98), fused=True)
        log = Log(sizes, parameters, plan)
        for stage, limit in (("pairs", plan.pair_steps), ("all kinds", plan.steps)):
            for done, texts in zip(range(limit), batches(plan, Random(seed), stage == "pairs")):
                others = 0 if stage == "pairs" else plan.other_words
                share = 0 if stage == "pairs" else done / limit
                warm = min(1, (done + 1) / 100)
                optimizer.param_groups[0]["lr"] = plan.rate * warm * rate_at(share)
                loss = loss_and_gradients(sizes, parameters, texts, others)
                torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                log.add(stage, done, loss)
                if stage == "pairs" and log.recent_loss() < plan.pair_loss:
                    break
        log.write()
        return decoder_torch.as_numpy(sizes, parameters), log.lines


@contextlib.contextmanager
def torch_threads(count):
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Log:
    """What is recorded every so many steps, and the progress bar."""

    def __init__(self, sizes, parameters, plan):
        self.sizes, self.parameters, self.plan = sizes, parameters, plan
        self.start, self.step, self.lines = time.perf_counter(), 0, []
        self.recent, self.losses = deque(maxlen=20), []

    def add(self, stage, done, loss):
        self.stage, self.step = stage, self.step + 1
        self.recent.append(loss)
        self.losses.append(loss)
        limit = self.plan.pair_steps if stage == "pairs" else self.plan.steps
        bar(done + 1, limit, f"{stage}, loss {self.recent_loss():.3f}")
        if self.step % self.plan.log_every == 0:
            self.write()

    def recent_loss(self):
        return float(np.mean(self.recent)) if len(self.recent) == 20 else float("inf")

    def write(self):
        if not self.losses:
            return
        decoder = decoder_torch.as_numpy(self.sizes, self.parameters)
        shares = accuracy(decoder, self.plan.log_texts)
        self.lines.append(
            {
                "step": self.step,
                "stage": self.stage,
                "seconds": round(time.perf_counter() - self.start, 1),
                "loss": round(float(np.mean(self.losses)), 4),
                "accuracy": {kind: round(share, 3) for kind, share in shares.items()},
            }
        )
        self.losses = []
        if not sys.stderr.isatty():
            said = " ".join(f"{kind} {share:.2f}" for kind, share in shares.items())
            print("{step} {stage} loss {loss:.3f}".format(**self.lines[-1]), said, file=sys.stderr)


def bar(done, total, what):
    if sys.stderr.isatty():
        blocks = "#" * (30 * done // total)
        print(f"\r[{blocks:30}] {done}/{total} {what:28}", end="", file=sys.stderr, flush=True)
