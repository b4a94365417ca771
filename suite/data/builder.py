"""TFDS builders that write an embedded set in the feature specification of the published one, without TensorFlow."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from suite.data.edition import Edition
from suite.data.embedded import Recipe

Progress = Callable[[int, int], None]  # examples done, examples in all


def write(name: str, recipe: Recipe, edition: Edition, folder: Path, progress: Progress) -> None:
    """Put the set at folder/name/version as ArrayRecord, without a word on standard output."""
    import tensorflow_datasets as tfds

    stock: Any = tfds.builder_cls(name)
    counts = {"train": edition.train, "test": edition.test}
    total = sum(counts.values())
    done = 0

    # Not registered, since the name belongs to the stock builder.
    class Embedded(stock, skip_registration=True):  # pyright: ignore[reportGeneralTypeIssues, reportCallIssue]
        name = stock.name
        url_infos = None  # nothing is downloaded, so there are no checksums to look for

        def _split_generators(self, dl_manager: object) -> dict[str, Iterator]:
            if recipe.CLASSES:
                self.info.features["label"].names = list(recipe.CLASSES)
            return {split: self._generate_examples(split, count) for split, count in counts.items()}

        def _generate_examples(self, split: str, count: int) -> Iterator[tuple[int, dict[str, Any]]]:
            nonlocal done
            for index, example in enumerate(recipe.examples(split, count, edition.seed)):
                yield index, example
                done += 1
                progress(done, total)

        def _log_download_bytes(self) -> None:
            """Say nothing: nothing is downloaded, and standard output belongs to the caller."""

        def _log_download_done(self) -> None:
            """Say nothing."""

    tfds.disable_progress_bar()
    Embedded(data_dir=folder).download_and_prepare(file_format="array_record")
