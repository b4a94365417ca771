"""Birds, cats, deer, dogs, frogs and horses, each within -1 to 1, facing right or forwards."""

import numpy as np

from suite.data.drawn import Canvas, Number, ellipse, polygon, stroke

FURS = (
    (0.15, 0.13, 0.12), (0.55, 0.36, 0.20), (0.80, 0.62, 0.40), (0.90, 0.88, 0.84),
    (0.50, 0.49, 0.48), (0.36, 0.23, 0.14), (0.82, 0.50, 0.22),
)  # fmt: skip
PLUMES = (*FURS, (0.75, 0.15, 0.15), (0.20, 0.40, 0.75), (0.88, 0.75, 0.20))
BLACK, PINK, IVORY = (np.array(c, np.float32) for c in ((0.05, 0.04, 0.04), (0.85, 0.52, 0.52), (0.90, 0.86, 0.74)))
BEAK, BRANCH = (np.array(c, np.float32) for c in ((0.92, 0.62, 0.15), (0.34, 0.24, 0.16)))


def lighter(colour: np.ndarray, share: float) -> np.ndarray:
    """Return the colour, moved towards white by a share."""
    return colour + np.float32(share) * (1 - colour)


def bird(canvas: Canvas) -> None:
    """Paint a bird, perched with folded wings or flying with raised ones."""
    plumage = canvas.colours(*PLUMES, jitter=0.08)
    wing, belly = plumage * canvas.between(0.4, 0.8)[..., None], lighter(plumage, 0.5)
    flying = canvas.chance(0.35)
    perched = 1 - flying
    for x in (-0.08, 0.12):
        canvas.paint(stroke(canvas, ((x, 0.4), (x + 0.04, 0.9)), 0.03), BEAK * np.float32(0.7), perched)
    canvas.paint(stroke(canvas, ((-0.9, 0.92), (0.9, 0.88)), 0.06), BRANCH, perched)
    tilted = canvas.placed(turn=perched * -0.55 + flying * -0.1, y=0.1 * perched)
    tilted.paint(polygon(tilted, (-1.0, -0.14), (-0.4, -0.12), (-0.4, 0.14), (-1.0, 0.1)), wing)
    tilted.paint(polygon(tilted, (-0.55, -0.95), (-0.35, -0.98), (0.3, -0.05), (-0.15, 0.0)), wing, flying)
    tilted.paint(ellipse(tilted, 0, 0, 0.56, 0.2 + 0.14 * perched), plumage)
    tilted.paint(ellipse(tilted, 0.12, 0.14, 0.36, 0.1 + 0.08 * perched), belly)
    tilted.paint(ellipse(tilted, -0.2, -0.03, 0.4, 0.17), wing, perched)
    tilted.paint(polygon(tilted, (0.2, -0.85), (0.4, -0.9), (0.25, 0.0), (-0.15, 0.05)), wing * np.float32(0.8), flying)
    head_x, head_y = 0.42 * perched + 0.55 * flying, -0.42 * perched - 0.14 * flying
    canvas.paint(
        polygon(canvas, (head_x + 0.12, head_y - 0.1), (head_x + 0.5, head_y + 0.04), (head_x + 0.12, head_y + 0.13)),
        BEAK,
    )
    canvas.paint(ellipse(canvas, head_x, head_y, 0.24, 0.22), plumage)
    canvas.paint(ellipse(canvas, head_x + 0.09, head_y - 0.05, 0.055, 0.055), BLACK)


def cat(canvas: Canvas) -> None:
    """Paint a sitting cat from the front: pointed ears, slit eyes, whiskers, a curled tail."""
    fur = canvas.colours(*FURS, jitter=0.08)
    dark, pale = fur * np.float32(0.55), lighter(fur, 0.45)
    striped = canvas.chance(0.5)
    canvas.paint(stroke(canvas, ((0.3, 0.95), (0.8, 0.85), (0.85, 0.4)), 0.09), dark)
    canvas.paint(ellipse(canvas, 0, 0.62, canvas.between(0.38, 0.55), 0.6), fur)
    canvas.paint(ellipse(canvas, 0, 0.62, 0.22, 0.4), pale)
    for side in (-1, 1):
        ear = ((side * 0.5, -0.98), (side * 0.48, -0.2), (side * 0.05, -0.5))
        inner = ((side * 0.44, -0.82), (side * 0.42, -0.35), (side * 0.16, -0.5))
        canvas.paint(polygon(canvas, *ear[::side]), fur * np.float32(0.85))
        canvas.paint(polygon(canvas, *inner[::side]), PINK)
        canvas.paint(ellipse(canvas, side * 0.18, 1.0, 0.16, 0.12), pale)
    canvas.paint(ellipse(canvas, 0, -0.2, canvas.between(0.48, 0.58), 0.43), fur)
    for x in (-0.14, 0, 0.14):
        canvas.paint(stroke(canvas, ((x, -0.6), (x * 0.7, -0.42)), 0.035), dark, striped)
        canvas.paint(stroke(canvas, ((0.28, 0.5 + x * 1.5), (0.46, 0.45 + x * 1.5)), 0.035), dark, striped)
    canvas.paint(ellipse(canvas, 0, 0.02, 0.22, 0.15), pale)
    iris = canvas.colours((0.75, 0.80, 0.20), (0.30, 0.70, 0.40), (0.85, 0.65, 0.15), (0.35, 0.6, 0.8))
    for side in (-1, 1):
        canvas.paint(ellipse(canvas, side * 0.22, -0.23, 0.13, 0.1), iris)
        canvas.paint(ellipse(canvas, side * 0.22, -0.23, 0.045, 0.1), BLACK)
        for y in (-0.06, 0.1):
            canvas.paint(stroke(canvas, ((side * 0.16, 0.02), (side * 0.75, y)), 0.012), IVORY, 0.7)
    canvas.paint(polygon(canvas, (-0.08, -0.07), (0.08, -0.07), (0, 0.03)), PINK * np.float32(0.8))


