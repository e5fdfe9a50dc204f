"""What arguments must be: errors raised before any work is done.

The checks read only .shape, .ndim, .dtype, .device and .layout, so the same lines
serve NumPy arrays and torch tensors. Each sentence names the argument, states the rule
and says what came.
"""

import math
import numbers
import sys

import numpy as np

FLOATS = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
)  # NumPy has bfloat16 from the package ml_dtypes
LARGEST_COUNT = 2**62  # a position and a count, added in int64, never wrap around
LARGEST_MASK = 2**40  # entries, a byte each: 1 TiB


def kind_of(name, array):
    """ "numpy" or "torch"; torch is looked up, never imported."""
    if isinstance(array, np.ndarray):
        check_plain_array(name, array)
        return "numpy"
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        check_plain_tensor(name, array)
        return "torch"
    raise TypeError(f"{name} must be a NumPy array or a torch tensor; got {type(array).__name__}")


def check_plain_array(name, array):
    """Refuses a masked array, whose mask would be lost, and a matrix, whose products mean something
    else."""
    masked = sys.modules.get("numpy.ma")
    if isinstance(array, np.matrix):
        raise TypeError(
            f"{name} must be a plain NumPy array (np.asarray makes one of a matrix); got matrix"
        )
    if masked is not None and isinstance(array, masked.MaskedArray):
        raise TypeError(
            f"{name} must be a plain NumPy array: a masked array's mask would be lost (attn_mask"
            f" hides keys, and filled() gives a plain array); got {type(array).__name__}"
        )


def check_plain_tensor(name, tensor):
    """One number after another in memory: not sparse, nested or masked."""
    unlike = type(tensor).__name__ if type(tensor).__name__ == "MaskedTensor" else None
    unlike = "a nested tensor" if tensor.is_nested else unlike
    unlike = str(tensor.layout) if str(tensor.layout) != "torch.strided" else unlike
    if unlike:
        raise TypeError(
            f"{name} must be a dense torch tensor (torch.strided; to_dense() makes one of a sparse"
            f" tensor); got {unlike}"
        )


def dtype_name(array):
    """float32, bool, ...; another machine's byte order stays visible, as in ">f4"."""
    return str(array.dtype).removeprefix("torch.")


def check_arrays(min_ndim=2, **arrays):
    """One kind, one floating dtype and one device for all of them; returns the kind."""
    first, lead = next(iter(arrays.items()))
    kinds = {name: kind_of(name, array) for name, array in arrays.items()}
    for name, array in arrays.items():
        check_same_kind(first, kinds[first], name, kinds[name])
        if dtype_name(array) not in FLOATS:
            raise TypeError(
                f"{name} must have a floating dtype ({', '.join(FLOATS)}); got {dtype_name(array)}"
            )
        if array.dtype != lead.dtype:
            raise TypeError(
                f"{first} and {name} must have the same dtype; "
                f"got {dtype_name(lead)} and {dtype_name(array)}"
            )
        check_same_device(first, lead, name, array)
        if array.ndim < min_ndim:
            axes = "axis" if min_ndim == 1 else "axes"
            raise ValueError(
                f"{name} must have at least {min_ndim} {axes}; got shape {tuple(array.shape)}"
            )
    return kinds[first]


def check_same_kind(first, first_kind, name, kind):
    if kind != first_kind:
        raise TypeError(
            f"{first} and {name} must both be NumPy arrays or both torch tensors; "
            f"got {first_kind} and {kind} (torch.from_numpy turns an array into a tensor)"
        )


def check_same_device(first, lead, name, array):
    devices = getattr(lead, "device", None), getattr(array, "device", None)
    if devices[0] != devices[1]:
        raise ValueError(
            f"{first} and {name} must be on the same device; got {devices[0]} and {devices[1]}"
        )


def check_window(window):
    """None, or the pair of what window_mask takes as left and right."""
    if window is None:
        return
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        got = (
            f"{len(window)} numbers" if isinstance(window, (tuple, list)) else type(window).__name__
        )
        raise TypeError(
            "window must be None or a pair (left, right), how many keys before and after its own"
            f" position a query sees; got {got}"
        )
    for name, count in zip(("left", "right"), window):
        if count is not None:
            check_count(f"{name} of window (None for all keys)", count)


