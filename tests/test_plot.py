"""Figures: every helper draws, colours carry, and the README's figure is what the code makes."""

import importlib
import inspect
import io
import pkgutil
import warnings
from pathlib import Path

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib import font_manager  # noqa: E402

import attnlib  # noqa: E402
from attncourse import plot  # noqa: E402
from attncourse.bench.touched import Touch, Touched  # noqa: E402
from attncourse.plot import av_product, common  # noqa: E402

SCORES = np.array([1.0, 0.5, 2.5, -0.1])
WEIGHTS = attnlib.softmax(SCORES)
SQUARE = np.array([[1.0, 0.0], [0.4, 0.6]])
VALUE = np.array([[0.0, 1.0], [2.0, 2.0], [3.0, 0.0], [1.0, -1.0]])
MASKED = attnlib.mask_scores(np.ones((3, 3)), attnlib.causal_mask(3, 3))
LINE = np.linspace(0, 1, 5)
WORDS = ["Ada's", "old", "cat", "sleeps"]
RECORD = {
    "times": [
        {
            "n": n,
            "is_causal": is_causal,
            "factor": 1,
            "contenders": {
                name: {"ms": {"median": n * ms}} for name, ms in (("attnlib online", 1), ("JAX", 3))
            },
        }
        for n in (256, 512)
        for is_causal in (False, True)
    ],
    "ladder": [
        {
            "n": 512,
            "steps": {
                name: {"ms": {"median": ms, "low": 0.9 * ms, "high": 1.1 * ms}}
                for name, ms in (("naive", 9), ("1 blocks", 2))
            },
        }
    ],
    "memory": [
        {"n": n, "contender": name, "MiB": n * mib}
        for n in (256, 512)
        for name, mib in (("attnlib online", 0.1), ("torch SDPA", 0))
    ],
}
KEYS = Touch("key", (4, 3), False, {place: [(1, 0, 0)] for place in range(6)})
FIGURES = {
    "multi_head": (),
    "calibration": ((0.5, 0.8), (1.0, 0.75), (1, 4)),
    "grids": (
        {"a": [[1.0, -np.inf], [np.nan, 0]], "b": [["yes", "no"]], "c": [[True, False]]},
        ("scores", "weights", "value"),
        2,
        ["x", "y"],
        ["l", "r"],
        [(0, 1)],
    ),
    "ranges": ({"a": (-3, 11.0), "b": (-100, 80)}, "score", ".4g", [(25, "25")], "key", 10),
    "neighbours": ({"float16": (257, 256, 258, 256), "float32": (2.5, 2.5, 2.5, 2.5)},),
    "tiles": ({"attnlib": (15, 17), "torch": (17, 17)},),
    "stacked": ({"a": [("x", 1, "query"), ("y", 2, "key?")]}, ",.3g", "bytes", 4),
    "stages": (
        {"up": [("query", "a", "one\ntwo"), ("key!", "b", "")], "down": [("value", "c", "")]},
    ),
    "sizes": ([("query", "Q", ("n", 3), ("d", 2)), "×", ("key", "K", ("d", 2), ("n", 3))],),
    "three_kernels": (),
    "work_of_blocks": (8,),
    "block_of_keys_backward": (6, 2),
    "kept_bits": (np.eye(3, dtype=bool),),
    "scores_by_length": ({4: LINE - 0.5, 8: 2 * LINE - 1},),
    "tilted": (1.0,),
    "slopes_at_both_ends": (),
    "there_and_back": (),
    "pulls_in_plane": (VALUE, WEIGHTS, WORDS),
    "heads_of_width": (384, 6),
    "bar_panels": ({"a": WEIGHTS, "b": -WEIGHTS}, WORDS, ("weights", "scores")),
    "quantile_dots": (
        {"x": {"a": LINE, "b": LINE + 1}, "y": {"a": LINE, "b": LINE}},
        "entropy",
        1e-3,
        2,
        {"name": "formula", "a": 0.5},
    ),
    "chords": (lambda x: x**3, 1.0, 0.5),
    "one_jacobian": (np.diag(WEIGHTS) - np.outer(WEIGHTS, WEIGHTS), WORDS, 2, True),
    "score_in_fractions": (WORDS, 2),
    "weighted_points": (np.array([1.0, 0.0, -2.0, 1.0]), WEIGHTS, WORDS),
    "paths_to_loss": (WEIGHTS - 0.3, WORDS, 2),
    "sums_of_rows": (SQUARE - 0.5, "dS", "query", "key"),
    "shifted_rows": (VALUE, VALUE + 1, VALUE),
    "references": ([["it", "is", "a", "b"], ["it", "is", "a", "c"]], "it", ["a", "c"]),
    "alike_and_found": (WORDS, WEIGHTS, WEIGHTS),
    "flow": (),
    "scores_and_weights": (SCORES, np.exp(SCORES), WEIGHTS, WORDS),
    "weights_by_temperature": ((1, 2), (WEIGHTS, WEIGHTS), WORDS),
    "weight_against_gap": (LINE, {"T = 1": LINE, "T = 2": LINE}),
    "running_sum": (SCORES, (2, 4), WORDS),
    "in_blocks": (SCORES, VALUE, (2, 4), WORDS),
    "causal_blocks": (8, (4, 4), (4, 2), (2, 4)),
    "merged_outputs": (VALUE, ([0, 1], [2, 3]), VALUE[:2], (0.25, 0.75), VALUE[2], WORDS),
    "fast_steps": ({"as written": 12.0, "blocks": 10.0}, RECORD),
    "score_matrix": (VALUE, VALUE, VALUE @ VALUE.T, 1, 2),
    "output_matrix": (SCORES[None], VALUE, SCORES[None] @ VALUE, 0, 1),
    "masked_scores": (SCORES[None], SCORES[None], WORDS[:1], WORDS),
    "scores_to_weights": (MASKED, attnlib.softmax(MASKED), WORDS[:3]),
    "score_spread": ({4: LINE}, {4: LINE}),
    "smooth_maximum": (LINE, LINE, LINE),
    "convex_combination": (VALUE, WEIGHTS, WEIGHTS @ VALUE, WORDS),
    "means_so_far": (VALUE, np.cumsum(VALUE, axis=0) / np.arange(1, 5)[:, None], WORDS),
    "amounts": ({"a": {"x": 5.0, "y": -0.2}, "b": {"x": 0.9, "y": 0.1}}, ".2f", "weights"),
    "spread_against": (
        (1, 2, 4, 8, 16),
        {"a": np.stack([LINE, LINE + 1, LINE + 2]), "b": LINE + 3},
        "x",
        "y",
        "xy",
        (2, "level"),
    ),
    "before_and_after": (
        {"a": (WEIGHTS, WEIGHTS), "b": (WEIGHTS, WEIGHTS[::-1])},
        WORDS,
        ("scores", "scores + 3"),
    ),
    "one_query": (SCORES, WEIGHTS, VALUE, WEIGHTS @ VALUE, WORDS),
    "memory_against_n": (RECORD,),
    "time_against_n": (RECORD,),
    "read_by_all": (VALUE[:2] / 4, SQUARE, 1),
    "memories": (4800, 64),
    "queue_of_jobs": (),
    "on_the_chip": (64, 32, 128, 2),
    "block_kinds": ([np.eye(3, dtype=int), 2 * np.eye(3, dtype=int)], ["a", "b"]),
    "blocks_read": ({"a": KEYS, "b": KEYS}, 2),
    "instructions": ({"a": 620, "b": 338},),
    "schedules": ({"a": [(0, 0, 3), (1, 0, 2)], "b": [(0, 0, 2), (1, 0, 3)]}, 2.5),
    "roofline": (1e15, 5e12, {"a": 1.0, "b": 1e3}),
    "kernel_blocks": (MASKED, np.where(np.isinf(MASKED), np.nan, 0.5)),
    "stalled_sums": ({"float16": 1 + LINE, "float32": 1 + 2 * LINE},),
    "rounded_scores": (1 + LINE, {"float16": 1 + np.outer(LINE, LINE)}, {"float16": 3 + LINE}),
    "softmax_forms": (
        (10, 100),
        {kind: 1 + np.ones((2, 3, 6)) for kind in ("float16", "bfloat16", "float32")},
        "scores",
    ),
    "slopes_by_spread": (1 + LINE, {16: np.ones((5, 3)), 64: np.ones((5, 3))}, {1: "a"}),
    "gradients_by_size": ((4, 16), {16: np.ones((2, 3))}, {16: np.ones((2, 3))}),
    "mask_gallery": (),
    "contributions": (WEIGHTS[:, None] * VALUE, WORDS),
    "hulls_by_round": ([VALUE, WEIGHTS[:, None] * VALUE], [VALUE, 2 * VALUE], WORDS),
    "losses_by_width": (1 + LINE, {"a": LINE, "b": LINE}, {"c": 1 + LINE}, {"c": LINE}, 1.5),
    "moved_weight": (VALUE, WEIGHTS @ VALUE, LINE, np.outer(LINE, WEIGHTS), WORDS),
    "broadcast": (VALUE[:3, :1], VALUE[:2, 0][None]),
    "two_tables": ({"a": SQUARE, "b": SQUARE}, "weights", WORDS[:2], "key", "query"),
    "step_errors": (
        {"a": (LINE + 1, LINE + 1, LINE + 1, LINE + 1)},
        {"a": (LINE + 0.1, LINE + 0.2)},
    ),
    "jacobian": (np.diag(WEIGHTS), np.outer(WEIGHTS, WEIGHTS), WORDS),
    "norm_over_triangle": (
        np.eye(3),
        np.array([0.1, 0.2, 0.3]),
        np.eye(3),
        LINE[1:4],
        LINE[1:4],
        WORDS[:3],
    ),
    "pulls": (VALUE[:, 0], 1.0, WEIGHTS - 0.25, WORDS),
    "product_backward": (SCORES[None], SCORES[None, :2], np.outer(SCORES, SCORES[:2]), 2, 0),
    "pushes": (VALUE, WEIGHTS, WEIGHTS @ VALUE, np.array([2.0, 2.0]), SCORES, WORDS),
    "turning_query": (360 * LINE, np.outer(1 + LINE, WEIGHTS), {2: LINE, 8: LINE}, WORDS),
    "gradient_check": (1 + LINE, {"right": np.ones((5, 3)), "wrong": np.ones((5, 3))}),
    "losses": ({"around 0": {"right": np.ones((5, 3))}, "around 5": {"right": np.ones((5, 3))}},),
    "two_maps": (np.eye(4, dtype=bool), np.tile(WEIGHTS, (4, 1)), WORDS, "ab"),
    "emergence": (
        LINE,
        np.outer(LINE, LINE),
        np.outer(LINE, LINE),
        dict.fromkeys(range(4), SQUARE),
        np.eye(2, dtype=bool),
    ),
    "looked_at_and_used": (LINE, LINE, ["a", "", "", "", "b"]),
    "by_seed": ({"a": LINE, "b": LINE}, 0.3, "line"),
    "running_pair": (LINE, LINE, LINE, LINE),
    "merge_trees": (SCORES, {"a": (((0, 1), 2), 3), "b": ((0, 2), (1, 3))}, WORDS),
    "error_by_blocks": ({name: {1: (1, 2, 3), 4: (0.5, 1, 2)} for name in "abc"}, "unit"),
    "rows_of_weights": ((WEIGHTS, WEIGHTS), ("a", "b"), WORDS),
    "split_and_reshaped": (np.arange(24).reshape(4, 6), 2),
    "error_by_heads": ((1, 2, 4), np.array([[0.5, 0.51], [0.0, 0.01], [0.1, 0.2]]), 32),
    "learned_rows": ((WEIGHTS[None], SQUARE), ("one", "two"), {0: "A", 1: "B"}, 4),
    "learned_by_step": ([0, 50, 100], dict.fromkeys("abcdef", [0.0, 0.1, 1.0]), 75),
    "removed_heads": (np.linspace(0, 0.4, 96).reshape(16, 6), list("abcdef")),
    "cache_per_position": (["a", "b"], np.array([8.0, 128.0]), np.array([568.0, 128.0])),
    "time_by_queries": ((1, 2, 4, 8), {"a": (1, 1, 2, 4), "b": (1, 2, 4, 8)}, {"a": 2, "b": 1}),
    "processors_at_work": ((np.arange(22) % 3, np.ones(22, int)), ("a", "b")),
    "rungs": (["a", "b"], (4, 1), (16.5, 1)),
    "next_words": ({"a": (WEIGHTS, 2), "b": (WEIGHTS, 1)},),
    "draft_and_target": (WORDS, WEIGHTS, np.full(4, 0.25)),
    "below_the_bound": (1 + LINE, (1 + LINE) / 3, ["a", "a", "b", "b", "b"], "x", "y"),
    "latency_and_throughput": ((1, 8), (3.0, 5.0), (300.0, 1600.0)),
    "pages_in_memory": ({"A": (2, 0), "B": (1, 2)}, {"A": 7, "B": 5}, 4, 4),
    "attention_shapes": (),
    "nan_on_the_way": (
        ["not mended", "mended"],
        ["output", "A", "S"],
        np.array([[1, 1, 0], [0, 1, 0]], bool),
    ),
    "contract": (
        ["a rule", "another"],
        ["torch", "attnlib", 1, 2],
        np.array([[1, 1, 0, 1], [0, 1, 0, 0]], bool),
    ),
    "three_limits": (("a", "b"), ((1.0, 2.0, 3.0), (2.0, 4.0, 1.0))),
    "touched_places": (
        (
            Touch("x", (2, 3), False, {0: [(0, 0, 0)], 2: [(0, 0, 0), (1, 0, 0)], 7: [(1, 0, 0)]}),
            Touch("output", (4,), True, {-1: [(1, 0, 0)]}),
        ),
    ),
    "tile_in_memory": (np.arange(12).reshape(3, 4), np.array([5, 6, 9, 10]), (4, 1)),
    "product_tiles": ((2, 3, 4), (1, 2)),
    "bytes_through_cache": ((16, 32, 64), {"a": (9, 5, 3), "b": (8, 4, 3)}, 3),
    "regression": (LINE, LINE, LINE, LINE, {"a": LINE, "b": LINE}),
    "counter_and_waves": (np.eye(4), SQUARE, -SQUARE),
    "dials": ({"a": (1.0, 2.0), "b": (0.5, -1.0)},),
    "arcs_seen": ({"a": 1.0, "b": 9.0}, {"a": 2.0, "b": 99.0}),
    "beyond_training": (LINE, {name: (np.stack([LINE, LINE + 1]), LINE + 1) for name in "abc"}, 2),
    "angle_errors": (LINE + 1, {name: LINE + 1 for name in "abc"}),
    "alignment_maps": (
        [(WORDS[:3], WORDS[:2], (2, 0), np.array([[0.01, 0, 0.99], [0.6, 0.3, 0.1]]))],
    ),
    "rotated_query": (
        VALUE[:, ::-1],
        np.linspace(0, 360, 4),
        np.tile(WEIGHTS, (4, 1)),
        WORDS,
        (0, 90),
    ),
    "looked_at": ([WORDS, WORDS[:3] + ["runs"]], [WEIGHTS, WEIGHTS[::-1]], 2),
    "ring_steps": ([np.eye(3), np.full((3, 3), 0.5)], ("a", "b")),
    "hidden_sending": ((1.0, 2.0), (2.0, 1.0), ("short parts", "long parts")),
    "through_the_state": (8, 1, 4, 8),
    "heads_for_positions": ([np.arange(4).repeat(4).reshape(4, 4)] * 2, ("a", "b")),
    "error_by_ranks": (
        (2, 4),
        {"a": np.ones((2, 3)), "b": np.ones((2, 3))},
        {"a": np.ones(2), "b": np.ones(2)},
    ),
    "residual_stream": (),
    "wavelengths": (np.array([6.0, 60.0, 600.0]), np.array([6.0, 80.0, 4800.0]), 100),
    "caches": (("a", "b"), np.array([10.0, 2000.0])),
    "atom_maps": ({"a": (["C", "O"], ["O", "=", "C"], (1, 0), (True, False))},),
    "right_by_head": (np.arange(6).reshape(2, 3), 5, (1, 2)),
}