def dog(canvas: Canvas) -> None:
    """Paint a sitting dog from the front: hanging ears, a long muzzle with a black nose, often the tongue out."""
    fur = canvas.colours(*FURS, jitter=0.08)
    ears, pale = fur * canvas.between(0.4, 0.75)[..., None], lighter(fur, 0.4)
    canvas.paint(ellipse(canvas, 0, 0.75, canvas.between(0.42, 0.6), 0.55), fur)
    canvas.paint(ellipse(canvas, 0, 0.7, 0.22, 0.4), pale)
    for x in (-0.2, 0.2):
        canvas.paint(stroke(canvas, ((x, 0.6), (x, 1.0)), 0.11), fur * np.float32(0.88))
    head = canvas.placed(turn=canvas.between(-0.25, 0.25))
    head.paint(ellipse(head, 0, -0.35, canvas.between(0.36, 0.45), 0.48), fur)
    hang = canvas.between(0.0, 0.15)
    for side in (-1, 1):
        head.paint(ellipse(head, side * 0.48, -0.25 + hang, 0.16, 0.42), ears)
        head.paint(ellipse(head, side * 0.18, -0.42, 0.08, 0.08), BLACK)
    head.paint(stroke(head, ((0, -0.75), (0, -0.4)), 0.07), pale, canvas.chance(0.5))
    head.paint(ellipse(head, 0, 0.3, 0.1, 0.2), PINK * np.float32(0.9), canvas.chance(0.6))
    head.paint(ellipse(head, 0, 0.0, 0.25, 0.27), pale)
    head.paint(stroke(head, ((-0.16, 0.14), (0, 0.1), (0.16, 0.14)), 0.025), BLACK)
    head.paint(ellipse(head, 0, -0.1, 0.14, 0.1), BLACK)


def deer(canvas: Canvas) -> None:
    """Paint a deer from the side: a slim body on thin legs, neck up, antlers or large ears, a white tail."""
    coat = canvas.colours((0.60, 0.40, 0.22), (0.48, 0.32, 0.20), (0.70, 0.52, 0.34), (0.42, 0.36, 0.30), jitter=0.06)
    antlered = canvas.chance(0.75)
    legs(canvas, coat * np.float32(0.8), (-0.52, -0.38, 0.16, 0.28), 0.15, 0.045)
    canvas.paint(ellipse(canvas, -0.66, -0.02, 0.09, 0.12), IVORY)
    canvas.paint(ellipse(canvas, -0.12, 0.06, 0.54, 0.2), coat)
    canvas.paint(ellipse(canvas, -0.1, 0.18, 0.36, 0.06), lighter(coat, 0.5))
    canvas.paint(stroke(canvas, ((0.28, 0.02), (0.52, -0.4)), 0.11), coat)
    canvas.paint(ellipse(canvas, 0.48, -0.56, 0.07, 0.15), coat * np.float32(0.8))
    canvas.paint(stroke(canvas, ((0.56, -0.44), (0.8, -0.34)), 0.09), coat)
    canvas.paint(ellipse(canvas, 0.88, -0.32, 0.05, 0.05), BLACK)
    canvas.paint(ellipse(canvas, 0.64, -0.46, 0.04, 0.04), BLACK)
    horn = canvas.colours((0.85, 0.76, 0.58), (0.50, 0.38, 0.26), jitter=0.05)
    width = canvas.between(0.03, 0.045)
    for branch in (
        ((0.52, -0.52), (0.26, -0.78), (0.3, -1.0)),
        ((0.3, -0.76), (0.1, -0.86)),
        ((0.56, -0.52), (0.74, -0.76), (0.68, -1.0)),
        ((0.72, -0.76), (0.92, -0.88)),
    ):
        canvas.paint(stroke(canvas, branch, width), horn, antlered)


