"""From records to arrays: as documented, the same for the same stream, and without a generator never distorted."""

import cv2
import numpy as np
import pytest

from suite.data import datasets
from suite.data.prepare.crops import Crop, standardised
from suite.data.prepare.photographs import Photograph
from suite.data.prepare.pictures import Pixels, Shifted, decoded
from suite.data.prepare.words import FIRST_WORD, START, UNKNOWN, Subwords, Words

PICTURE = np.random.default_rng(0).integers(0, 256, (32, 32, 3), np.uint8)
REVIEWS = ["A good, good film.", "A bad film! Not good.", "I'd say: don't."]


class Held(list):
    """Records in memory."""

    def take(self, indices):
        return [self[index] for index in indices]


TRAIN = Held({"text": text, "label": i % 2} for i, text in enumerate(REVIEWS))


def random(seed=0):
    return np.random.default_rng(seed)


def picture(image=PICTURE, label=3):
    return {"image": image, "label": label}


@pytest.mark.parametrize("shape", [(28, 28, 1), (32, 32, 3)])
def test_a_png_is_decoded_to_the_pixels_it_was_made_of(shape):
    image = random().integers(0, 256, shape, np.uint8)
    file = cv2.imencode(".png", image[..., ::-1])[1].tobytes()
    assert np.array_equal(decoded(file), image)


def test_a_file_that_is_no_picture_is_refused():
    with pytest.raises(ValueError, match="cannot be read; remove the data set and prepare it again"):
        decoded(b"no picture")


def test_pixels_reach_from_0_to_1_and_labels_are_one_hot():
    example = Pixels().example(picture())
    assert np.array_equal(np.rint(example["images"] * 255), PICTURE)
    assert example["images"].dtype == example["labels"].dtype == np.float32
    assert example["labels"].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "preparation", [Shifted(), Crop(), Photograph(side=24)], ids=lambda preparation: type(preparation).__name__
)
def test_without_a_generator_nothing_is_distorted_and_with_one_it_depends_on_the_stream(preparation):
    still, again = (preparation.example(picture())["images"] for _ in range(2))
    assert np.array_equal(still, again)
    moved, same, other = (preparation.example(picture(), random(seed))["images"] for seed in (1, 1, 2))
    assert np.array_equal(moved, same)
    assert not np.array_equal(moved, other)
    assert not np.array_equal(moved, still)
    assert moved.shape == still.shape


def test_a_crop_for_validation_is_the_central_one_standardised():
    assert np.array_equal(Crop().example(picture())["images"], standardised(PICTURE[4:28, 4:28].astype(np.float32)))


def test_standardised_pictures_have_mean_0_and_deviation_1_and_flat_ones_stay_small():
    image = standardised(PICTURE.astype(np.float32))
    assert image.mean() == pytest.approx(0, abs=1e-5)
    assert image.std() == pytest.approx(1, abs=1e-5)
    assert np.abs(standardised(np.full((24, 24, 3), 7, np.float32))).max() < 1e-3


def test_crops_lie_anywhere_and_are_mirrored_half_the_time():
    still = Crop(brightness=0.0, contrast=(1.0, 1.0))
    places = {}
    for top in range(9):
        for left in range(9):
            crop = standardised(PICTURE[top : top + 24, left : left + 24].astype(np.float32))
            places[crop[0, 0].tobytes()] = (top, left, False)
            places[crop[0, -1].tobytes()] = (top, left, True)
    crops = [still.example(picture(), random(seed))["images"] for seed in range(400)]
    rounded = [
        min(places, key=lambda key, c=crop: np.abs(np.frombuffer(key, np.float32) - c[0, 0]).sum()) for crop in crops
    ]
    found = [places[key] for key in rounded]
    assert {top for top, _, _ in found} == {left for _, left, _ in found} == set(range(9))
    assert 0.4 < np.mean([mirrored for _, _, mirrored in found]) < 0.6


def test_contrast_keeps_the_mean_of_each_channel_and_brightness_moves_it():
    crop = Crop(side=32, brightness=0.0)
    for seed in range(20):
        bright = crop._distorted(PICTURE, random(seed))
        assert bright.mean((0, 1)) == pytest.approx(PICTURE.mean((0, 1)), abs=1e-2)
    moved = [Crop(side=32)._distorted(PICTURE, random(seed)).mean() - PICTURE.mean() for seed in range(400)]
    assert -63 < min(moved) < -50 < 50 < max(moved) < 63


def test_a_photograph_is_brought_to_the_square_by_its_nearest_pixels():
    tall = np.repeat(np.arange(128, dtype=np.uint8)[:, None, None], 96, axis=1).repeat(3, axis=2)
    example = Photograph(side=64).example(picture(tall, 1))
    assert np.rint(example["images"][:, 0, 0] * 255).tolist() == list(range(0, 128, 2))
    assert example["labels"] == 1.0
    assert example["labels"].dtype == np.float32