def figures():
    """Every figure in the modules of the folder, whether attncourse.plot hands it on or not."""
    modules = [
        importlib.import_module(f"attncourse.plot.{found.name}")
        for found in pkgutil.iter_modules(plot.__path__)
    ]
    return {
        name
        for module in modules
        for name, thing in vars(module).items()
        if inspect.isfunction(thing) and "drawn" in thing.__code__.co_name
    }


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_every_helper_draws_without_a_warning(name, monkeypatch, caplog):
    # drawn under the book's style, as a notebook does
    monkeypatch.setattr(common, "show", lambda colors: plt.gcf().canvas.draw())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*non-interactive.*")
        getattr(plot, name)(*FIGURES[name])
    assert not caplog.records  # of a sign or a font that is missing
    assert all(axes.has_data() for axes in plt.gcf().axes)
    # on a slide, 9 points come out at 20 px (book/pages.js)
    assert (
        min(
            text.get_fontsize()
            for text in plt.gcf().findobj(matplotlib.text.Text)
            if text.get_text()
        )
        >= 9
    )
    plt.close("all")


def test_text_and_formulas_are_in_the_shipped_typeface(tmp_path):
    style = common.typeface()
    with plt.style.context([common.STYLE, style]):
        found = {font_manager.findfont(style[f"mathtext.{name}"]) for name in ("rm", "it", "bf")}
        assert {Path(path).parent for path in found} == {common.FONTS} and len(found) == 3
        assert Path(font_manager.findfont(font_manager.FontProperties())).parent == common.FONTS
    assert common.typeface.__wrapped__(tmp_path) == {}  # matplotlib's own, quietly


