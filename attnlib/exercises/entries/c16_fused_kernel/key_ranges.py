"""The exercise key_ranges."""

from ...families.counts import number_cases
from ...model import Case, Exercise, Mistake, Step, alike, ways

NONE = 10**9


def key_ranges_answer(do, first, last, n_k, block_k, left, right):
    left, right = do.limits(left, right)
    start = do.start(do.first_seen(first, last, left), block_k)
    end = do.end(do.end_seen(first, last, right), n_k, block_k)
    whole = do.whole(do.first_by_all(first, last, left), block_k)
    edge = do.edge(do.end_by_all(first, last, right), n_k, block_k)
    return do.finish(*do.none_whole(start, whole, edge, end), block_k)


def _limits(left, right):
    return NONE if left is None else left, NONE if right is None else right


def _down(position, size):
    return position // size * size


def _up(position, size):
    return -(-position // size) * size


def _from_below(key, size):
    return _down(key if abs(key) < NONE // 2 else 0, size)


def _n_k_for_no_limit(first, last, n_k, size, left, right):
    left, right = n_k if left is None else left, n_k if right is None else right
    return _none_whole(_down(first - left, size), _up(last - left, size), _down(min(n_k, first + right + 1), size),
                       min(n_k, last + right + 1))


def _none_whole(start, whole, edge, end):
    return (start, whole, edge, end) if whole < edge else (start, start, start, end)


def _no_limit(left=NONE, right=NONE):
    return {"limits": lambda own_left, own_right: (
        left if own_left is None else own_left, right if own_right is None else own_right)}


WHICH_QUERY = "In a block of queries 4 to 7 that see 2 keys back and none ahead: which keys does query 4 see, and which query 7?"
WHICH_CUT = "With blocks of 4 keys, in which block does key 6 lie, and where does that block begin?"

KEY_RANGES_MISTAKES = (
    Mistake("some and every mixed up",
            change={"first_seen": lambda first, last, left: last - left, "end_seen": lambda first, last, right: first + right + 1,
                    "first_by_all": lambda first, last, left: first - left,
                    "end_by_all": lambda first, last, right: last + right + 1},
            does="Start and end are taken from what every query sees, and whole and edge from what some query sees.",
            why="A key that one query sees has to be read; a block is whole if no query of the block needs a mask in it.",
            ask=WHICH_QUERY),
    *alike("What some query sees begins with the first query's first key, and ends with the last query's last one.",
           WHICH_QUERY,
           ("start from the last query", {"first_seen": lambda first, last, left: last - left},
            "The range starts where the last query's keys start: what the first query sees before that is not read."),
           ("end from the first query", {"end_seen": lambda first, last, right: first + right + 1},
            "The range ends where the first query's keys end: the other queries miss keys.")),
    *alike("What every query sees begins with the last query's first key, and ends with the first query's last one.",
           WHICH_QUERY,
           ("whole from the first query", {"first_by_all": lambda first, last, left: first - left},
            "Blocks count as whole from the first query's first key on; later queries do not see all of that."),
           ("edge from the last query", {"end_by_all": lambda first, last, right: last + right + 1},
            "Blocks count as whole up to the last query's last key; earlier queries do not see all of that."),
           ("all that is read taken for whole", ways(
               "finish", lambda start, whole, edge, end, size: (start, start, end, end),
               lambda start, whole, edge, end, size: (start, start, _down(end, size), end),
               lambda start, whole, edge, end, size: (start, start, _up(end, size), end)),
            "Whole is the start and edge is the end, as if every query saw what some query sees."),
           ("no masked part at the left", {"finish": lambda start, whole, edge, end, size: (start, start, edge, end)},
            "Whole is always the start. With a limit to the left the last query does not see the first of these keys.")),
    *alike("Query i sees the keys i - left to i + right, both of them included. The end of a range is one beyond its last key.",
           "Which is the last key that query 3 sees under a causal mask, and which number comes after it?",
           ("last key left out", ({"end_seen": lambda first, last, right: last + right,
                                   "end_by_all": lambda first, last, right: first + right},
                                  {"end_seen": lambda first, last, right: last + right},
                                  {"end_by_all": lambda first, last, right: first + right},
                                  # the last key is kept below n_k, not the end
                                  {"end": lambda key, n_k, size: min(n_k, key) - 1,
                                   "edge": lambda key, n_k, size: _down(min(n_k, key) - 1, size)},
                                  {"end": lambda key, n_k, size: min(n_k, key) - 1},
                                  {"edge": lambda key, n_k, size: _down(min(n_k, key) - 1, size)}),
            "A range ends with the last key that is seen, and not after it."),
           ("one key too many at the end", ({"end_seen": lambda first, last, right: last + right + 2,
                                             "end_by_all": lambda first, last, right: first + right + 2},
                                            {"end_seen": lambda first, last, right: last + right + 2},
                                            {"end_by_all": lambda first, last, right: first + right + 2}),
            "A range ends two beyond the last key that is seen."),
           ("first key left out", ({"first_seen": lambda first, last, left: first - left + 1,
                                    "first_by_all": lambda first, last, left: last - left + 1},
                                   {"first_seen": lambda first, last, left: first - left + 1},
                                   {"first_by_all": lambda first, last, left: last - left + 1}),
            "A range starts after the first key that is seen.")),
    *alike("Blocks of keys begin at multiples of block_k. The loop over them starts at the one that holds the first key; "
           "a block that is whole has to lie in its range altogether.",
           WHICH_CUT,
           ("start not rounded", ways("start", lambda key, size: max(0, key)),
            "The start is the first key that is seen, and not where its block begins."),
           ("start rounded up", ways("start", lambda key, size: _up(max(0, key), size)),
            "The start is the next block after the first key that is seen: keys before it are not read."),
           ("whole rounded down", ways("whole", lambda key, size: _down(max(0, key), size)),
            "The block in which the last query's keys begin counts as whole, though some queries see only a part of it."),
           ("edge rounded up", ways("edge", lambda key, n_k, size: _up(min(n_k, key), size),
                                    lambda key, n_k, size: min(n_k, _up(key, size))),
            "The block in which the first query's keys end counts as whole."),
           ("whole and edge not rounded", {"whole": lambda key, size: max(0, key), "edge": lambda key, n_k, size: min(n_k, key)},
            "Whole and edge are the first and last key that all queries see, and not where blocks begin."),
           ("end rounded up", ways("end", lambda key, n_k, size: _up(min(n_k, key), size),
                                   lambda key, n_k, size: min(n_k, _up(key, size))),
            "The end is where the last block ends, and not where the last query's keys do."),
           ("end rounded down", ways("end", lambda key, n_k, size: _down(min(n_k, key), size)),
            "The end is where the last block begins that is needed in part: its keys are not read.")),
    *alike("There are keys 0 to n_k - 1 and no others, wherever a query's window reaches.",
           "Which keys does query 1 see with left = 3, and which the last one with right = 3?",
           ("start below 0", ({"start": _from_below}, {"start": _from_below, "whole": lambda key, size: -_from_below(-key, size)},
                              {"answer": _n_k_for_no_limit}),
            "The start is negative where the window reaches back beyond the first key."),
           ("end beyond the keys", ways("end", lambda key, n_k, size: key if key < NONE else n_k),
            "The end is larger than n_k where the window reaches beyond the last key."),
           ("edge beyond the keys", ways("edge", lambda key, n_k, size: _down(key if key < NONE else n_k, size)),
            "Blocks count as whole beyond the last key."),
           ("shorter last block taken for whole", ways(
               "edge", lambda key, n_k, size: n_k if key >= n_k else _down(key, size),
               lambda key, n_k, size: _up(n_k, size) if key >= n_k else _down(key, size)),
            "The last block counts as whole though it has fewer keys than block_k: beyond n_k it needs a mask.")),
    *alike("None is no limit on that side; 0 is the narrowest limit.",
           "Which keys does a query see with left = None, and which with left = 0?",
           ("no left limit taken for 0", _no_limit(left=0), "With left = None a query is taken to see nothing before its own key."),
           ("no right limit taken for 0", _no_limit(right=0), "With right = None a query is taken to see nothing after its own key."),
           ("both missing limits taken for 0", _no_limit(0, 0), "A limit of None is taken for 0 on both sides."),
           ("a limit of 0 taken for none", (
               {"limits": lambda left, right: (left or NONE, right or NONE)},
               {"limits": lambda left, right: (left or NONE, NONE if right is None else right)},
               {"limits": lambda left, right: (NONE if left is None else left, right or NONE)}),
            "Where left is 0 (say in `left or n`), or right is, the answer is the one without a limit.")),
    *alike("left counts the keys before a query's own position, and right those after it.",
           "Which of the two is 0 under a causal mask?",
           ("left and right swapped", {"limits": lambda left, right: _limits(right, left)},
            "Keys before a query are counted with right, and keys after it with left."),
           ("left limit ignored", {"limits": lambda left, right: (NONE, _limits(left, right)[1])},
            "The keys are read from the first one on, whatever left says."),
           ("right limit ignored", {"limits": lambda left, right: (_limits(left, right)[0], NONE)},
            "The keys are read up to the last one, whatever right says."),
           ("causal whatever the limits", {"limits": lambda left, right: (NONE, 0)},
            "The answer is the one of a causal mask, whatever left and right say.")),
    *alike("Where no block is whole, whole and edge are both the start: the first loop and the second have nothing to do, and "
           "the third reads all.",
           "Which of your four numbers are equal for one block of queries and one block of keys on the diagonal?",
           ("crossed where no block is whole", ways("none_whole", lambda *four: four),
            "Where no block is whole, whole comes out larger than edge, and blocks between them would be read twice."),
           ("another place where no block is whole", ways(
               "none_whole", *(lambda start, whole, edge, end, of=of: (
                   start, *((whole, edge) if whole < edge else (of(start, whole, edge, end),) * 2), end)
                   for of in (lambda *four: four[1], lambda *four: four[2], lambda *four: four[3],
                              lambda *four: max(four[0], four[2])))),
            "Where no block is whole, whole and edge are equal, but are not the start.")),
    *alike("Four positions of keys are asked for: a loop goes over range(start, whole, block_k).",
           "What is the second of the four for queries 4 to 7, blocks of 2 keys and a window of 3 keys to the left?",
           ("numbers of blocks instead of positions", ways(
               "finish", *(lambda start, whole, edge, end, size, last=last: (start // size, whole // size, edge // size,
                                                                             last(end, size))
                           for last in (lambda end, size: -(-end // size), lambda end, size: end // size,
                                        lambda end, size: end))),
            "Blocks are counted, where positions of keys are asked for."),
           ("lengths instead of positions", ways(
               "finish", lambda start, whole, edge, end, size: (start, whole - start, edge - whole, end - edge)),
            "The answer says how many keys each part has, and not where it begins.")),
)


def _cases():
    aligned = number_cases((4, 7, 12, 2, None, 0), (4, 7, 12, 4, None, 0), (0, 3, 8, 2, None, None), (32, 47, 100, 16, 20, 0),
                            (64, 127, 512, 32, None, 0), (64, 127, 512, 32, 100, 0), (10, 14, 40, 4, 9, 11), (256, 319, 1000, 64, 200, 200),
                            (12, 15, 37, 3, 7, None), (20, 23, 64, 4, None, 9), (33, 38, 90, 7, 24, 15), (5, 5, 30, 2, 3, 6),
                            (40, 55, 80, 8, 0, None), (9, 17, 60, 5, 13, 21), (300, 331, 400, 16, 77, 50))
    return [*aligned,
            *(Case("a window that reaches beyond the keys", args) for args in (
                (0, 3, 20, 4, 5, 5), (1, 2, 9, 2, 3, 4), (28, 31, 32, 4, 3, 6), (12, 15, 18, 4, 2, 9), (2, 6, 25, 5, 30, 40))),
            *(Case("a shorter last block", args) for args in ((8, 10, 11, 4, None, 0), (0, 4, 7, 3, None, None), (30, 33, 38, 8, 12, None),
                                                              (16, 31, 35, 16, None, 2))),
            *(Case("no whole block", args) for args in ((0, 3, 4, 4, None, 0), (6, 9, 40, 8, 1, 1), (8, 15, 16, 16, None, 0), (37, 41, 64, 8, 3, 2),
                                                        (17, 30, 50, 4, 2, 1), (21, 22, 70, 6, 1, 0))),
            *(Case("one query", args) for args in ((5, 5, 8, 2, None, 0), (6, 6, 20, 3, 4, 0)))]


EXERCISE = Exercise(
    name="key_ranges", signature="(first, last, n_k, block_k, left, right)", place=3, outputs=("start", "whole", "edge", "end"),
    text="For a block of the queries first to last, where query i sees the keys i - left to i + right (None: no limit), and "
         "keys in blocks of block_k: where its keys start, from where to where all queries see whole blocks, and where its "
         "keys end. Some query sees a key.",
    answer=key_ranges_answer,
    steps={
        "limits": _limits,
        "first_seen": Step(lambda first, last, left: first - left, "the first key that some query sees", True),
        "end_seen": Step(lambda first, last, right: last + right + 1, "the end of what some query sees", True),
        "first_by_all": Step(lambda first, last, left: last - left, "the first key that every query sees", True),
        "end_by_all": Step(lambda first, last, right: first + right + 1, "the end of what every query sees", True),
        "start": lambda key, size: _down(max(0, key), size),
        "end": lambda key, n_k, size: min(n_k, key),
        "whole": lambda key, size: _up(max(0, key), size),
        "edge": lambda key, n_k, size: _down(min(n_k, key), size),
        "none_whole": _none_whole,
        "finish": lambda start, whole, edge, end, size: (start, whole, edge, end),
    },
    cases=_cases, dtype="number",
    hints=(
        "Draw the queries 4 to 7 with left = 5 and right = 0, and blocks of 2 keys. Tick the keys that some query sees; then "
        "those that all of them see.",
        "Some query sees the keys from first - left up to last + right, and all of them those from last - left up to "
        "first + right. Keep both inside of 0 and n_k.",
        "Round the first start down to a multiple of block_k, and leave its end as it is. Round the second start up and its end "
        "(one beyond the last key) down. If that leaves nothing between the two, return the start for both.",
    ),
    mistakes=KEY_RANGES_MISTAKES,
)
