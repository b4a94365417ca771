"""The evidence behind the site's data page: samples of each set, drawn from seeds."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from suite.data import datasets, gallery, store
from suite.data.builder import relative_home, stock_class
from suite.data.edition import DRAWING
from suite.data.random_loans import CHUNK
from suite.results.evidence.gallery import PICTURES, Column, Gallery, Published, Review, Reviews, Rows, Sheet
from suite.results.records.files import writing

_SHOWN_COLUMNS = 4  # one of each kind
_SHOWN_LETTERS = 180
_QUALITY = 82  # of photographs, as WebP; small pictures are lossless PNG
PLAIN = {  # each picture set: title, columns, enlargement, caption
    "mnist": ("Digits", 6, 2, "Written digits, 28 x 28 grey."),
    "cifar10": ("Objects", 6, 2, "32 x 32 in colour, in surroundings that several classes share."),
    "cats_vs_dogs": ("Cats and dogs", 4, 1, "JPEG files of varying size, shown smaller, their margins cut off."),
}
DISTORTED = {  # each augmentation: title, enlargement, caption
    "shear-zoom-flip": ("Shear, zoom and flip", 1, "First as it is, then six times as the cats-and-dogs networks see "
                        "it in training: 64 x 64, the edge repeated where nothing is."),
    "crop-flip-light": ("Crop, flip and light", 2, "First whole, then six crops of 24 x 24 as the TensorFlow network "
                        "sees them, of mean 0 and deviation 1, shown as shades about grey. Standardising takes the "
                        "change of brightness out again."),
    "rotate-shift-flip": ("Turn, shift and flip", 2, "First as it is, then six times as the residual network of 87 "
                          "convolutions sees it in training."),
}  # fmt: skip


def draw(site: Path) -> tuple[Path, ...]:
    """Write the page's pictures and facts below the site's sources; return the files.

    Raises RuntimeError if a file cannot be written.
    """
    sheets_by_name = dict(sheets())
    facts = collected({name: about for name, (about, _) in sheets_by_name.items()})
    folder = site / PICTURES
    files = []
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for about, pixels in sheets_by_name.values():
            files.append(folder / about.file)
            files[-1].write_bytes(encoded(pixels, files[-1].suffix))
        return (*files, facts.write(site / "evidence"))


def collected(sheets_by_name: dict[str, Sheet]) -> Gallery:
    """Return everything that the page shows, given its sheets by name."""
    return Gallery(
        drawing=DRAWING,
        sheets=tuple(sheets_by_name[name] for name in PLAIN),
        reviews=(reviews("imdb_reviews"),),
        tables=tuple(rows(name) for name in ("higgs_1m", "mortgage")),
        augmentations=tuple(sheets_by_name[name] for name in DISTORTED),
        published=tuple(map(publication, datasets.published_names())),
    )


def sheets() -> Iterator[tuple[str, tuple[Sheet, np.ndarray]]]:
    """Yield each sheet's name, facts and pixels uint8[H,W,4]."""
    for name, (title, columns, enlarged, caption) in PLAIN.items():
        records = gallery.records(name)
        pixels = gallery.sheet([gallery.shown(record["image"]) for record in records], columns)
        labels = tuple(label(name, record["label"]) for record in records)
        shown = {"title": title, "caption": caption, "labels": labels, "columns": columns, "enlarged": enlarged}
        yield name, described(name, name, pixels, records, **shown)
    for name, (title, enlarged, caption) in DISTORTED.items():
        dataset, _, chosen = gallery.AUGMENTATIONS[name]
        records = [gallery.records(dataset)[number] for number in chosen]
        before = [label(dataset, record["label"]) for record in records]
        labels = tuple(words for one in before for words in (one, *[f"{one}, distorted"] * gallery.AFTER))
        pixels = gallery.sheet(gallery.distorted(name), columns := 1 + gallery.AFTER)
        shown = {"title": title, "caption": caption, "labels": labels, "columns": columns, "enlarged": enlarged}
        yield name, described(name, dataset, pixels, records, **shown)


