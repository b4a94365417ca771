"""Reviews as integers: words by their rank in the training split, or subwords of a vocabulary made from it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Self

import numpy as np

from suite.data.prepare import Example, Preparation, Records

PADDING, START, UNKNOWN, FIRST_WORD = 0, 1, 2, 4  # as in Keras' packaged reviews; 3 is unused
# What Keras' text_to_word_sequence removes: all punctuation but the apostrophe.
_NO_WORD = str.maketrans(dict.fromkeys('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n', " "))
_PIECES = re.compile(r"\w+|[^\w\s]+")


def text(record: Mapping[str, Any]) -> str:
    """Return a record's text, stored as bytes or as str."""
    found = record["text"]
    return found.decode("utf-8", errors="replace") if isinstance(found, bytes) else found


def texts(train: Records) -> Iterator[str]:
    """Yield all texts of a split."""
    for start in range(0, len(train), 1024):
        yield from map(text, train.take(range(start, min(start + 1024, len(train)))))


def words(review: str) -> list[str]:
    """Return the words of a review, in lower case and without punctuation."""
    return review.lower().translate(_NO_WORD).split()


@dataclass(frozen=True, kw_only=True)
class Words(Preparation):
    """Tokens int32[T], padded and truncated at the front, and the label float32[]: 1 for a positive review.

    A word's number is its rank by frequency in the training split, from 4 up; all words beyond the vocabulary share one
    number.
    """

    positions: int = 400
    vocabulary: int = 5000
    numbers: Mapping[str, int] = field(default_factory=dict, repr=False)

    def fitted(self, train: Records) -> Self:
        """Return the preparation with counted words; equally frequent words are in alphabetical order."""
        counts = Counter[str]()
        for review in texts(train):
            counts.update(words(review))
        ranked = sorted(counts, key=lambda word: (-counts[word], word))[: self.vocabulary - FIRST_WORD]
        return replace(self, numbers={word: rank + FIRST_WORD for rank, word in enumerate(ranked)})

    def compact(self, record: Mapping[str, Any], random: np.random.Generator | None) -> Example:
        """Return tokens and labels, without augmentation."""
        known = [START, *(self.numbers.get(word, UNKNOWN) for word in words(text(record)))][-self.positions :]
        tokens = np.full(self.positions, PADDING, np.int32)
        tokens[-len(known) :] = known
        return {"tokens": tokens, "labels": np.array(record["label"], np.float32)}


@dataclass(frozen=True, kw_only=True)
class Subwords(Preparation):
    """Tokens int32[T], padded and truncated at the back, and the label float32[]: 1 for a positive review.

    Frequent words are one subword. Others are split into frequent parts, the longest first, and the rest into letters.
    There are as many subwords as the vocabulary holds, or fewer if the split has too few words.
    """

    positions: int = 256
    vocabulary: int = 8185
    numbers: Mapping[str, int] = field(default_factory=dict, repr=False)
    longest: int = 12  # letters of a part, at most

    def fitted(self, train: Records) -> Self:
        """Return the preparation with chosen subwords: all letters, then words and prefixes by what they save."""
        counts = Counter[str]()
        for review in texts(train):
            counts.update(_PIECES.findall(review))
        letters = sorted({letter for piece in counts for letter in piece})
        saved = Counter[str]()
        for piece, count in counts.items():
            for length in range(2, min(len(piece), self.longest) + 1):
                saved[piece[:length]] += count * (length - 1) if length == len(piece) else count * (length - 1) // 2
        best = sorted(saved, key=lambda part: (-saved[part], part))
        room = self.vocabulary - 1 - len(letters)  # 0 is padding
        chosen = [*letters, *best[: max(0, room)]][: self.vocabulary - 1]
        return replace(self, numbers={part: number for number, part in enumerate(chosen, 1)})

    def compact(self, record: Mapping[str, Any], random: np.random.Generator | None) -> Example:
        """Return tokens and labels, without augmentation."""
        numbers = chain.from_iterable(map(self._parts, _PIECES.findall(text(record))))
        known = list(islice(numbers, self.positions))
        tokens = np.full(self.positions, PADDING, np.int32)
        tokens[: len(known)] = known
        return {"tokens": tokens, "labels": np.array(record["label"], np.float32)}

    def _parts(self, piece: str) -> Iterator[int]:
        """Yield the numbers of a word's parts, the longest known one at each place; drop unknown letters."""
        start = 0
        while start < len(piece):
            for end in range(min(len(piece), start + self.longest), start, -1):
                if (number := self.numbers.get(piece[start:end])) is not None:
                    yield number
                    break
            else:
                end = start + 1
            start = end
