"""Answers to numerical_gradient, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("numerical_gradient")


def slope(function, x, step, at):
    """The quotient for these entries, moved on copies."""
    up, down = x.copy(), x.copy()
    up[at] += step
    down[at] -= step
    return (function(up) - function(down)) / (2 * step)


@answers.right()
def gradient_by_copies(function, x, step):
    grad = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        grad[at] = slope(function, x, step, at)
    return grad


@answers.right()
def gradient_by_unit_vectors(function, x, step):
    found = []
    for e in np.eye(x.size):
        e = e.reshape(x.shape)
        found.append((function(x + step * e) - function(x - step * e)) / (2 * step))
    return np.array(found).reshape(x.shape)


def entrywise(quotient):
    def gradient(function, x, step):
        grad = np.zeros(x.shape)
        for at in np.ndindex(*x.shape):
            e = np.zeros(x.shape)
            e[at] = 1.0
            grad[at] = quotient(function, x, step, e)
        return grad

    return gradient


answers.wrong(
    "forward difference", function=entrywise(lambda f, x, h, e: (f(x + h * e) - f(x)) / h)
)
answers.wrong(
    "divided by step instead of 2 step",
    function=entrywise(lambda f, x, h, e: (f(x + h * e) - f(x - h * e)) / h),
)
answers.wrong(
    "multiplied by the step",
    function=entrywise(lambda f, x, h, e: (f(x + h * e) - f(x - h * e)) / 2 * h),
)
answers.wrong(
    "sign flipped", function=entrywise(lambda f, x, h, e: (f(x - h * e) - f(x + h * e)) / (2 * h))
)
answers.wrong(
    "its own step size",
    function=entrywise(lambda f, x, h, e: (f(x + 1e-5 * e) - f(x - 1e-5 * e)) / 2e-5),
)
answers.wrong(
    "sum of the gradient in every entry",
    function=lambda function, x, step: (
        np.ones(x.shape) * (function(x + step) - function(x - step)) / (2 * step)
    ),
)
answers.wrong(
    "backward difference",
    "sign flipped",
    function=entrywise(lambda f, x, h, e: (f(x - h * e) - f(x)) / h),
)


@answers.wrong("x changed in between")
def gradient_in_place(function, x, step):
    grad = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        kept = float(x[at])
        x[at] = kept + step
        up = function(x)
        x[at] = kept - step
        grad[at] = (up - function(x)) / (2 * step)
        x[at] = kept
    return grad


@answers.right()
def gradient_on_one_copy(function, x, step):
    return gradient_in_place(function, x.copy(), step)


@answers.wrong("entry not moved back")
def gradient_that_forgets(function, x, step):
    work, grad = x.copy(), np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        work[at] += step
        up = function(work)
        work[at] -= 2 * step
        grad[at] = (up - function(work)) / (2 * step)
    return grad


@answers.wrong("entry not moved back")
def gradient_on_two_copies(function, x, step):
    grad, up, down = np.zeros(x.shape), x.copy(), x.copy()
    for at in np.ndindex(*x.shape):
        up[at] += step
        down[at] -= step
        grad[at] = (function(up) - function(down)) / (2 * step)
    return grad


@answers.wrong("a row moved at once")
def gradient_along_the_first_axis(function, x, step):
    grad = np.zeros(x.shape)
    for i in range(len(x)):
        grad[i] = slope(function, x, step, i)
    return grad


@answers.wrong("only the first entry")
def gradient_returned_too_early(function, x, step):
    grad = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        grad[at] = slope(function, x, step, at)
        return grad


answers.wrong(
    "only one value divided",
    function=entrywise(lambda f, x, h, e: f(x + h * e) - f(x - h * e) / (2 * h)),
)


@answers.right()
def gradient_of_all_points(function, x, step):
    points = x.ravel() + step * np.concatenate([np.eye(x.size), -np.eye(x.size)])
    up, down = np.split(np.array([function(point.reshape(x.shape)) for point in points]), 2)
    return ((up - down) / (2 * step)).reshape(x.shape)


@answers.wrong("gradient flattened", "sign flipped")
def gradient_in_a_list(function, x, step):
    entries = []
    for at in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        entries.append((function(down) - function(up)) / (2 * step))
    return np.array(entries)


@answers.wrong("a row moved at once", "backward difference")
def gradient_of_rows(function, x, step):
    grad = np.zeros(x.shape)
    for i in range(len(x)):
        down = x.copy()
        down[i] -= step
        grad[i] = (function(x) - function(down)) / step
    return grad


@answers.wrong("second difference")
def gradient_of_the_slope(function, x, step):
    grad = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        grad[at] = (function(up) - 2 * function(x) + function(down)) / step**2
    return grad


@answers.wrong("extrapolated")
def gradient_of_two_steps(function, x, step):
    def central(at, size):
        move = np.zeros(x.shape)
        move[at] = size
        return (function(x + move) - function(x - move)) / (2 * size)

    grad = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        grad[at] = (4 * central(at, step / 2) - central(at, step)) / 3
    return grad


@answers.wrong("moved from 0")
def gradient_at_zero(function, x, step):
    grad = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        move = np.zeros(x.shape)
        move[at] = step
        grad[at] = (function(move) - function(-move)) / (2 * step)
    return grad


@answers.wrong("sum of the gradient in every entry")
def added_to_all_entries(function, x, step):
    grad = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        grad += (function(up) - function(down)) / (2 * step)
    return grad


@answers.wrong("both values at the same point")
def down_is_up(function, x, step):
    grad = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        up = x.copy()
        down = up
        up[at] += step
        down[at] -= step
        grad[at] = (function(up) - function(down)) / (2 * step)
    return grad


@answers.wrong("half a forward difference")
def gradient_of_one_array(function, x, step):
    grad = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        up = x.copy()
        down = up
        up[index] += step
        f_up = function(up)
        down[index] -= step
        f_down = function(down)
        grad[index] = (f_up - f_down) / (2 * step)
    return grad


@answers.wrong("half a forward difference")
def gradient_without_a_step_down(function, x, step):
    grad = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        up, down = x.copy(), x
        up[index] += step
        grad[index] = (function(up) - function(down)) / (2 * step)
    return grad


@answers.wrong("step relative to the entry")
def relative_step(function, x, step):
    grad = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        h = step * max(1.0, abs(x[at]))
        up, down = x.copy(), x.copy()
        up[at] += h
        down[at] -= h
        grad[at] = (function(up) - function(down)) / (2 * h)
    return grad


@answers.wrong("set to the step")
def entry_replaced(function, x, step):
    grad = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[at], down[at] = step, -step
        grad[at] = (function(up) - function(down)) / (2 * step)
    return grad


@answers.wrong("x changed in between")
def moved_in_place_and_back(function, x, step):
    grad = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        x[i] += step
        up = function(x)
        x[i] -= 2 * step
        down = function(x)
        x[i] += step
        grad[i] = (up - down) / (2 * step)
    return grad


@answers.wrong("x restored only approximately")
def copied_while_it_is_moved(function, x, step):
    grad = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        x[i] += step
        up = x.copy()
        x[i] -= 2 * step
        down = x.copy()
        x[i] += step
        grad[i] = (function(up) - function(down)) / (2 * step)
    return grad


@answers.wrong("forward difference", "x changed in between")
def second_name_for_x(function, x, step):
    grad = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        before = function(x)
        up = x
        up[i] += step
        grad[i] = (function(up) - before) / step
        up[i] -= step
    return grad


@answers.wrong("argument overwritten", "both values at the same point")
def second_name_for_x_that_stays_moved(function, x, step):
    grad = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        up = x
        up[i] += step
        grad[i] = (function(up) - function(x)) / step
    return grad


@answers.wrong("entry not moved back", "argument overwritten")
def walk_along_the_entries(function, x, step):
    grad = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        before = function(x)
        x[i] += step
        grad[i] = (function(x) - before) / step
    return grad
