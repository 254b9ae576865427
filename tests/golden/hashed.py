"""Pseudo-random values that are functions of their places, so that goldens need no files of weights."""

import numpy as np


def hashed(count, k):
    """Values 0 … count - 1 of float tensor k, in [-0.5, 0.5)."""
    i = np.arange(count, dtype=np.uint64)
    x = (i * np.uint64(2654435761) + np.uint64((k + 1) * 40503)) & np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(15)
    x = (x * np.uint64(2246822519)) & np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(13)
    return x.astype(np.float64) / 2**32 - 0.5
