"""Every figure of the book. Queries, keys, values, scores, weights keep one colour each.

Each public helper draws one figure and shows it; a chapter calls it with arrays it has
just computed. Colours are told apart by labels too, so that nothing is lost in greyscale.
Needs matplotlib (`pip install attnlib[plot]`).
"""

from attnlib.plot.attention import attention_shapes, contract, nan_on_the_way, scores_to_weights
from attnlib.plot.av_product import (
    contributions, convex_combination, hulls_by_round, losses_by_width, means_so_far, moved_weight, one_query,
    output_matrix, regression,
)
from attnlib.plot.common import COLORS
from attnlib.plot.cover import card, overview
from attnlib.plot.decoding import pages_in_memory, processors_at_work, rungs, time_by_queries
from attnlib.plot.gpu import (
    block_kinds, bytes_through_cache, instructions, kernel_blocks, memories, on_the_chip, product_tiles, queue_of_jobs,
    roofline, schedules, three_limits, tile_in_memory,
)
from attnlib.plot.gradients import (
    gradient_check, gradients_by_size, jacobian, losses, norm_over_triangle, product_backward, pulls, pushes,
    read_by_all, slopes_by_spread, step_errors, turning_query,
)
from attnlib.plot.heads import (
    by_seed, cache_per_position, emergence, error_by_heads, learned_rows, looked_at_and_used, rows_of_weights,
    split_and_reshaped, two_maps,
)
from attnlib.plot.measured import amounts, before_and_after, spread_against
from attnlib.plot.positions import angle_errors, arcs_seen, beyond_training, counter_and_waves, dials
from attnlib.plot.raw_scores import (
    broadcast, flow, mask_gallery, masked_scores, references, score_matrix, score_spread, two_tables,
)
from attnlib.plot.ring import error_by_ranks, heads_for_positions, hidden_sending, ring_steps
from attnlib.plot.softmax import (
    error_by_blocks, merge_trees, rounded_scores, running_pair, running_sum, scores_and_weights, smooth_maximum,
    softmax_forms, stalled_sums, weight_against_gap, weights_by_temperature,
)
from attnlib.plot.streaming import causal_blocks, fast_steps, in_blocks, memory_against_n, merged_outputs, time_against_n
