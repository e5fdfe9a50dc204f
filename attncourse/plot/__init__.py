"""Every figure of the book. Queries, keys, values, scores, weights keep one colour each.

Each public helper draws one figure and shows it; a chapter calls it with arrays it has
just computed. Labels tell the colours apart too, so that nothing is lost in greyscale.
Needs matplotlib (`pip install attnlib[plot]`).
"""

from attncourse.plot.atoms import atom_maps, right_by_head
from attncourse.plot.attention import attention_shapes, contract, nan_on_the_way, scores_to_weights
from attncourse.plot.av_product import (
    contributions,
    convex_combination,
    hulls_by_round,
    losses_by_width,
    means_so_far,
    moved_weight,
    one_query,
    output_matrix,
    regression,
)
from attncourse.plot.blocks import caches, residual_stream, wavelengths
from attncourse.plot.common import COLORS
from attncourse.plot.cover import card, overview
from attncourse.plot.decoding import (
    below_the_bound,
    draft_and_target,
    latency_and_throughput,
    next_words,
    pages_in_memory,
    processors_at_work,
    rungs,
    time_by_queries,
)
from attncourse.plot.gpu import (
    block_kinds,
    block_of_keys_backward,
    blocks_read,
    bytes_through_cache,
    instructions,
    kept_bits,
    kernel_blocks,
    memories,
    on_the_chip,
    product_tiles,
    queue_of_jobs,
    roofline,
    schedules,
    three_kernels,
    three_limits,
    tile_in_memory,
    touched,
    touched_places,
    work_of_blocks,
)
from attncourse.plot.gradients import (
    chords,
    gradient_check,
    gradients_by_size,
    heads_of_width,
    jacobian,
    losses,
    norm_over_triangle,
    one_jacobian,
    paths_to_loss,
    product_backward,
    pulls,
    pulls_in_plane,
    pushes,
    read_by_all,
    score_in_fractions,
    scores_by_length,
    shifted_rows,
    slopes_at_both_ends,
    slopes_by_spread,
    step_errors,
    sums_of_rows,
    there_and_back,
    tilted,
    turning_query,
    weighted_points,
)
from attncourse.plot.heads import (
    by_seed,
    cache_per_position,
    emergence,
    error_by_heads,
    learned_by_step,
    learned_rows,
    looked_at_and_used,
    multi_head,
    removed_heads,
    rows_of_weights,
    split_and_reshaped,
    two_maps,
)
from attncourse.plot.linear import through_the_state
from attncourse.plot.measured import (
    amounts,
    bar_panels,
    before_and_after,
    quantile_dots,
    spread_against,
)
from attncourse.plot.positions import (
    angle_errors,
    arcs_seen,
    beyond_training,
    counter_and_waves,
    dials,
)
from attncourse.plot.raw_scores import (
    alike_and_found,
    broadcast,
    flow,
    mask_gallery,
    masked_scores,
    references,
    rotated_query,
    score_matrix,
    score_spread,
    two_tables,
)
from attncourse.plot.ring import error_by_ranks, heads_for_positions, hidden_sending, ring_steps
from attncourse.plot.shown import grids, neighbours, ranges, sizes, stacked, stages, tiles
from attncourse.plot.softmax import (
    calibration,
    error_by_blocks,
    merge_trees,
    rounded_scores,
    running_pair,
    running_sum,
    scores_and_weights,
    smooth_maximum,
    softmax_forms,
    stalled_sums,
    weight_against_gap,
    weights_by_temperature,
)
from attncourse.plot.streaming import (
    causal_blocks,
    fast_steps,
    in_blocks,
    memory_against_n,
    merged_outputs,
    time_against_n,
)
from attncourse.plot.words import alignment_maps, looked_at