def test_pages_and_figures_have_the_same_signs(request):
    for path in common.FONTS.glob("*.ttf"):
        signs = font_manager.get_font(path).get_charmap()
        assert {*map(ord, "ᵀ≤≥→·√δ∂∞×−ω²₀Δ")} <= set(signs)
        name = f"book/static/fonts/{path.stem}.woff2"
        assert (request.config.rootpath / name).read_bytes()[:4] == b"wOF2"


def test_no_helper_is_left_out():
    assert figures() == set(FIGURES)


def test_labels_are_moved_apart_and_keep_their_order():
    heights = [0, 5, 0.2, 0.1, 9]
    moved = common.spread_out(heights, 1)
    assert (np.diff(np.sort(moved)) >= 1 - 1e-9).all() and (
        np.argsort(moved) == np.argsort(heights)
    ).all()
    assert abs(moved - heights).max() <= 1
    assert (common.spread_out([3, 1, 2], 0.5) == [3, 1, 2]).all()


def test_a_hull_has_its_corners_and_no_other_point():
    square = [(0, 0), (2, 0), (2, 2), (0, 2)]
    corners = av_product.convex_hull(np.array([*square, (1, 1), (1, 0), (0.5, 1.5)]))
    assert len(corners) == 4 and set(map(tuple, corners)) == set(square)
    (x, y), (left, below) = corners.T, np.roll(corners, 1, axis=0).T
    assert abs(x @ below - y @ left) / 2 == 4  # in order: the area is the square's


