"""Array types used across the package, and the one way to make an array read-only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def frozen(values: ArrayLike, dtype: Any = None) -> NDArray[Any]:
    """A read-only array; the caller's own array is copied, never changed."""
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array
