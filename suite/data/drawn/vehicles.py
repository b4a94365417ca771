"""Airplanes, automobiles, ships and trucks, each within -1 to 1, heading right."""

import numpy as np

from suite.data.drawn import Canvas, Number, box, ellipse, polygon, stroke

PAINTS = (
    (0.80, 0.12, 0.12), (0.12, 0.25, 0.68), (0.90, 0.90, 0.90), (0.12, 0.12, 0.14), (0.65, 0.67, 0.70),
    (0.92, 0.78, 0.15), (0.10, 0.45, 0.25), (0.90, 0.50, 0.12), (0.40, 0.65, 0.85),
)  # fmt: skip
TYRE, CHROME, GLASS, SOOT = (0.07, 0.07, 0.08), (0.70, 0.70, 0.72), (0.20, 0.27, 0.34), (0.15, 0.15, 0.17)
LAMP, TAIL_LAMP, FOAM = (1.0, 0.93, 0.60), (0.85, 0.10, 0.08), (0.93, 0.96, 0.97)


def tone(colour: tuple[float, float, float]) -> np.ndarray:
    """Return the colour as float32[3]."""
    return np.array(colour, np.float32)


def airplane(canvas: Canvas) -> None:
    """Paint an airliner, seen from above or from the side."""
    skin = canvas.colours((0.93, 0.93, 0.95), (0.75, 0.77, 0.80), (0.55, 0.58, 0.62), *PAINTS[:2], jitter=0.08)
    livery = canvas.colours(*PAINTS, jitter=0.1)
    above = canvas.chance(0.55)
    shaded = skin * canvas.between(0.55, 0.8)[..., None]
    reach = canvas.between(0.7, 0.95)
    for side in (-1, 1):
        wing = ((0.28, 0.0), (-0.1, 0.0), (-0.5, side * reach), (-0.3, side * reach))
        tail = ((-0.62, 0.0), (-0.86, 0.0), (-1.0, side * 0.36), (-0.86, side * 0.36))
        canvas.paint(polygon(canvas, *wing[::-side]), shaded, above)
        canvas.paint(polygon(canvas, *tail[::-side]), shaded, above)
        canvas.paint(ellipse(canvas, 0.1, side * 0.36, 0.15, 0.06), tone(SOOT), above)
    canvas.paint(polygon(canvas, (-1, -0.55), (-0.8, -0.55), (-0.45, -0.02), (-0.9, -0.02)), livery, 1 - above)
    canvas.paint(ellipse(canvas, 0, 0, 0.97, canvas.between(0.12, 0.18)), skin)
    canvas.paint(stroke(canvas, ((-0.6, -0.03), (0.7, -0.03)), 0.03), tone(GLASS), 1 - above)
    canvas.paint(stroke(canvas, ((-0.75, 0.05), (0.8, 0.05)), 0.03), livery, 1 - above)
    canvas.paint(polygon(canvas, (-0.12, 0.02), (0.22, 0.02), (-0.3, 0.52), (-0.46, 0.52)), shaded, 1 - above)
    canvas.paint(ellipse(canvas, 0.1, 0.2, 0.16, 0.08), tone(SOOT), 1 - above)
    canvas.paint(ellipse(canvas, 0.78, -0.02, 0.08, 0.06), tone(SOOT))


def automobile(canvas: Canvas) -> None:
    """Paint a car from the side: a low rounded body and a cabin with two windows."""
    lacquer = canvas.colours(*PAINTS, jitter=0.1)
    roof, front, rear = canvas.between(-0.55, -0.4), canvas.between(0.15, 0.35), canvas.between(-0.6, -0.35)
    shadow(canvas, 0.55)
    canvas.paint(polygon(canvas, (rear, roof), (front, roof), (0.62, 0), (-0.8, 0)), lacquer * np.float32(0.85))
    glass = canvas.colours(GLASS, (0.65, 0.75, 0.82), (0.1, 0.1, 0.12), jitter=0.06)
    top = roof + 0.08
    canvas.paint(polygon(canvas, (rear + 0.04, top), (-0.1, top), (-0.1, -0.03), (-0.66, -0.03)), glass)
    canvas.paint(polygon(canvas, (0, top), (front - 0.04, top), (0.5, -0.03), (0, -0.03)), glass)
    canvas.paint(stroke(canvas, ((-0.76, 0.18), (0.76, 0.18)), 0.22), lacquer)
    canvas.paint(stroke(canvas, ((-0.6, 0.34), (0.6, 0.34)), 0.06), lacquer * np.float32(0.5))
    canvas.paint(ellipse(canvas, 0.91, 0.1, 0.08, 0.07), tone(LAMP))
    canvas.paint(ellipse(canvas, -0.93, 0.1, 0.06, 0.07), tone(TAIL_LAMP))
    wheels(canvas, (-0.55, 0.55), 0.38, canvas.between(0.2, 0.26))