def test_every_contender_is_named_where_its_line_ends():
    plot.memory_against_n(RECORD)
    (axes,) = plt.gcf().axes
    assert {text.get_text() for text in axes.texts} == {
        "attnlib online",
        "torch SDPA",
        "the output alone",
    }
    assert all(list(line.get_xdata()) == [256, 512] for line in axes.lines)
    plt.close("all")


def test_times_are_those_without_a_mask():
    masked = {**RECORD["times"][1], "n": 1024}
    plot.time_against_n({"times": [*RECORD["times"], masked]})
    (axes,) = plt.gcf().axes
    assert {tuple(line.get_ydata()) for line in axes.lines} == {(256, 512), (768, 1536)}
    plt.close("all")


def test_a_picture_in_few_colours_is_half_as_large_and_looks_the_same():
    plot.hulls_by_round(*FIGURES["hulls_by_round"])
    stored = io.BytesIO()
    plt.savefig(stored, format="png")
    plt.close("all")
    small = common.in_few_colours(stored.getvalue())
    before, after = (plt.imread(io.BytesIO(data))[..., :3] for data in (stored.getvalue(), small))
    assert len(small) < 0.6 * len(stored.getvalue())
    assert before.shape == after.shape and np.sqrt(np.mean((before - after) ** 2)) < 2 / 255


