"""Sums of products of whole numbers, many at a time: what the time of a network goes into.

On many processors Numba's loops take steps that are half as wide as they could be, and keep sums in memory: a search
makes 0.6 of the evaluations with them. So this one loop is written in the compiler's own words. Sums of whole numbers
are exact in any order: all machines find the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kontor.compile import INTERPRETED

BLOCK = 64  # units that are summed up together
LANES = 16  # of them in one vector


def sum_one_by_one(sums: Any, block: int, weights: Any, pairs: Any, places: Any, count: int) -> None:
    """Write the sums of a block of units: the weights of the first `count` pairs in `places`, times their inputs.

    A pair is two inputs of 16 bits. The weights are (blocks, pairs, 2 * BLOCK), two for each unit.
    """
    listed = places[:count]
    inputs = np.ascontiguousarray(pairs[listed]).view(np.int16).reshape(-1, 1, 2).astype(np.int32)
    products = weights[block, listed].reshape(-1, BLOCK, 2) * inputs
    sums[block * BLOCK : (block + 1) * BLOCK] = products.sum((0, 2), dtype=np.int32)


@intrinsic  # type: ignore[untyped-decorator]
def sum_in_vectors(_: Any, sums: Any, block: Any, weights: Any, pairs: Any, places: Any, count: Any) -> Any:
    """The same in the compiler's words: sums stay in the processor's vectors until all pairs are added."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, block, count = signature.args, arguments[1], arguments[5]
        sums, weights, pairs, places = (
            context.make_array(kinds[i])(context, builder, arguments[i]) for i in (0, 2, 3, 4)
        )
        bits = kinds[2].dtype.bitwidth
        totals = [_total(builder) for _ in range(BLOCK // LANES)]
        first = builder.mul(block, builder.extract_value(weights.shape, 1))
        with _each(builder, count) as index:
            place = builder.sext(builder.load(builder.gep(places.data, [index])), block.type)
            inputs = _spread(builder, builder.load(builder.gep(pairs.data, [place])))
            row = builder.mul(builder.add(first, place), block.type(2 * BLOCK))
            for number, total in enumerate(totals):
                start = builder.add(row, block.type(2 * LANES * number))
                products = _products(builder, _load(builder, weights.data, start, bits), inputs)
                builder.store(builder.add(builder.load(total), products), total)
        for number, total in enumerate(totals):
            start = builder.add(builder.mul(block, block.type(BLOCK)), block.type(LANES * number))
            place = builder.bitcast(builder.gep(sums.data, [start]), _vector(32, LANES).as_pointer())
            builder.store(builder.load(total), place, align=4)
        return context.get_dummy_value()

    return types.void(sums, types.intp, weights, pairs, places, types.intp), generate


def _vector(bits: int, numbers: int) -> Any:
    """The type of some whole numbers side by side."""
    return ir.VectorType(ir.IntType(bits), numbers)


def _total(builder: Any) -> Any:
    """A vector of sums that are zero so far."""
    with builder.goto_entry_block():
        total = builder.alloca(_vector(32, LANES))
    builder.store(_vector(32, LANES)([0] * LANES), total)
    return total


@contextmanager
def _each(builder: Any, count: Any) -> Iterator[Any]:
    """A loop over the whole numbers below a count."""
    before = builder.block
    loop, body, after = (builder.append_basic_block(name) for name in ("loop", "body", "after"))
    builder.branch(loop)
    builder.position_at_end(loop)
    index = builder.phi(count.type)
    index.add_incoming(count.type(0), before)
    builder.cbranch(builder.icmp_signed("<", index, count), body, after)
    builder.position_at_end(body)
    yield index
    index.add_incoming(builder.add(index, count.type(1)), builder.block)
    builder.branch(loop)
    builder.position_at_end(after)


def _load(builder: Any, weights: Any, start: Any, bits: int) -> Any:
    """The weights of a vector of sums, two for each."""
    place = builder.gep(weights, [start])
    return builder.load(builder.bitcast(place, _vector(bits, 2 * LANES).as_pointer()), align=1)


def _spread(builder: Any, pair: Any) -> Any:
    """A pair of inputs, for each of the sums of a vector."""
    alone = builder.insert_element(_vector(32, LANES)(ir.Undefined), pair, ir.IntType(32)(0))
    spread = builder.shuffle_vector(alone, alone, _vector(32, LANES)([0] * LANES))
    return builder.bitcast(spread, _vector(16, 2 * LANES))


def _products(builder: Any, weights: Any, inputs: Any) -> Any:
    """The sum of two products for each sum of a vector. Many processors do all of this in one step."""
    wide = _vector(32, 2 * LANES)
    products = builder.mul(builder.sext(weights, wide), builder.sext(inputs, wide))
    of_one, of_other = (
        builder.shuffle_vector(products, products, _vector(32, LANES)(list(range(side, 2 * LANES, 2))))
        for side in range(2)
    )
    return builder.add(of_one, of_other)


sum_block: Any = sum_one_by_one if INTERPRETED else sum_in_vectors
