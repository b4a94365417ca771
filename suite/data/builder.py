"""TFDS builders that write data sets in the published form, as ArrayRecord, without TensorFlow."""

import errno
import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

Examples = Iterable[dict[str, Any]]

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write(
    name: str,
    splits: Mapping[str, Examples],
    folder: Path,
    *,
    stock: str | None,
    classes: tuple[str, ...] | None = None,
    features: Callable[[], dict[str, Any]] | None = None,
) -> None:
    """Write the set to folder/name/version; only a record's number decides its place.

    Version and features are those of TFDS' own builder `stock`; without one they are 1.0.0 and what `features` gives.
    `classes` names the labels if the stock builder learns them from the archive. Nothing is printed.
    Raises OSError, with its number, if there is no room.
    """
    import tensorflow_datasets as tfds

    tfds.disable_progress_bar()
    parent: Any = stock_class(stock) if stock else tfds.core.GeneratorBasedBuilder
    own, given = name, features

    # Not registered: the name may belong to the stock builder.
    class Written(parent, skip_registration=True):  # pyright: ignore[reportGeneralTypeIssues, reportCallIssue]
        name = own
        url_infos = None  # nothing is downloaded, so there are no checksums to find
        if not stock:
            VERSION = tfds.core.Version("1.0.0")

        def _info(self) -> Any:
            if given is None:
                info = super()._info()
            else:
                info = tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict(given()))
            info.initialize_from_bucket = lambda: None  # it would leave an empty folder in TMPDIR
            return info

        def _split_generators(self, dl_manager: object) -> dict[str, Iterator]:
            if classes:
                self.info.features["label"].names = list(classes)
            return {split: self._generate_examples(examples) for split, examples in splits.items()}

        def _generate_examples(self, examples: Examples) -> Iterator[tuple[int, dict[str, Any]]]:
            yield from enumerate(examples)

        def _log_download_bytes(self) -> None:
            """Print nothing: nothing is downloaded, and standard output belongs to the caller."""

        def _log_download_done(self) -> None:
            """Print nothing."""

    try:
        Written(data_dir=folder).download_and_prepare(file_format="array_record")
    except (OSError, RuntimeError) as error:  # ArrayRecord and TFDS leave only the system's words
        for number in _NO_ROOM:
            if os.strerror(number) in str(error):
                raise OSError(number, os.strerror(number)) from error
        raise


def stock_class(name: str) -> Any:
    """Return TFDS' own builder; it does not find that of HIGGS by itself."""
    import tensorflow_datasets as tfds

    if name == "higgs":
        importlib.import_module("tensorflow_datasets.structured.higgs")
    return tfds.builder_cls(name)


def relative_home(name: str, stock: str | None) -> Path:
    """Return where TFDS looks for the set below a data_dir: name, configuration if there is one, version."""
    if stock is None:
        return Path(name, "1.0.0")
    parent = stock_class(stock)
    configs = [config.name for config in parent.BUILDER_CONFIGS[:1]]
    version = (parent.BUILDER_CONFIGS[0].version if configs else None) or parent.VERSION
    return Path(name, *configs, str(version))
