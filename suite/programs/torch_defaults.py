"""What PyTorch does with float32 on a GPU if nothing is set, for cases of precision `framework-default`."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def unchanged_tf32() -> Iterator[None]:
    """Keep PyTorch's own use of TF32 while a program is made, which sets another.

    The programs' own source stays as it is: it is part of the digest of every case.
    """
    products, convolutions = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = products, convolutions
