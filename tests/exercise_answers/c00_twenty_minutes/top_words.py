"""Answers to top_words, written as learners write them."""

import heapq

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("top_words")


@answers.right()
def words_by_argsort(weights, words, count):
    return [words[i] for i in np.argsort(-weights, kind="stable")[:count]]


@answers.right()
def words_by_sorted(weights, words, count):
    order = sorted(range(len(words)), key=lambda i: weights[i], reverse=True)
    return [words[i] for i in order[:count]]


@answers.right()
def words_one_by_one(weights, words, count):
    left, found = list(weights), []
    for _ in range(count):
        best = int(np.argmax(left))
        found.append(words[best])
        left[best] = -1
    return found


@answers.right()
def words_from_a_heap(weights, words, count):
    pairs = heapq.nlargest(count, enumerate(weights), key=lambda pair: pair[1])
    return [words[i] for i, _ in pairs]


@answers.right()
def words_of_an_array(weights, words, count):
    return list(np.array(words)[np.argsort(-weights, kind="stable")][:count])


@answers.wrong("smallest weights instead of largest")
def words_ascending(weights, words, count):
    return [words[i] for i in np.argsort(weights, kind="stable")[:count]]


@answers.wrong("later of equals first")
def words_reversed(weights, words, count):
    return [words[i] for i in np.argsort(weights, kind="stable")[::-1][:count]]


@answers.wrong("later of equals first")
def words_reversed_pairs(weights, words, count):
    order = sorted(range(len(words)), key=lambda i: (weights[i], i), reverse=True)
    return [words[i] for i in order][:count]


@answers.wrong("largest weight last")
def words_from_the_end(weights, words, count):
    return [words[i] for i in np.argsort(weights, kind="stable")[-count:]]


@answers.wrong("text order")
def words_as_they_stand(weights, words, count):
    chosen = set(np.argsort(-weights, kind="stable")[:count])
    return [word for i, word in enumerate(words) if i in chosen]


@answers.wrong("ties ordered by the words")
def words_by_pairs(weights, words, count):
    pairs = sorted(zip(-weights, words))
    return [word for _, word in pairs[:count]]


@answers.wrong("each word only once")
def words_in_a_dictionary(weights, words, count):
    found = []
    for i in np.argsort(-weights, kind="stable"):
        if words[i] not in found:
            found.append(words[i])
    return found[:count]


@answers.wrong("weights of the same word added", "each word only once")
def words_added(weights, words, count):
    total = {}
    for weight, word in zip(weights, words):
        total[word] = total.get(word, 0) + weight
    return sorted(total, key=total.get, reverse=True)[:count]


@answers.wrong("one word too many")
def words_one_more(weights, words, count):
    return [words[i] for i in np.argsort(-weights, kind="stable")[: count + 1]]


@answers.wrong("one word too few")
def words_one_less(weights, words, count):
    return [words[i] for i in np.argsort(-weights, kind="stable")[: count - 1]]


@answers.wrong("count ignored")
def words_all(weights, words, count):
    return [words[i] for i in np.argsort(-weights, kind="stable")]


@answers.wrong("count ignored")
def words_best(weights, words, count):
    return [words[int(np.argmax(weights))]]


@answers.wrong("positions instead of words")
def words_positions(weights, words, count):
    return np.argsort(-weights, kind="stable")[:count]


@answers.wrong("positions instead of words")
def words_positions_in_a_list(weights, words, count):
    return [int(i) for i in np.argsort(-weights, kind="stable")[:count]]


@answers.wrong("weights instead of words")
def words_weights(weights, words, count):
    return sorted(weights, reverse=True)[:count]


@answers.wrong("NumPy array instead of a list")
def words_in_an_array(weights, words, count):
    return np.array(words)[np.argsort(-weights, kind="stable")[:count]]


@answers.wrong("weights not used")
def words_first(weights, words, count):
    return words[:count]


@answers.wrong("list overwritten")
def words_popped(weights, words, count):
    left, found = list(weights), []
    for _ in range(count):
        best = int(np.argmax(left))
        left.pop(best)
        found.append(words.pop(best))
    return found


@answers.wrong()
def words_joined(weights, words, count):
    return " ".join(words[i] for i in np.argsort(-weights, kind="stable")[:count])


@answers.wrong()
def words_with_weights(weights, words, count):
    return [(words[i], weights[i]) for i in np.argsort(-weights, kind="stable")[:count]]


@answers.wrong()
def words_with_letters(weights, words, count):
    return [words[i].upper() for i in np.argsort(-weights, kind="stable")[:count]]


@answers.wrong("smallest weights instead of largest")
def end_of_the_descending_order(weights, words, count):
    return [words[i] for i in np.argsort(-weights, kind="stable")[-count:]]


@answers.wrong("ties ordered by the words")
def pairs_sorted_backwards(weights, words, count):
    return [word for _, word in sorted(zip(weights.tolist(), words), reverse=True)[:count]]


@answers.wrong("equals in no fixed order")
def words_by_the_default_sort(weights, words, count):
    return [words[i] for i in np.argsort(-weights)[:count]]


@answers.wrong("equals in no fixed order")
def words_by_the_default_sort_reversed(weights, words, count):
    return [words[i] for i in np.argsort(weights)[::-1][:count]]


@answers.wrong("first of equals repeated")
def words_by_list_index(weights, words, count):
    weights = weights.tolist()
    return [words[weights.index(weight)] for weight in sorted(weights, reverse=True)[:count]]


@answers.wrong()
def words_beside_their_weights(weights, words, count):
    best = np.argsort(-weights, kind="stable")[:count]
    return [(words[i], float(weights[i])) for i in best]