def truck(canvas: Canvas) -> None:
    """Paint a lorry from the side: a tall box or a tank behind a cab, on three wheels."""
    cab, cargo = canvas.colours(*PAINTS, jitter=0.1), canvas.colours(*PAINTS, (0.85, 0.85, 0.82), jitter=0.1)
    top, tank = canvas.between(-0.85, -0.55), canvas.chance(0.2)
    shadow(canvas, 0.6)
    canvas.paint(box(canvas, -0.98, 0.2, 0.92, 0.4), tone(SOOT))
    canvas.paint(box(canvas, -0.98, top, 0.3, 0.26), cargo, 1 - tank)
    for x in (-0.66, -0.34, -0.02):
        canvas.paint(box(canvas, x - 0.015, top, x + 0.015, 0.26), cargo * np.float32(0.7), 1 - tank)
    canvas.paint(stroke(canvas, ((-0.68, -0.1), (0.0, -0.1)), 0.31), cargo, tank)
    canvas.paint(stroke(canvas, ((-0.7, -0.24), (0.0, -0.24)), 0.05), cargo * np.float32(0.5) + np.float32(0.5), tank)
    canvas.paint(polygon(canvas, (0.38, -0.48), (0.72, -0.48), (0.95, -0.05), (0.95, 0.32), (0.38, 0.32)), cab)
    canvas.paint(polygon(canvas, (0.5, -0.38), (0.69, -0.38), (0.86, -0.05), (0.5, -0.05)), tone(GLASS))
    canvas.paint(ellipse(canvas, 0.92, 0.18, 0.06, 0.06), tone(LAMP))
    wheels(canvas, (-0.72, -0.28, 0.64), 0.42, canvas.between(0.17, 0.22))


def ship(canvas: Canvas) -> None:
    """Paint a steamer or a sailing boat from the side, the hull cut by white water."""
    hull = canvas.colours(*PAINTS, jitter=0.1)
    sails = canvas.chance(0.35)
    steam = 1 - sails
    white, funnel = canvas.colours((0.93, 0.93, 0.92), (0.8, 0.78, 0.7), jitter=0.06), canvas.colours(*PAINTS[:6])
    canvas.paint(box(canvas, -0.55, -0.22, 0.35, 0.12), white, steam)
    canvas.paint(box(canvas, -0.4, -0.48, 0.1, -0.2), white * np.float32(0.9), steam)
    canvas.paint(stroke(canvas, ((-0.45, -0.06), (0.25, -0.06)), 0.035), tone(GLASS), steam)
    canvas.paint(polygon(canvas, (-0.28, -0.85), (-0.08, -0.85), (-0.05, -0.46), (-0.25, -0.46)), funnel, steam)
    canvas.paint(stroke(canvas, ((0.2, -0.2), (0.2, -0.75)), 0.02), tone(SOOT), steam)
    mast = ((0.0, 0.1), (0.0, -0.98))
    canvas.paint(stroke(canvas, mast, 0.025), tone(SOOT), sails)
    canvas.paint(polygon(canvas, (0.05, -0.95), (0.72, -0.02), (0.05, 0.0)), white, sails)
    canvas.paint(polygon(canvas, (-0.06, -0.8), (-0.06, -0.02), (-0.6, -0.02)), white * np.float32(0.85), sails)
    canvas.paint(polygon(canvas, (-0.95, 0.1), (1.0, 0.02), (0.75, 0.46), (-0.78, 0.46)), hull)
    canvas.paint(stroke(canvas, ((-0.72, 0.38), (0.75, 0.36)), 0.05), tone((0.55, 0.12, 0.10)))
    canvas.paint(stroke(canvas, ((-1.0, 0.5), (0.0, 0.46), (0.9, 0.5)), 0.05), tone(FOAM), canvas.between(0.3, 0.9))


def wheels(canvas: Canvas, places: tuple[float, ...], y: float, radius: Number) -> None:
    """Paint wheels of a radius with their axles at height y."""
    for x in places:
        canvas.paint(ellipse(canvas, x, y, radius, radius), tone(TYRE))
        canvas.paint(ellipse(canvas, x, y, radius * 0.45, radius * 0.45), tone(CHROME))


def shadow(canvas: Canvas, y: float) -> None:
    """Darken the ground under the object."""
    canvas.paint(ellipse(canvas, 0, y, 1.0, 0.12), 0.0, canvas.between(0.3, 0.7))
