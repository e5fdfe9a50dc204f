"""Mistakes that every exercise shares: found beside the values, and named with any other."""

from ..model import FLOAT16, FLOAT32, LEADING, SQUARE, Mistake


# how a dtype gets wider, and what to ask
WIDENS = {
    "numpy": ("What was widened to be computed stays wide until it is brought back. And NumPy 2 widens an array when it "
              "meets a NumPy scalar or array of a wider dtype, such as np.sqrt(7) or np.zeros(n); a Python number such as "
              "math.sqrt(7) leaves it as it is.",
              "Which number or array in your function has a dtype of its own?"),
    "torch": ("torch.empty and its kin are float32 if nothing is said, and what was widened to be computed stays wide: the "
              "answer has to be brought back to the input's dtype.",
              "Which dtype has the tensor that you return, and where did it get it?"),
}


def leaks(dtype, library="numpy"):
    how, ask = WIDENS[library]
    return Mistake(
        f"{dtype} leaks out",
        does=f"The answer is {dtype} where a narrower dtype is asked for.",
        why=f"A wider answer doubles the memory of everything after it. {how}",
        ask=ask)


def narrower(dtype, want):
    return Mistake(
        "narrower dtype",
        does=f"The answer is {dtype} where {want} is asked for.",
        why=f"Digits that {want} holds are lost.",
        ask="Which line of yours fixes a dtype, and which one is asked for?")


def fixed_dtype(dtype):
    return Mistake(
        "narrower dtype",
        does=f"The answer is {dtype} whatever the input is.",
        why="A float64 input loses digits, and a float16 one becomes twice as large.",
        ask="Where does your function fix a dtype instead of taking the input's?")


def integer(dtype, want):
    return Mistake(
        "integer dtype",
        does=f"The answer is {dtype}: fractions are cut off or cannot be stored.",
        why=f"What is asked for is {want}, which holds fractions.",
        ask="Which array did you create, and which dtype did it get?")


def not_boolean(dtype):
    return Mistake(
        "not boolean",
        does=f"The mask holds 0 and 1 as {dtype}, not True and False.",
        why="A mask of numbers is added to the scores or used as indices; only a boolean one "
            "selects, and ~mask is its opposite.",
        ask="Which expression gives True and False directly?")


AXIS_KEPT = Mistake(
    "axis kept",
    does="The values are right, but the answer has an axis of length 1 too many.",
    why="An axis of length 1 broadcasts later, where nobody expects it.",
    ask="Which of your lines adds an axis of length 1, or keeps one that should go?")

AXIS_DROPPED = Mistake(
    "axis dropped",
    does="The values are right, but an axis of length 1 is missing from the answer.",
    why="Without it the answer no longer lines up with the arrays it is used with.",
    ask="Which axes should the answer have, and which of them has length 1?")

LIST = Mistake(
    "list instead of an array",
    does="The values are right, but they come in a list or tuple of Python numbers.",
    why="A list has no shape, no dtype and no arithmetic.",
    ask="Which NumPy function makes an array of it?")

MATRIX = Mistake(
    "np.matrix instead of an array",
    does="The answer is an np.matrix.",
    why="An np.matrix always has two axes, its * is a matrix product, and NumPy keeps it for old code only.",
    ask="Which line makes a matrix, and what would an array do there?")

TRAILING_COMMA = Mistake(
    "trailing comma",
    does="The answer comes in a tuple of its own.",
    why="In Python a comma makes a tuple, also at the end of a return line: return x, is return (x,).",
    ask="What stands at the very end of your return line?")

IN_A_LIST = Mistake(
    "list around the answer",
    does="The answer comes in a list of its own.",
    why="Square brackets make a list; round ones, or none, return the value itself.",
    ask="Which brackets stand around what you return?")

TENSOR = Mistake(
    "torch tensor instead of an array",
    does="The answer is a torch tensor.",
    why="The input is a NumPy array, and the answer must be of the same kind.",
    ask="Which library made your result?")

ARRAY = Mistake(
    "NumPy array instead of a tensor",
    does="The answer is a NumPy array.",
    why="The input is a torch tensor, and the answer must be of the same kind and on its device.",
    ask="Where does your function leave torch?")

DEVICE = Mistake(
    "other device",
    does="The answer is on another device than the input.",
    why="A tensor that changes its device forces a copy, and fails in the next operation.",
    ask="Which tensor did you create without saying on which device?")

EXTRA = Mistake(
    "extra value returned",
    does="The answer comes together with something else.",
    why="Who calls the function expects the answer alone.",
    ask="What stands behind your return?")

NOT_ADDED = Mistake(
    "parts not added",
    does="The answer comes in parts: their sum is the number that is asked for.",
    why="Who calls the function expects one number.",
    ask="Which sign makes one number of these parts?")

OVERWRITTEN = Mistake(
    "argument overwritten",
    does="The function changes the array that it was given.",
    why="The caller's array is changed with it, without anybody noticing: +=, *=, out= and "
        "assignments to x[...] write into the argument itself.",
    ask="Which line writes into an array that it did not make?")

LIST_CHANGED = Mistake(
    "list overwritten",
    does="A list that the function was given has other arrays in it afterwards, or as many in another order.",
    why="The caller's list is changed with it, without anybody noticing: pop, append, insert and assignments to x[i] write "
        "into the argument itself.",
    ask="Which line writes into a list that it did not make?")

