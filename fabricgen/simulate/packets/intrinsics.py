"""Two instructions of the processor that Python does not offer."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fabricgen.simulate.compilation import inlined


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(_context: Any, word: Any) -> Any:  # noqa: ARG001
    """The index of the lowest set bit of a uint64; undefined for 0."""

    def generate(_: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_context: Any, records: Any, index: Any, second: Any) -> Any:  # noqa: ARG001
    """Load a record into the cache of the processor: that at the first index, and the second of a two-dimensional
    array. Of another array the second index is a number of bytes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address_type, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.mul(arguments[1], builder.extract_value(array.strides, 0))
        inner = arguments[2]
        if signature.args[0].ndim > 1:
            inner = builder.mul(inner, builder.extract_value(array.strides, 1))
        address = builder.gep(builder.bitcast(array.data, address_type), [builder.add(place, inner)])
        kind = ir.FunctionType(ir.VoidType(), [address_type, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [address, *(ir.Constant(flag, value) for value in (1, 3, 1))])
        return context.get_dummy_value()

    return types.void(records, types.int64, types.int64), generate


@inlined
def whole(number: Any) -> int:
    """A number as a signed 64-bit integer, truncated towards zero: numba mixes narrow unsigned integers badly."""
    return np.int64(number)  # type: ignore[return-value]


@inlined
def unsigned(number: Any) -> int:
    """A number that is an index of 32 bits or NONE, as a signed 64-bit integer that the compiler knows to be positive:
    the use of an array then does not test for indices from its end."""
    return np.int64(np.uint32(number))  # type: ignore[return-value]


@inlined
def highest(bits: int) -> int:
    """The index of the highest set bit of at most 16; the number must not be 0."""
    place = 15
    while not bits >> place & 1:
        place -= 1
    return place


ONE, BITS = np.uint64(1), np.uint64(63)