def horse(canvas: Canvas) -> None:
    """Paint a horse from the side: a heavy body, an arched neck with a mane, a long head, a flowing tail."""
    coat = canvas.colours((0.45, 0.26, 0.14), (0.16, 0.12, 0.10), (0.88, 0.86, 0.82), (0.62, 0.40, 0.22), jitter=0.07)
    mane = canvas.colours((0.10, 0.07, 0.06), (0.85, 0.78, 0.62), (0.35, 0.22, 0.14), jitter=0.05)
    low = canvas.between(0.0, 0.1)
    legs(canvas, coat * np.float32(0.82), (-0.6, -0.42, 0.18, 0.36), 0.15, 0.075)
    canvas.paint(stroke(canvas, ((-0.62, -0.1), (-0.88, 0.1), (-0.9, 0.55)), 0.09), mane)
    canvas.paint(stroke(canvas, ((-0.42, 0.0), (0.2, 0.02)), 0.27), coat)
    canvas.paint(ellipse(canvas, -0.45, -0.02, 0.27, 0.28), coat)
    canvas.paint(stroke(canvas, ((0.14, -0.2), (0.3, -0.5 + low), (0.44, -0.78 + low)), 0.1), mane)
    canvas.paint(polygon(canvas, (0.12, -0.12), (0.42, -0.8 + low), (0.7, -0.66 + low), (0.48, 0.12)), coat)
    canvas.paint(stroke(canvas, ((0.54, -0.7 + low), (0.84, -0.38 + low)), 0.13), coat)
    canvas.paint(ellipse(canvas, 0.88, -0.34 + low, 0.1, 0.09), coat * np.float32(0.6))
    canvas.paint(polygon(canvas, (0.44, -0.98 + low), (0.56, -0.76 + low), (0.42, -0.74 + low)), coat)
    canvas.paint(ellipse(canvas, 0.62, -0.64 + low, 0.04, 0.04), BLACK)


def frog(canvas: Canvas) -> None:
    """Paint a squatting frog from the front: eyes on top of a wide head, a wide mouth, folded hind legs."""
    skin = canvas.colours((0.35, 0.60, 0.20), (0.45, 0.55, 0.25), (0.50, 0.40, 0.22), (0.25, 0.45, 0.30), jitter=0.1)
    dark, pale = skin * np.float32(0.65), lighter(skin, 0.5)
    width = canvas.between(0.5, 0.65)
    for side in (-1, 1):
        canvas.paint(ellipse(canvas, side * 0.68, 0.45, 0.27, 0.32), dark)
        canvas.paint(stroke(canvas, ((side * 0.5, 0.82), (side * 0.98, 0.84)), 0.07), dark)
    canvas.paint(ellipse(canvas, 0, 0.35, width, 0.46), skin)
    canvas.paint(ellipse(canvas, 0, 0.42, 0.38, 0.34), pale)
    for side in (-1, 1):
        canvas.paint(stroke(canvas, ((side * 0.36, 0.4), (side * 0.34, 0.85), (side * 0.5, 0.88)), 0.075), skin)
        canvas.paint(ellipse(canvas, side * 0.36, -0.42, 0.22, 0.22), skin)
    canvas.paint(ellipse(canvas, 0, -0.1, width + 0.06, 0.34), skin)
    iris = canvas.colours((0.90, 0.78, 0.20), (0.85, 0.45, 0.15), (0.92, 0.90, 0.75))
    for side in (-1, 1):
        canvas.paint(ellipse(canvas, side * 0.36, -0.45, 0.15, 0.15), iris)
        canvas.paint(ellipse(canvas, side * 0.36, -0.45, 0.08, 0.08), BLACK)
        canvas.paint(ellipse(canvas, side * 0.08, -0.2, 0.025, 0.025), BLACK)
    canvas.paint(stroke(canvas, ((-0.5, -0.06), (-0.2, 0.06), (0.2, 0.06), (0.5, -0.06)), 0.03), dark * np.float32(0.5))


def legs(canvas: Canvas, colour: np.ndarray, places: tuple[float, ...], top: float, width: Number) -> None:
    """Paint legs down to the ground at 0.95, each tilted a little, with dark hooves."""
    for x in places:
        foot = x + canvas.between(-0.12, 0.12)
        canvas.paint(stroke(canvas, ((x, top), ((x + foot) / 2 + 0.03, 0.5), (foot, 0.93)), width), colour)
        canvas.paint(ellipse(canvas, foot, 0.94, width * 1.2, width), BLACK)
