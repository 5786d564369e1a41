#!/usr/bin/python3
"""A ViT-B/16 of full size by torchvision alone, with which full.mjs compares: npm run test:full.

    python3 tests/golden/full.py FOLDER [F32|F16|BF16] [PHOTO.png …]     torchvision from 0.14 on
    node tests/golden/full.mjs FOLDER

The weights are random, from a seed, and far from their usual start, so that a 0 or a 1 hides no
mistake. Writes to FOLDER, 350 MB in F32:

model.safetensors   torchvision's state_dict, with tensors in the given type
NAME.rgb            a photo's bytes; by default of shared/photos beside the repository, or of web/page.png
expected.json       torchvision's results for each photo, prepared by its transforms, in float64
"""

import json
import pathlib
import sys

import torch
from PIL import Image
from torchvision import transforms
from torchvision.models import vit_b_16

from make import DTYPES, write_safetensors

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
MODES = transforms.InterpolationMode


def random_model(dtype):
    torch.manual_seed(16)
    model = vit_b_16().eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn_like(p)
            if p.dim() == 1:
                p.copy_(1 + 0.2 * noise if "ln" in name and name.endswith("weight") else 0.1 * noise)
            elif p.dim() == 3:
                p.copy_(0.3 * noise)
            else:
                p.copy_(1.5 * noise / p[0].numel() ** 0.5)
            p.copy_(p.to(DTYPES[dtype]))
    return model


def prepared(photo, mode):
    return transforms.Compose([
        transforms.Resize(256, interpolation=mode), transforms.CenterCrop(224),
        transforms.ToTensor(), transforms.Normalize(MEAN, STD)])(photo)


def main():
    folder, dtype = pathlib.Path(sys.argv[1]), (sys.argv[2:] or ["F32"])[0]
    root = pathlib.Path(__file__).resolve().parents[2]
    usual = sorted((root.parent / "shared" / "photos").glob("*.png")) or [root / "web" / "page.png"]
    photos = [pathlib.Path(path) for path in sys.argv[3:]] or usual
    folder.mkdir(parents=True, exist_ok=True)
    model = random_model(dtype)
    tensors = {name: (dtype, p) for name, p in model.state_dict().items()}
    write_safetensors(folder / "model.safetensors", tensors)
    model = model.double()
    expected = dict(dtype=dtype, mean=MEAN, std=STD, photos=[])
    for path in photos:
        photo = Image.open(path).convert("RGB")
        (folder / f"{path.stem}.rgb").write_bytes(photo.tobytes())
        for mode in [MODES.BILINEAR, MODES.BICUBIC]:
            with torch.no_grad():
                logits = model(prepared(photo, mode)[None].double())[0]
            print(path.stem, mode.value, "top 5:", *logits.topk(5).indices.tolist(), flush=True)
            expected["photos"].append(dict(
                name=path.stem, width=photo.width, height=photo.height,
                interpolation=mode.value, logits=logits.tolist()))
    (folder / "expected.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main()
