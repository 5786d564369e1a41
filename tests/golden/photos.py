#!/usr/bin/python3
"""Real photos prepared by Pillow: tests/golden/photos.txt, for tests/node/photos.test.mjs.

    python3 tests/golden/photos.py PHOTOS [FILE]        Pillow from 9.1 on, and no other package

PHOTOS is a folder with the photos below. Grey pixels are a photo's green channel. Transparent pixels
get alpha(x, y) and are laid on white before the photo is resized. A photo for a grey model is
converted to grey first. Each case is a line of these words:

file, channels of the pixels, channels of the model, filter, new length of the shorter side or 0,
rows and columns after resizing or 0, the way of resizing (see `fitted`), rows and columns of the
crop, how half of an odd margin is rounded, the grey around a photo or -1, step, FNV-1a of all bytes
of the crop, and every step-th pixel of every step-th row in hexadecimal.
"""

import pathlib
import sys

from PIL import Image

FILTERS = {name: getattr(Image.Resampling, name.upper())
           for name in ("bilinear", "bicubic", "lanczos", "nearest")}
PHOTOS = ["astronaut.png", "chelsea.png", "coffee.png"]

def square(shorter, rows, columns, crop, step, middle="even"):
    return (shorter, rows, columns, "stretch", crop, crop, middle, -1, step)


# Shorter side or 0, rows and columns or 0, way, rows and columns of the crop, middle, grey, step.
SIZES = [
    square(256, 0, 0, 224, 20),  # as for most models
    square(24, 0, 0, 24, 2),  # much smaller, no crop
    square(231, 0, 0, 224, 20),  # a crop whose margin is odd
    square(900, 0, 0, 640, 60),  # larger
    square(0, 224, 224, 224, 20),  # stretched
    square(0, 700, 90, 77, 7),  # more rows and fewer columns
]
SHAPES = [
    square(231, 0, 0, 224, 20, "floor"),  # an odd margin, rounded as in transformers
    (75, 0, 0, "stretch", 50, 72, "even", -1, 9),  # a crop that is not square
    (0, 64, 96, "stretch", 64, 96, "even", -1, 9),
    (0, 71, 106, "cover", 64, 96, "even", -1, 9),
    (0, 106, 71, "cover", 96, 64, "even", -1, 9),
    (0, 101, 101, "contain", 101, 101, "even", 124, 9),  # with an odd margin
    (0, 71, 106, "contain", 64, 96, "even", 7, 9),
    (0, 0, 0, "stretch", 200, 301, "floor", -1, 29),  # not resized
]
# Channels of the pixels and of the model.
KINDS = [(3, 1), (1, 1), (1, 3), (2, 1), (2, 3), (4, 1), (4, 3)]


def alpha(x, y):
    return (3 * x + 5 * y) % 256


def pixels(photo, channels, to):
    """A photo with `channels` channels, laid on white, then with the model's `to` channels."""
    if channels < 3:
        photo = Image.merge("RGB", [photo.getchannel("G")] * 3)
    mode = {1: "L", 3: "RGB"}[to]
    photo = photo.convert(mode)
    if channels % 2:
        return photo
    mask = Image.new("L", photo.size)
    mask.putdata([alpha(x, y) for y in range(photo.height) for x in range(photo.width)])
    over = Image.new(mode, photo.size, "white")
    over.paste(photo, mask=mask)
    return over


def fitted(size, shorter, rows, columns, fit):
    """Columns and rows after resizing, as torchvision's Resize or timm's ResizeKeepRatio does it."""
    if shorter:
        return [int(shorter * n / min(size)) for n in size]
    if not rows:
        return size
    if fit == "stretch":
        return columns, rows
    ratio = {"cover": min, "contain": max}[fit](n / m for n, m in zip(size, (columns, rows)))
    return [round(n / ratio) for n in size]


def start(have, want, middle):
    """Where the crop begins, as in torchvision's or transformers' CenterCrop; below 0 if the photo
    is smaller than the crop."""
    if have < want:
        return -((want - have) // 2)
    return (have - want) // 2 if middle == "floor" else int(round((have - want) / 2.0))


def resized(image, resample, shorter, rows, columns, fit, crop_rows, crop_columns, middle, grey):
    image = image.resize(fitted(image.size, shorter, rows, columns, fit), resample)
    crop = (crop_columns, crop_rows)
    left, top = (start(n, m, middle) for n, m in zip(image.size, crop))
    out = Image.new(image.mode, crop, (grey,) * len(image.getbands()))
    out.paste(image, (-left, -top))
    return out


def fnv(data):
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def line(name, photo, kind, filter_name, size):
    channels, to = kind
    image = resized(pixels(photo, channels, to), FILTERS[filter_name], *size[:-1])
    data, (columns, rows), step = image.tobytes(), image.size, size[-1]
    some = b"".join(data[(y * columns + x) * to:][:to]
                    for y in range(0, rows, step) for x in range(0, columns, step))
    return " ".join(map(str, [name, channels, to, filter_name, *size, f"{fnv(data):08x}", some.hex()]))


def main():
    folder = pathlib.Path(sys.argv[1])
    out = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parent / "photos.txt"
    lines = []
    for name in PHOTOS:
        photo = Image.open(folder / name).convert("RGB")
        for filter_name in FILTERS:
            lines += [line(name, photo, (3, 3), filter_name, size) for size in SIZES]
            some = KINDS if filter_name in ("bilinear", "bicubic") else KINDS[:1]
            lines += [line(name, photo, kind, filter_name, square(112, 0, 0, 96, 12)) for kind in some]
        for size, filter_name in zip(SHAPES, [*FILTERS, *FILTERS]):
            lines.append(line(name, photo, (3, 3), filter_name, size))
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