def test_every_curve_is_named_at_its_end_and_no_name_lies_on_another():
    plot.spread_against(
        (1, 10, 100), {"a": (1.0, 2.0, 3.0), "b": (1.0, 2.0, 3.1)}, "x", "y", log="x"
    )
    (axes,) = plt.gcf().axes
    (left, low), (also_left, high) = (axes.transData.transform(text.xy) for text in axes.texts)
    assert [text.get_text() for text in axes.texts] == ["a", "b"] and left == also_left
    assert high - low >= 9 * plt.gcf().dpi / 72  # the height of a letter
    plt.close("all")


def test_a_bar_has_its_number_at_its_end():
    plot.amounts({"a": {"x": 1234.0, "y": -0.5}}, ",.1f")
    (axes,) = plt.gcf().axes
    assert [text.get_text() for text in axes.texts] == ["1,234.0", "−0.5"]
    assert [bar.get_width() for bar in axes.patches] == [1234.0, -0.5]
    plt.close("all")


def test_every_broken_rule_of_the_contract_is_crossed():
    kept = FIGURES["contract"][2]
    plot.contract(*FIGURES["contract"])
    (axes,) = plt.gcf().axes
    assert [text.get_text() for text in axes.texts] == ["×"] * (~kept).sum()
    assert [label.get_rotation() for label in axes.get_xticklabels()] == [90, 90, 0, 0]
    plt.close("all")