def check_axis(axis, ndim):
    if isinstance(axis, bool) or not isinstance(axis, numbers.Integral):
        raise TypeError(f"axis must be one whole number; got {axis!r}")
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"axis must be from {-ndim} to {ndim - 1} for an array of {ndim} axes; got {axis}"
        )


def check_equal_d_k(query, key):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "query and key must have the same last axis (d_k); "
            f"got {query.shape[-1]} and {key.shape[-1]}"
        )
    if query.shape[-1] == 0:
        raise ValueError("query and key must have at least one feature (d_k >= 1); got 0")


def check_equal_n_k(first, n_first, second, n_second):
    if n_first != n_second:
        raise ValueError(
            f"{first} and {second} must have as many positions (n_k); got {n_first} and {n_second}"
        )


def check_leading_axes(**leading):
    """The shape that the axes before the last two, given by name, broadcast to."""
    leading = {name: tuple(shape) for name, shape in leading.items()}
    try:
        return np.broadcast_shapes(*leading.values())
    except ValueError:
        got = ", ".join(f"{name} {shape}" for name, shape in leading.items())
        raise ValueError(
            f"the leading axes (all but the last two) must broadcast; got {got}"
            + head_advice(*leading.values())
        ) from None


def head_advice(*leading):
    if any(len(shape) == 0 for shape in leading):
        return ""
    h, *others = [shape[-1] for shape in leading]
    if any(h_kv not in (0, 1, h) and h % h_kv == 0 for h_kv in others):
        return " (enable_gqa=True lets several query heads share a key head)"
    return ""


def check_grouped_heads(query, **others):
    """The number of query heads, h, is a multiple of each of the others' h_kv; axis -3 counts
    heads."""
    for name, array in {"query": query, **others}.items():
        if array.ndim < 3:
            raise ValueError(
                f"with enable_gqa=True {name} must have a heads axis: at least 3 axes; "
                f"got shape {tuple(array.shape)}"
            )
    h = query.shape[-3]
    for name, array in others.items():
        h_kv = array.shape[-3]
        if h != h_kv and (h_kv == 0 or h % h_kv):
            raise ValueError(
                "with enable_gqa=True the heads of query must be a multiple of the heads of"
                f" {name}; got {h} and {h_kv}"
            )


def check_attention(query, key, value, enable_gqa):
    """Kinds, dtypes and sizes that fit; returns the kind and the shape of the scores."""
    kind = check_arrays(query=query, key=key, value=value)
    check_equal_d_k(query, key)
    check_equal_n_k("key", key.shape[-2], "value", value.shape[-2])
    leading = {"query": query.shape[:-2], "key": key.shape[:-2], "value": value.shape[:-2]}
    if enable_gqa:
        check_grouped_heads(query, key=key, value=value)
        for name in ("key", "value"):  # repeated heads fit those of query
            leading[name] = (*leading[name][:-1], query.shape[-3])
    batch = check_leading_axes(**leading)
    return kind, (*batch, query.shape[-2], key.shape[-2])


def check_mask(attn_mask, like, name, shape):
    """Boolean or of the dtype of `like` (the argument called `name`), broadcasting to `shape`."""
    check_same_kind(name, kind_of(name, like), "attn_mask", kind_of("attn_mask", attn_mask))
    if dtype_name(attn_mask) != "bool" and attn_mask.dtype != like.dtype:
        raise TypeError(
            "attn_mask must be boolean (True = may attend) or of the dtype of "
            f"{name} ({dtype_name(like)}); got {dtype_name(attn_mask)}"
        )
    check_same_device(name, like, "attn_mask", attn_mask)
    try:
        fits = np.broadcast_shapes(tuple(attn_mask.shape), shape) == tuple(shape)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"attn_mask must broadcast to the shape of the scores, {tuple(shape)}; "
            f"got {tuple(attn_mask.shape)}"
        )


def check_grad_output(grad_output, query, value, scores_shape):
    expected = (*scores_shape[:-1], value.shape[-1])
    check_arrays(query=query, grad_output=grad_output)
    if tuple(grad_output.shape) != expected:
        raise ValueError(
            f"grad_output must have the shape of the output, {expected}; "
            f"got {tuple(grad_output.shape)}"
        )