RAISES = Mistake(
    "floating-point errors raised",
    does="The function has NumPy raise an exception at floating-point errors, by np.errstate or np.seterr. It was "
         "tried without.",
    why="A power that underflows to 0 is as it should be, and ends the function all the same; and where a machine "
        "keeps no floating-point flags, as in a browser, NumPy raises nothing.",
    ask="What should your function return where NumPy would raise, and which line says so?")

RANDOM = Mistake(
    "another answer each time",
    does="Called twice with the same input, the function gives two different answers.",
    why="The answer must depend on the arguments alone.",
    ask="Does the function draw random numbers, or keep something from the call before?")

ONE_BUFFER = Mistake(
    "one array for all answers",
    does="Every call returns the same array, filled anew: the next call changes the answer of the one before.",
    why="Who calls the function twice keeps two answers, and would find the second one in both places.",
    ask="Where is the array made that you return, and how often?")

PARTS_MISSING = Mistake(
    "parts missing",
    does="The answer has fewer parts than it should.",
    why="Who calls the function unpacks all of them, in the order of the signature.",
    ask="Which arrays must stand behind your return?")

NO_LIST = Mistake(
    "one array instead of a list",
    does="The function gives back one array, and not a list of arrays.",
    why="The parts may differ in length, so that they do not fit into one array: each has an array of its own in the list.",
    ask="How many arrays should the answer hold, and what is the shape of each?")

ENTRIES_MISSING = Mistake(
    "entries missing",
    does="The list has fewer entries than there are parts.",
    why="Each part has an answer of its own, and it stands in the list where the part stands in the arguments.",
    ask="How many entries must the list have, and which line puts them there?")

NO_RETURN = Mistake(
    "no return",
    does="The function works, and then gives back None.",
    why="Without return a function's result is None, whatever it has computed.",
    ask="What is the last line of your function?")

PRINTED = Mistake(
    "printed instead of returned",
    does="The function prints, and gives back None.",
    why="print shows a value to a reader; only return hands it to the program.",
    ask="What is the last line of your function?")

IMPRECISE = Mistake(
    "computed in lower precision",
    does="The answer is right to about 7 digits, and float64 has 16.",
    why="A step in float32 loses the digits for good, even if the result is widened again.",
    ask="Where does your function fix a dtype instead of taking the input's?")

INEXACT = Mistake(
    "right to some digits only",
    does="The answer is right to about 7 digits, and float64 has 16.",
    why="Something small is added, rounded or approximated on the way: an epsilon, a constant with few digits, a "
        "difference quotient, or a step in a narrower dtype.",
    ask="Which number or step of your function is not exact?")

READ_TWICE = Mistake(
    "iterable read twice",
    does="The function goes through its iterable a second time, and finds it empty.",
    why="An iterator gives each block once; a stream cannot be wound back.",
    ask="What must be known about the blocks before, when a block comes?")

PARAMETER_ORDER = Mistake(
    "parameters in another order",
    does="Called with names, the function is right; called by position, it takes one argument for "
         "another.",
    why="The signature says in which order the arguments come, and they are handed over by position.",
    ask="In which order do the parameters stand in the exercise's signature?")

RENAMED = Mistake(
    "optional parameter renamed",
    does="The function works by position, and cannot be called with the signature's name, as in axis=0.",
    why="A parameter with a default is usually given by its name; NumPy's own functions call it axis, torch's dim.",
    ask="What is the last parameter called in the exercise's signature, and in yours?")

NO_DEFAULT = Mistake(
    "no default",
    does="The function cannot be called without its last argument.",
    why="The signature gives that parameter a default: what stands behind the = is taken when nothing is given.",
    ask="How does the exercise's signature write its last parameter?")

NO_AXIS = Mistake(
    "axis missing",
    does="The function cannot be called with an axis.",
    why="The signature has a second parameter that says along which axis to work.",
    ask="Which numbers in your function stand for the axis?")

TWO_AXES = Mistake(
    "only for two axes",
    does="The function is right for two axes, and not with leading (batch, head) axes.",
    why="Attention is applied to whole batches of heads at once: the last two axes are the "
        "matrix, all others come along.",
    ask="Which of your lines count the axes from the front, or expect exactly two?")

THREE_AXES = Mistake(
    "only for three axes",
    does="The function is right for arrays with three axes, and not for two or four.",
    why="There may be any number of leading (batch, head) axes, also none: the last two are the matrix.",
    ask="Which of your lines count the axes from the front, or expect exactly three?")

ONLY_SQUARE = Mistake(
    "only for equal sizes",
    does="The function is right where the sizes are equal, and not elsewhere.",
    why="Sizes that are equal in one input are different numbers in another.",
    ask="Which size did you take for another one?")


def only_where(condition):
    """Right for some sizes only."""
    return Mistake(
        f"only for {condition}",
        does=f"The function is right for {condition}, and nowhere else.",
        why="It has to be right for any sizes that the signature allows.",
        ask="Which of your lines takes for granted that sizes are equal, or divide each other?")


ASPECTS = {LEADING: TWO_AXES, FLOAT32: None, FLOAT16: None, SQUARE: None}