def test_what_a_kernel_touched_is_drawn_place_by_place(capsys):
    (touches,) = FIGURES["touched_places"]
    plot.touched(Touched(touches))
    (axes,) = plt.gcf().axes
    assert [text.get_text() for text in axes.texts] == [
        *("x, read by program", "0", "", "2×", "", "", "", "1", "outside: 7"),
        *("output, written by program", "", "", "", "", "1", "outside: -1"),
    ]
    assert [patch.get_hatch() for patch in axes.patches].count("////") == 8
    said = capsys.readouterr().out
    assert said == (
        "x, read: 2 of 6 places. More than once: (0, 2). Missed: (0, 1), (1, 0), (1, 1), (1, 2)."
        " Outside: 7.\noutput, written: nothing. Outside: -1.\n"
    )
    plt.close("all")
    plot.touched(Touched((), "No kernel."))
    assert capsys.readouterr().out == "No kernel.\n" and not plt.get_fignums()


def luminance(color):
    """Relative luminance by WCAG 2."""
    channels = np.array(matplotlib.colors.to_rgb(color))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast_on_white(color):
    return 1.05 / (luminance(color) + 0.05)


@pytest.mark.parametrize("role", sorted(plot.COLORS))
def test_every_colour_can_be_read_on_white(role):
    assert contrast_on_white(plot.COLORS[role]) >= 4.5


def test_the_contrast_formula_knows_black_and_grey():
    assert contrast_on_white("#000000") == pytest.approx(21)
    assert contrast_on_white("#999999") < 4.5


@pytest.mark.parametrize("name", ["overview", "card"])
def test_the_stored_picture_is_what_the_code_draws(name, tmp_path, request):
    chapters = request.config.rootpath / "chapters"
    plot.overview(tmp_path / "overview.png")
    plot.card(tmp_path / "card.png", tmp_path / "overview.png")
    stored, fresh = (plt.imread(folder / f"{name}.png") for folder in (chapters, tmp_path))
    assert stored.shape == fresh.shape, "draw it again: python -m attncourse.plot chapters"
    assert np.sqrt(np.mean((stored - fresh) ** 2)) < 0.02


def test_a_block_that_a_program_has_read_is_filled():
    touch = Touch("key", (6, 2), False, {0: [(0, 0, 0), (1, 0, 0)], 11: [(1, 0, 0)]})
    plot.blocks_read({"a": touch}, 2)
    (image,) = plt.gcf().axes[0].images
    assert image.get_array().tolist() == [[1, 0, 0], [1, 0, 1]]
    plt.close("all")
