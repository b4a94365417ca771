"""IMDB reviews: film reviews, positive or negative.

The stand-in's come from a grammar: as long as published ones, with common and rare words. A review mostly states its
writer's opinion, with plain and negated words, but also others' opinions and the plot. So single words are evidence,
and none is conclusive. The published set is a tar file with a file for each review, in folders named after split and
sentiment.
"""

import re
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from suite.data.datasets import Records, Splits
from suite.data.download import Progress
from suite.data.edition import Edition
from suite.data.streams import SPLITS

CLASSES = ("neg", "pos")
SIZES = {"small": Edition(), "documented": Edition(train=25_000, test=25_000)}
STOCK = "imdb_reviews"
ARCHIVE = "aclImdb_v1.tar.gz"
FOLDERS = {
    "train": re.compile("aclImdb/train/(neg|pos)/"),
    "test": re.compile("aclImdb/test/(neg|pos)/"),
    "unsupervised": re.compile("aclImdb/train/(unsup)/"),
}
LABELS = {"neg": 0, "pos": 1, "unsup": -1}

GROUP = 128  # reviews that share a random stream
MEDIAN_WORDS, SPREAD, SHORTEST = 174, 0.7, 10  # of the log-normal lengths, near those of the published reviews
OWN, OTHERS = 0.34, 0.08  # shares of sentences with the writer's opinion, and with others'