def test_colours_keep_their_order():
    red = np.zeros((50, 50, 3), np.uint8)
    red[..., 0] = 255
    file = cv2.imencode(".jpg", red[..., ::-1])[1].tobytes()
    for image in (red, file):
        assert Photograph(side=8).example(picture(image))["images"][4, 4].round(1).tolist() == [1.0, 0.0, 0.0]


def test_zoom_is_within_a_fifth_about_the_centre():
    """A centred square's sides grow and shrink by at most that."""
    image = np.zeros((101, 101, 3), np.uint8)
    image[25:76, 25:76] = 255
    widths, heights = [], []
    for seed in range(300):
        moved = Photograph(side=101, shear=0.0).example(picture(image), random(seed))["images"][..., 0] > 0.5
        widths.append(moved[50].sum())
        heights.append(moved[:, 50].sum())
        assert moved[50, 50]
    for sides in (widths, heights):
        assert 51 / 1.2 - 2 < min(sides) < 46
        assert 58 < max(sides) < 51 / 0.8 + 2
    assert np.corrcoef(widths, heights)[0, 1] < 0.3


def test_shear_moves_rows_against_each_other_and_keeps_the_centre():
    image = np.zeros((101, 101, 3), np.uint8)
    image[:, 48:53] = 255
    turned = []
    for seed in range(100):
        moved = Photograph(side=101, zoom=0.0).example(picture(image), random(seed))["images"][..., 0] > 0.5
        assert moved[50, 50]
        turned.append(np.flatnonzero(moved[50]).mean())
    assert np.ptp(turned) < 3
    level = image.transpose(1, 0, 2)
    lean = []
    for seed in range(100):
        moved = Photograph(side=101, zoom=0.0).example(picture(level), random(seed))["images"][..., 0] > 0.5
        lean.append(np.flatnonzero(moved[:, 90]).mean() - np.flatnonzero(moved[:, 10]).mean())
    assert -18 < min(lean) < -10 < 10 < max(lean) < 18  # 80 columns times the sine of 0.2


def test_photographs_decoded_at_a_part_of_their_size_look_alike_but_are_not_the_same():
    (record,) = datasets.load("cats_vs_dogs").examples("train", 1, 0)
    full, part = (Photograph(side=64, scaled=scaled).example(record)["images"] for scaled in (False, True))
    assert full.shape == part.shape
    assert 0 < np.abs(full - part).mean() < 0.1


def test_words_are_ranked_by_frequency_and_padded_in_front():
    words = Words(positions=8, vocabulary=8).fitted(TRAIN)
    assert words.numbers == {"good": FIRST_WORD, "a": FIRST_WORD + 1, "film": FIRST_WORD + 2, "bad": FIRST_WORD + 3}
    example = words.example({"text": b"A bad, BAD film; unheard of", "label": 1})
    assert example["tokens"].tolist() == [0, START, 5, 7, 7, 6, UNKNOWN, UNKNOWN]
    assert example["tokens"].dtype == np.int32


def test_long_reviews_lose_their_beginning():
    words = Words(positions=3, vocabulary=8).fitted(TRAIN)
    assert words.example({"text": "bad good film a", "label": 0})["tokens"].tolist() == [4, 6, 5]


def test_an_apostrophe_belongs_to_its_word():
    assert "don't" in Words(vocabulary=100).fitted(TRAIN).numbers


def test_subwords_put_rare_words_together_and_are_padded_behind():
    subwords = Subwords(positions=12, vocabulary=60).fitted(TRAIN)
    names = {number: part for part, number in subwords.numbers.items()}
    assert max(names) < 60
    tokens = subwords.example({"text": "good filmbad", "label": 1})["tokens"]
    spelled = [names[number] for number in tokens.tolist() if number]
    assert "".join(spelled) == "goodfilmbad"
    assert spelled[0] == "good"
    assert tokens[len(spelled) :].tolist() == [0] * (12 - len(spelled))


def test_long_reviews_lose_their_end_and_unknown_letters_fall_out():
    subwords = Subwords(positions=3, vocabulary=60).fitted(TRAIN)
    assert 0 not in subwords.example({"text": "good good good good", "label": 0})["tokens"]
    assert subwords.example({"text": "éé", "label": 0})["tokens"].tolist() == [0, 0, 0]


def test_a_batch_is_contiguous():
    batch = Pixels().batch([picture(label=label) for label in range(4)])
    assert batch["images"].shape == (4, 32, 32, 3)
    assert all(array.flags.c_contiguous for array in batch.values())
