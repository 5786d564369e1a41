#!/usr/bin/python3
"""What Pillow makes of real photos: tests/golden/photos.txt, for tests/c/photos_test.c.

    python3 tests/golden/photos.py PHOTOS [FILE]        Pillow from 9.1 on, and no other package

PHOTOS is a folder with the photos below, as ../shared/photos. Grey pixels are a photo's green ones.
Transparent ones get alpha(x, y), lie on white, and are resized then; whatever is to be grey is
converted first. A line a case, its words:

file, channels of the pixels and of the model, filter, the length that the shorter side gets or 0,
rows and columns that the photo is stretched to or 0, crop, step, FNV-1a of all bytes of the crop,
and of those every step-th row's every step-th pixel in hexadecimal.
"""

import pathlib
import sys

from PIL import Image

FILTERS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}
PHOTOS = ["astronaut.png", "chelsea.png", "coffee.png"]

# The shorter side or 0, rows and columns or 0, crop, step.
SIZES = [
    (256, 0, 0, 224, 20),  # as most models are given them
    (24, 0, 0, 24, 2),  # much smaller, no crop
    (231, 0, 0, 224, 20),  # a crop whose margin is odd
    (900, 0, 0, 640, 60),  # larger
    (0, 224, 224, 224, 20),  # stretched
    (0, 700, 90, 77, 7),  # longer and narrower at once
]
# Channels of the pixels and of the model.
KINDS = [(3, 1), (1, 1), (1, 3), (2, 1), (2, 3), (4, 1), (4, 3)]


def alpha(x, y):
    return (3 * x + 5 * y) % 256


def pixels(photo, channels, to):
    """A photo as so many channels, opaque, then as those of the model."""
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


def resized(image, resample, shorter, rows, columns, crop):
    """As torchvision's Resize and CenterCrop."""
    if shorter:
        least = min(image.size)
        columns, rows = (int(shorter * n / least) for n in image.size)
    left, top = (int(round((n - crop) / 2.0)) for n in (columns, rows))
    image = image.resize((columns, rows), resample)
    return image.crop((left, top, left + crop, top + crop))


def fnv(data):
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def line(name, photo, kind, filter_name, size):
    channels, to = kind
    image = resized(pixels(photo, channels, to), FILTERS[filter_name], *size[:4])
    data, crop, step = image.tobytes(), size[3], size[4]
    some = b"".join(data[(y * crop + x) * to:][:to]
                    for y in range(0, crop, step) for x in range(0, crop, step))
    return " ".join(map(str, [name, channels, to, filter_name, *size, f"{fnv(data):08x}", some.hex()]))


def main():
    folder = pathlib.Path(sys.argv[1])
    out = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parent / "photos.txt"
    lines = []
    for name in PHOTOS:
        photo = Image.open(folder / name).convert("RGB")
        for filter_name in FILTERS:
            lines += [line(name, photo, (3, 3), filter_name, size) for size in SIZES]
            lines += [line(name, photo, kind, filter_name, (112, 0, 0, 96, 12)) for kind in KINDS]
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
