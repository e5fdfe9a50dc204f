"""Ten chemical reactions whose right answers are known, and what RXNMapper's heads make of them.

Atoms are neither made nor lost in a reaction, so every atom of the product was an atom of a
reactant. Which one is known for these reactions, and `atoms` says it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

HEAD = (10, 5)  # layer and head, counted from 0, that the package reads
BOOST = 90.0  # by which it multiplies what neighbours of a mapped pair exchange
TOKEN = re.compile(r"\[[^\]]+]|Br?|Cl?|[NOSPFIbcnosp]|>>|[().=#+~/\\-]|%\d\d|\d")
ELEMENT = re.compile(r"\[?\d*([A-Z][a-z]?|[a-z])")


@dataclass(frozen=True)
class Reaction:
    """A reaction as SMILES, reactants>>product.

    `atoms` has a letter for each atom, in the same order. An atom of the product comes from the
    reactants' atom with the same letter. Atoms that nothing tells apart share a letter, as the two
    oxygens of an acid do, and others that don't reach the product are dashes. `new_bonds` counts
    the bonds that are made.
    """

    name: str
    smiles: str
    atoms: str
    new_bonds: int

    @property
    def letters(self) -> tuple[str, str]:
        left, right = self.atoms.replace(".", "").split(">>")
        return left, right


# Written as the package writes them: one standard form for each molecule, sorted as text.
REACTIONS = (
    Reaction("esterification", "CO.O=C(O)c1ccccc1>>COC(=O)c1ccccc1", "xy.babiompmo>>xyabiompmo", 1),
    Reaction(
        "amide coupling",
        "NCc1ccccc1.O=C(O)c1ccccc1>>O=C(NCc1ccccc1)c1ccccc1",
        "nhIOMPMO.babiompmo>>banhIOMPMOiompmo",
        1,
    ),
    Reaction("ether (SN2)", "CCBr.[O-]c1ccccc1>>CCOc1ccccc1", "ab-.xiompmo>>abxiompmo", 1),
    Reaction(
        "Suzuki coupling",
        "COc1ccc(Br)cc1.OB(O)c1ccccc1>>COc1ccc(-c2ccccc2)cc1",
        "xyabcd-cb.---iompmo>>xyabcdiompmocb",
        1,
    ),
    Reaction(
        "Diels-Alder", "C=CC=C.O=C1C=CC(=O)O1>>O=C1OC(=O)C2CC=CCC12", "tiit.kcaacko>>kcockatiita", 2
    ),
    Reaction(
        "reduction", "CC(=O)c1ccccc1.[BH4-].[Na+]>>CC(O)c1ccccc1", "xabiompmo.-.->>xabiompmo", 0
    ),
    Reaction(
        "Boc removal",
        "CC(C)(C)OC(=O)NCc1ccccc1.O=C(O)C(F)(F)F>>NCc1ccccc1",
        "-------nhiompmo.------->>nhiompmo",
        0,
    ),
    Reaction(
        "Wittig",
        "C=P(c1ccccc1)(c1ccccc1)c1ccccc1.O=Cc1ccccc1>>C=Cc1ccccc1",
        "b-------------------.-aiompmo>>baiompmo",
        1,
    ),
    Reaction(
        "click (triazole)",
        "C#Cc1ccccc1.[N-]=[N+]=NCc1ccccc1>>c1ccc(Cn2cc(-c3ccccc3)nn2)cc1",
        "efiompmo.tuvhIOMPMO>>PMOIhvefiompmotuOM",
        2,
    ),
    Reaction("Claisen", "C=CCOc1ccccc1>>C=CCc1ccccc1O", "gbaxiompmo>>abgompmoix", 1),
)
N_ATOMS = sum(len(reaction.letters[1]) for reaction in REACTIONS)


def backwards(reaction: Reaction) -> Reaction:
    """The same reaction with its reactants written in the opposite order."""

    def turned(text):
        left, right = text.split(">>")
        return ".".join(left.split(".")[::-1]) + ">>" + right

    return replace(reaction, smiles=turned(reaction.smiles), atoms=turned(reaction.atoms))


# --- SMILES ---


def split(smiles: str) -> list[str]:
    """The tokens of a SMILES."""
    tokens = TOKEN.findall(smiles)
    if "".join(tokens) != smiles:
        raise ValueError(f"{smiles} has characters that are no SMILES of this kind")
    return tokens


def is_atom(token: str) -> bool:
    return token[0].isalpha() or token[0] == "["


def sides(tokens) -> tuple[list[int], list[int]]:
    """The places of the reactants' atoms, and of the product's atoms."""
    arrow = tokens.index(">>")
    places = [i for i, token in enumerate(tokens) if is_atom(token)]
    return [i for i in places if i < arrow], [i for i in places if i > arrow]


def elements(tokens) -> list[str]:
    return [ELEMENT.match(token)[1].capitalize() for token in tokens if is_atom(token)]


def bonds(tokens) -> np.ndarray:
    """(n, n) for n atoms, True where two of them are bonded."""
    pairs, last, branches, rings, n = [], None, [], {}, 0
    for token in tokens:
        if is_atom(token):
            pairs += [(last, n)] if last is not None else []
            last, n = n, n + 1
        elif token in (".", ">>"):
            last = None
        elif token == "(":
            branches.append(last)
        elif token == ")":
            last = branches.pop()
        elif token[-1].isdigit():  # the second one closes the ring
            if token in rings:
                pairs.append((rings.pop(token), last))
            else:
                rings[token] = last
    found = np.zeros((n, n), bool)
    for i, j in pairs:
        found[i, j] = found[j, i] = True
    return found


# --- the map of a head ---


def exchanged(weights, tokens) -> np.ndarray:
    """(product atoms, reactants' atoms): what two atoms give each other in one head, (n, n)."""
    left, right = sides(tokens)
    return weights[np.ix_(right, left)] + weights[np.ix_(left, right)].T


def same_element(tokens) -> np.ndarray:
    """(product atoms, reactants' atoms), True where they are of the same element."""
    left, found = len(sides(tokens)[0]), np.array(elements(tokens))
    return found[left:, None] == found[:left]


def pairs(exchange, tokens, boost: float = BOOST):
    """Pairs (product atom, reactants' atom, share), the surest first.

    The pair with the largest share of its row is taken, and its atoms leave. Then what neighbours
    of the one exchange with neighbours of the other is multiplied by `boost`, and so on.
    """
    near, n = bonds(tokens), exchange.shape[1]
    left = exchange * same_element(tokens)
    while left.any():
        sums = left.sum(axis=1, keepdims=True)
        shares = np.divide(left, sums, out=np.zeros_like(left), where=sums > 0)
        i, j = np.unravel_index(shares.argmax(), shares.shape)
        yield i, j, shares[i, j]
        left[np.ix_(near[n:, n:][i], near[:n, :n][j])] *= boost
        left[i], left[:, j] = 0, 0


def mapped(exchange, tokens, boost: float = BOOST) -> np.ndarray:
    """For each atom of the product, the atom of the reactants that it was: of `pairs`."""
    found = np.full(len(exchange), -1)
    for i, j, _ in pairs(exchange, tokens, boost):
        found[i] = j
    return found


def strongest(exchange, tokens) -> np.ndarray:
    """The same without neighbours: each atom takes the one of its element that it exchanges the
    most with, even if another atom has taken it."""
    return np.where(same_element(tokens), exchange, -1).argmax(axis=1)


def right_atoms(reaction: Reaction, found) -> np.ndarray:
    """For each atom of the product, whether it is an atom with its letter."""
    left, right = map(np.array, map(list, reaction.letters))
    return (left[found] == right) & (found >= 0)


def made(found, tokens) -> int:
    """How many bonds of the product no two of the reactants' atoms had."""
    near, n = bonds(tokens), len(sides(tokens)[0])
    return int(np.triu(near[n:, n:] & ~near[np.ix_(found, found)]).sum())


def is_right(reaction: Reaction, found) -> bool:
    """Whether every atom is right, and exactly as many bonds are made as the reaction makes."""
    tokens = split(reaction.smiles)
    return bool(right_atoms(reaction, found).all()) and made(found, tokens) == reaction.new_bonds


def chance(reaction: Reaction) -> np.ndarray:
    """For each atom of the product, the probability that a random atom of its element is right."""
    left, right = map(np.array, map(list, reaction.letters))
    fitting = (left == right[:, None]) & same_element(split(reaction.smiles))
    return fitting.sum(axis=1) / same_element(split(reaction.smiles)).sum(axis=1)


# --- what is recorded ---


def score(exchanges: dict, using=mapped, reactions=REACTIONS) -> tuple[int, int]:
    """(right atoms, right reactions) of a head, from its `exchanged` by reaction."""
    atoms = whole = 0
    for reaction in reactions:
        found = using(exchanges[reaction.name], split(reaction.smiles))
        atoms += int(right_atoms(reaction, found).sum())
        whole += is_right(reaction, found)
    return atoms, whole


def exchanges(weights: dict, head, reactions=REACTIONS) -> dict:
    """`exchanged` by reaction, for one head of the weights by reaction."""
    return {r.name: exchanged(weights[r.name][head], split(r.smiles)) for r in reactions}


def grid(weights: dict) -> list:
    """(right atoms, right reactions) of every head, by layer."""
    n_layers, h = next(iter(weights.values())).shape[:2]
    return [[score(exchanges(weights, (i, j))) for j in range(h)] for i in range(n_layers)]


def by_luck(draws: int = 100, seed: int = 0) -> list[float]:
    """Mean (atoms, reactions) right if `mapped` gets random numbers instead of attention."""
    rng = np.random.default_rng(seed)
    shapes = {r.name: same_element(split(r.smiles)).shape for r in REACTIONS}
    drawn = ({name: rng.random(shape) for name, shape in shapes.items()} for _ in range(draws))
    return [round(float(mean), 2) for mean in np.mean([score(each) for each in drawn], axis=0)]


def measured() -> dict:
    """Run the published model on the ten reactions; its weights are fetched (albert.load).

    attention: what HEAD exchanges; heads: right atoms and reactions of every head, and `removed`:
    the same without what head 5 of every layer writes; backwards: of HEAD.
    """
    from attncourse.language import albert

    encoder, vocabulary = albert.load()
    number = {token: i for i, token in enumerate(vocabulary)}
    every = tuple((i, HEAD[1]) for i in range(encoder.n_layers))

    def weights(reactions=REACTIONS, without=()):
        found = {}
        for each in reactions:
            tokens = [number[t] for t in ("[CLS]", *split(each.smiles), "[SEP]")]
            found[each.name] = encoder(tokens, without)[..., 1:-1, 1:-1]
        return found

    turned = tuple(map(backwards, REACTIONS))
    whole = weights()
    attention = exchanges(whole, HEAD)
    return {
        "attention": {name: rounded(array) for name, array in attention.items()},
        "heads": grid(whole),
        "removed": grid(weights(without=every)),
        "backwards": score(exchanges(weights(turned), HEAD, turned), reactions=turned),
        "luck": by_luck(),
    }


def rounded(array) -> list:
    return [[float(f"{number:.4g}") for number in row] for row in array]