def check_partials(out_a, lse_a, out_b, lse_b):
    """Two outputs alike, two log-sum-exps alike: one number for each row; returns the kind."""
    kind = check_arrays(out_a=out_a, out_b=out_b)
    check_arrays(min_ndim=1, lse_a=lse_a, lse_b=lse_b)
    check_same_kind("out_a", kind, "lse_a", kind_of("lse_a", lse_a))
    check_same_device("out_a", out_a, "lse_a", lse_a)
    wide = computed_in(out_a)
    if dtype_name(lse_a) != wide:
        raise TypeError(
            f"lse_a and lse_b must be {wide} where out_a and out_b are {dtype_name(out_a)}; "
            f"got {dtype_name(lse_a)}"
        )
    for name, array, expected in (
        ("out_b", out_b, out_a.shape),
        ("lse_a", lse_a, out_a.shape[:-1]),
        ("lse_b", lse_b, out_a.shape[:-1]),
    ):
        if tuple(array.shape) != tuple(expected):
            raise ValueError(
                f"{name} must have the shape {tuple(expected)}, by that of out_a; "
                f"got {tuple(array.shape)}"
            )
    return kind


def computed_in(array):
    """The dtype that arithmetic on this array is done in."""
    return {"float16": "float32", "bfloat16": "float32"}.get(dtype_name(array), dtype_name(array))


def check_number(name, number, like, *, positive=False):
    """None, or a real number that is finite (and above zero where positive is asked for) in the
    arithmetic on `like`.
    """
    if number is None:
        return
    rule = "a positive number" if positive else "a finite number"
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, numbers.Real):
        raise TypeError(f"{name} must be None or {rule}; got {type(number).__name__}")
    rounded, dtype = rounded_to(computed_in(like), number), computed_in(like)
    if not math.isfinite(rounded) or (positive and rounded <= 0):
        was = "" if rounded == number or rounded != rounded else f", which is {rounded} there"
        raise ValueError(
            f"{name} must be None or {rule} in {dtype}, the dtype of the scores; got {number}{was}"
        )


def rounded_to(dtype, number):
    """The number as this dtype holds it; inf if it is too large for the dtype."""
    with np.errstate(over="ignore", under="ignore"):
        try:
            return float(np.dtype(dtype).type(float(number)))
        except OverflowError:  # a whole number that no float can hold
            return math.inf if number > 0 else -math.inf


def check_impl(impl, impls):
    if isinstance(impl, str) and impl in impls:
        return
    got = repr(impl) if isinstance(impl, (str, bool, numbers.Number)) else type(impl).__name__
    raise ValueError(f"impl must be None or one of {', '.join(map(repr, impls))}; got {got}")


def check_flags(**flags):
    for name, flag in flags.items():
        if not isinstance(flag, (bool, np.bool_)):
            raise TypeError(f"{name} must be True or False; got {type(flag).__name__}")


def check_count(name, count):
    if isinstance(count, bool) or not isinstance(count, numbers.Integral):
        raise TypeError(f"{name} must be a whole number; got {type(count).__name__}")
    if count < 0:
        raise ValueError(f"{name} must be 0 or more; got {count}")
    if count > LARGEST_COUNT:
        raise ValueError(f"{name} must be at most {LARGEST_COUNT}; got {count}")


def check_mask_size(n_q, n_k, rows="n_q"):
    if max(int(n_q), 1) * max(int(n_k), 1) > LARGEST_MASK:
        raise ValueError(
            f"{rows} times n_k, 0 counted as 1, must be at most 2**40, a mask of 1 TiB; "
            f"got {rows} = {n_q} and n_k = {n_k}"
        )


def check_lengths(lengths, n_k):
    """One axis of whole numbers from 0 to n_k; returns them as an array."""
    if isinstance(lengths, np.ndarray):
        check_plain_array("lengths", lengths)
    try:
        lengths = np.asarray(lengths)
    except Exception as error:  # rows of different lengths, a tensor on a GPU, or no array
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(
            "lengths must be one row (batch,) of whole numbers, in memory that NumPy can read; "
            f"got {type(lengths).__name__}, of which NumPy says: {error}"
        ) from None
    if lengths.ndim != 1:
        raise ValueError(f"lengths must have one axis (batch,); got shape {lengths.shape}")
    if lengths.size and lengths.dtype.kind not in "iu":
        raise TypeError(f"lengths must be whole numbers; got {lengths.dtype}")
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= n_k:
        raise ValueError(
            f"lengths must be from 0 to n_k = {n_k}; got {lengths.min()} to {lengths.max()}"
        )
    check_mask_size(len(lengths), n_k, "batch")
    return lengths
