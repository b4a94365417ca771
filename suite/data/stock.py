"""The published sets by TFDS' own builders, byte for byte, which need TensorFlow: `nox -s stock -- NAME...`."""

import sys
from importlib.util import find_spec

from suite.data import datasets, store
from suite.data.builder import stock_class


def prepare(name: str) -> str:
    """Download a data set and write it where `--data tfds` looks for it; return that path.

    Raises LookupError for an unknown set, ValueError for one that the stock builder cannot read in part, RuntimeError
    if the download fails or TensorFlow is missing.
    """
    reader = datasets.published(name)
    if datasets.streamed(name):
        raise ValueError(
            f"dataset '{name}' is a part of '{reader.STOCK}', which the stock builder reads only whole; "
            f"suite data prepare {name} --data tfds reads only that part"
        )
    if find_spec("tensorflow") is None:
        raise RuntimeError("the stock builders need TensorFlow, which is not installed here; nox -s stock installs it")
    from tensorflow_datasets.core.download import downloader

    downloader.MAX_RETRIES = 1  # otherwise a machine without a network is silent for minutes
    try:
        stock_class(reader.STOCK)(data_dir=store.place(name, "tfds")).download_and_prepare(file_format="array_record")
    except OSError as error:  # requests' errors too
        raise RuntimeError(f"dataset '{name}' cannot be prepared: {' '.join(str(error).split())[:200]}") from error
    return str(store.path(name, "tfds"))


def main() -> None:
    """Prepare the data sets named on the command line; on failure print one line and exit with 1."""
    try:
        for name in sys.argv[1:] or datasets.published_names():
            print(prepare(name))
    except (LookupError, ValueError, RuntimeError) as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