def described(name: str, dataset: str, pixels: np.ndarray, records: list, **shown: Any) -> tuple[Sheet, np.ndarray]:
    """Return a sheet's facts, those that the page shows among them, and its pixels."""
    height, width, _ = pixels.shape
    file = f"{name}.{'webp' if dataset == 'cats_vs_dogs' else 'png'}"
    made = {"file": file, "width": width, "height": height, "seeds": (gallery.SEED,), "digest": gallery.digest(records)}
    return Sheet(dataset=dataset, **made, **shown), pixels


def label(dataset: str, number: int) -> str:
    """Return a label's name, or its number if it has none."""
    classes = datasets.load(dataset).CLASSES
    return classes[number] if classes else str(number)


def encoded(pixels: np.ndarray, suffix: str) -> bytes:
    """Return RGBA pixels uint8[H,W,4] as a picture file."""
    options = (cv2.IMWRITE_WEBP_QUALITY, _QUALITY) if suffix == ".webp" else (cv2.IMWRITE_PNG_COMPRESSION, 9)
    return cv2.imencode(suffix, pixels[..., [2, 1, 0, 3]], options)[1].tobytes()


def reviews(dataset: str) -> Reviews:
    """Return the first reviews, shortened."""
    records = gallery.records(dataset)
    excerpts = [
        Review(
            label={"neg": "against", "pos": "for"}[label(dataset, record["label"])],
            text=beginning(record["text"]),
            words=len(record["text"].split()),
        )
        for record in records
    ]
    return Reviews(dataset=dataset, reviews=tuple(excerpts), seed=gallery.SEED, digest=gallery.digest(records))


def beginning(text: str) -> str:
    """Return the first words of a text, at most _SHOWN_LETTERS letters."""
    return text if len(text) <= _SHOWN_LETTERS else text[:_SHOWN_LETTERS].rsplit(" ", 1)[0] + " …"


def rows(dataset: str) -> Rows:
    """Return a table's first rows and columns, with quantiles over the first chunk."""
    records = gallery.records(dataset, CHUNK)
    if "features" in records[0]:
        values = np.array([record["features"] for record in records], np.float64)
        labels, names = [record["label"] for record in records], [f"feature {n}" for n in range(values.shape[1])]
    else:
        answer, *names = records[0]
        values = np.array([[record[name] for name in names] for record in records])
        labels = [int(record[answer]) for record in records]
    columns = [
        Column(
            name=names[index],
            values=tuple(rounded(value) for value in values[: gallery.EXAMPLES, index]),
            quantiles=tuple(rounded(value) for value in np.quantile(values[:, index], (0, 0.25, 0.5, 0.75, 1))),
        )
        for index in range(_SHOWN_COLUMNS)
    ]
    return Rows(
        dataset=dataset,
        rows=len(records),
        features=values.shape[1],
        columns=tuple(columns),
        labels=tuple(labels[: gallery.EXAMPLES]),
        positive=rounded(float(np.mean(labels))),
        seed=gallery.SEED,
        digest=gallery.digest(records[: gallery.EXAMPLES]),
    )


def rounded(value: float) -> float:
    """Return a number rounded to four significant digits."""
    return float(f"{value:.4g}") + 0.0  # no negative zero


def publication(dataset: str) -> Published:
    """Return what TFDS says of a published data set."""
    stock = datasets.published(dataset).STOCK
    archives = () if datasets.streamed(dataset) else datasets.archives(dataset)
    training, validation = store.parts(dataset, "tfds")
    with tempfile.TemporaryDirectory() as nowhere:
        info = stock_class(stock)(data_dir=nowhere).info
    return Published(
        dataset=dataset,
        builder=stock,
        version=relative_home(dataset, stock).name,
        files=tuple(archive.name for archive in archives),
        download_bytes=sum(archive.size for archive in archives) if archives else None,
        training=training,
        validation=validation,
        source=info.homepage,
        licence=info.redistribution_info.license,
    )