PRAISE = (
    "wonderful", "brilliant", "moving", "superb", "charming", "gripping", "delightful", "clever", "touching", "fresh",
    "beautiful", "hilarious", "memorable", "stunning", "excellent", "perfect", "great", "fun", "warm", "honest",
    "thrilling", "masterful", "tender", "witty", "original", "rewarding", "elegant", "powerful", "lovely", "fantastic",
)  # fmt: skip
BLAME = (
    "awful", "boring", "predictable", "terrible", "dull", "clumsy", "pointless", "wooden", "lazy", "stale",
    "ugly", "painful", "forgettable", "ridiculous", "poor", "empty", "bad", "tedious", "cold", "fake",
    "annoying", "incoherent", "shallow", "flat", "tired", "disappointing", "clunky", "weak", "horrible", "silly",
)  # fmt: skip
ASPECTS = (
    "acting", "script", "plot", "ending", "music", "camera work", "dialogue", "cast", "direction", "pacing", "editing",
    "story", "opening", "humour", "action", "lighting", "soundtrack", "lead", "villain", "romance", "last hour", "idea",
    "scenery", "costumes", "special effects", "chemistry", "first act", "production", "picture", "performance",
)  # fmt: skip
PLACES = (
    "village", "hotel", "desert", "castle", "hospital", "school", "harbour", "city", "island", "train", "prison",
    "theatre", "farm", "palace", "subway", "forest", "museum", "factory", "church", "airport", "jungle", "suburb",
)  # fmt: skip
PEOPLE = (
    "detective", "widow", "teacher", "soldier", "singer", "doctor", "thief", "pilot", "girl", "boy", "lawyer", "priest",
    "painter", "dancer", "captain", "butler", "nurse", "farmer", "journalist", "cook", "stranger", "neighbour", "spy",
)  # fmt: skip
DEEDS = (
    "finds", "loses", "follows", "hides", "remembers", "steals", "sells", "watches", "saves", "betrays", "meets",
    "forgets", "leaves", "marries", "fights", "buries", "paints", "chases", "writes to", "dreams of", "lies to",
)  # fmt: skip
THINGS = (
    "letter", "map", "secret", "diamond", "dog", "car", "house", "photograph", "debt", "promise", "song", "gun", "key",
    "child", "ghost", "recipe", "diary", "boat", "suitcase", "wedding", "murder", "storm", "war", "summer", "painting",
)  # fmt: skip
DEGREES = ("really", "quite", "simply", "so", "truly", "rather", "utterly", "somehow", "just", "surprisingly")
TIMES = ("last night", "on television", "twice", "years ago", "with my family", "at a festival", "by chance", "again")
CONSONANTS = ("b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "st", "br", "ch", "gr")
VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
NAMES = 40_000  # possible names, the first ones most frequent

JUDGEMENTS = (
    "The {part} is {degree} {good}.",
    "I found the {part} {good} and the {part} {good}.",
    "What a {good} film!",
    "It is {degree} {good}, and I do not say that of many films.",
    "{name} gives a {good} performance.",
    "The {part} is never {bad}.",
    "This is not a {bad} film at all.",
    "Everything about the {part} feels {good}.",
    "{name} was {good} as the {person}, the {part} was {good} too.",
    "I saw it {time} and thought it was {degree} {good}.",
    "My friends and I agreed that the {part} was {good}.",
    "It could have been {bad}, but the {part} is {good}.",
)
HEARSAY = (
    "Some people call it {good}.",
    "I had been told that the {part} was {good}.",
    "The poster promises something {degree} {good}.",
    "One critic wrote that {name} was {good} in it.",
)
PLAIN = (
    "A {person} {deed} a {thing} in a {place}.",
    "The film is set in a {place} where {name} {deed} the {person}.",
    "{name} plays a {person} who {deed} a {thing}.",
    "Then the {person} {deed} {name}, and the {thing} changes everything.",
    "It was made by {name}, who also wrote the {part}.",
    "I watched it {time}.",
    "There is a scene with a {thing} and a {person} in the {place}.",
    "After half an hour the {person} {deed} the {thing}.",
    "<br /><br />The {part} is by {name}.",
    "You may know {name} from other films about a {place}.",
    "Later {name} and the {person} go to the {place} to look for the {thing}.",
    "At the end the {thing} is back in the {place}.",
)


def examples(split: str, count: int, seed: int) -> Records:
    """Yield records of text and label, alternating negative (0) and positive (1).

    A group depends only on seed, split and its own number.
    """
    for number in range(-(-count // GROUP)):
        random = np.random.default_rng((seed, SPLITS.index(split), number))
        for index in range(min(GROUP, count - number * GROUP)):
            yield {"text": review(random, index % 2), "label": index % 2}


def review(random: np.random.Generator, label: int) -> str:
    """Return a positive (1) or negative (0) review."""
    wanted = max(SHORTEST, int(np.exp(random.normal(np.log(MEDIAN_WORDS), SPREAD))))
    sentences: list[str] = []
    words = 0
    while words < wanted:
        kind = random.random()
        opinion = label if kind < OWN else 1 - label if kind < OWN + OTHERS else int(random.integers(2))
        patterns = JUDGEMENTS if kind < OWN else HEARSAY if kind < OWN + OTHERS else PLAIN
        sentences.append(sentence(random, str(choice(random, patterns)), opinion))
        words += sentences[-1].count(" ") + 1
    return " ".join(sentences)


def sentence(random: np.random.Generator, pattern: str, opinion: int) -> str:
    """Return the pattern with each blank filled."""
    good, bad = (PRAISE, BLAME) if opinion else (BLAME, PRAISE)
    words = {
        "good": good, "bad": bad, "part": ASPECTS, "place": PLACES, "person": PEOPLE, "deed": DEEDS, "thing": THINGS,
        "degree": DEGREES, "time": TIMES,
    }  # fmt: skip
    head, *rest = pattern.split("{")
    parts = [head]
    for piece in rest:
        blank, after = piece.split("}")
        parts += [name(random) if blank == "name" else choice(random, words[blank]), after]
    return "".join(parts)


def choice(random: np.random.Generator, words: Sequence[str]) -> str:
    """Return one of the words, early ones more often, as in natural language."""
    return words[int(len(words) * random.random() ** 1.5)]


def name(random: np.random.Generator) -> str:
    """Return an invented name, by Zipf's law: most are rare."""
    rank = int(np.exp(random.random() * np.log(NAMES)))
    parts = []
    while rank or len(parts) < 2:
        rank, digit = divmod(rank, len(CONSONANTS) * len(VOWELS))
        parts.append(CONSONANTS[digit % len(CONSONANTS)] + VOWELS[digit // len(CONSONANTS)])
    return "".join(parts).capitalize()


def splits(files: Mapping[str, Path], progress: Progress) -> Splits:
    """Return records of text and label, which is -1 without a rating."""
    return {split: read(files[ARCHIVE], folder) for split, folder in FOLDERS.items()}


def read(path: Path, folder: re.Pattern[str]) -> Records:
    """Yield the records of the files in a folder, in the order of the archive."""
    with tarfile.open(path) as archive:
        for member in archive:
            match = folder.match(member.name)
            file = archive.extractfile(member) if match and member.isfile() else None
            if match and file is not None:
                yield {"text": file.read().strip(), "label": LABELS[match[1]]}
