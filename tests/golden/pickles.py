#!/usr/bin/python3
"""Models of this folder in PyTorch's own file formats: tests/golden/pickle/.

    python3 tests/golden/pickles.py [FOLDER]    PyTorch from 1.13 on, and numpy

Each file holds the tensors of a NAME.safetensors of this folder, bit for bit. torch.save wrote it:

zip.pt        in today's format, with a module's _metadata and parameters
legacy.pt     in the format before PyTorch 1.6
protocol4.pth, protocol5.pth  with newer opcodes
half.bin, bfloat.bin          16 bits a number; the second in the legacy format
double.pt     64 bits a number
views.pt      all tensors in one storage: transposed, with strides, at an offset, repeated
nested.pt     a training run's file: "model" beside an optimizer, arguments, counters
extras.pt     "state_dict" beside what training code stores: a path, a date, an enum, objects of classes
pytorch_model.bin.index.json  an index and its two files
"""

import argparse
import collections
import datetime
import enum
import functools
import json
import pathlib
import struct
import sys

import numpy
import torch

HERE = pathlib.Path(__file__).parent
SMALL = "one_block_one_head"


def read_safetensors(path):
    """The file's tensors, by name."""
    data = path.read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    types = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
    return [(name, torch.frombuffer(bytearray(data[8 + size:][slice(*one["data_offsets"])]),
                                    dtype=types[one["dtype"]]).reshape(one["shape"]))
            for name, one in header.items()]


def state_of(name):
    return collections.OrderedDict(read_safetensors(HERE / f"{name}.safetensors"))


def module_like(state):
    """The state as nn.Module.state_dict() gives it, with some tensors as parameters."""
    module = collections.OrderedDict(
        (name, torch.nn.Parameter(one) if one.dim() > 1 else one) for name, one in state.items())
    module._metadata = collections.OrderedDict([("", {"version": 1}), ("blocks", {"version": 1})])
    return module


def views(state):
    """The same numbers as views, none of them at its usual place."""
    flat = torch.zeros(3 + sum(2 * one.numel() for one in state.values()))
    at, copies = 3, collections.OrderedDict()
    for index, (name, one) in enumerate(state.items()):
        part = flat[at:at + 2 * one.numel()]
        if one.dim() == 2 and index % 2:
            view = part[:one.numel()].view(one.shape[::-1]).t()
        elif one.numel() > 1 and one.unique().numel() == 1:
            view = part[:1].expand(one.shape)
        else:
            view = part[::2].view(one.shape) if one.dim() < 2 else part[:one.numel()].view(one.shape)
        view.copy_(one) if view.stride() != (0,) * view.dim() else part[:1].copy_(one.flatten()[:1])
        at += 2 * one.numel()
        copies[name] = view
        assert torch.equal(view, one), name
    return copies


def training(state):
    """The layout of DeiT's and MAE's checkpoints."""
    weights = [torch.nn.Parameter(one.clone()) for one in state.values()]
    optimizer = torch.optim.AdamW(weights[:2], lr=numpy.float64(1e-3))
    sum(one.sum() for one in weights[:2]).backward()
    optimizer.step()
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [3, 5, 5])
    return {
        "epoch": numpy.int64(299), "best": numpy.float64(0.5), "loss": torch.tensor(0.25),
        "model": collections.OrderedDict((f"module.{name}", one) for name, one in state.items()),
        "optimizer": optimizer.state_dict(), "lr_scheduler": schedule.state_dict(),
        "args": argparse.Namespace(lr=5e-4, model="tiny", size=(3, 1), device=torch.device("cpu"),
                                   seed=2**70, path=None, dist=False, note="Gewichte für später"),
        "rng": torch.tensor([1, 2, 3], dtype=torch.uint8),
    }


class Mode(enum.Enum):
    FIT = 1


class Config(dict):
    """A dict of attributes, as OmegaConf, Lightning and MMEngine have them."""


def extras(state):
    linear = torch.nn.Linear(2, 2)
    config = Config(width=64)
    config.path = pathlib.PurePosixPath("/data")
    return {
        "config": config, "path": pathlib.PurePosixPath("/data"), "date": datetime.datetime(2026, 1, 2),
        "names": {"a"}, "defaults": collections.defaultdict(list, a=[1]), "mode": Mode.FIT,
        "partial": functools.partial(max, 1), "array": numpy.arange(6).reshape(2, 3), "loss": torch.nn.MSELoss,
        "module": linear, "layout": linear.weight.detach().to_sparse(), "deque": collections.deque([1], 3),
        "numbers": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), "state_dict": state,
    }


def main(folder):
    folder.mkdir(exist_ok=True)
    small = state_of(SMALL)
    old = dict(_use_new_zipfile_serialization=False)
    torch.save(module_like(small), folder / "zip.pt")
    torch.save(module_like(small), folder / "legacy.pt", **old)
    torch.save(small, folder / "protocol4.pth", pickle_protocol=4)
    torch.save(small, folder / "protocol5.pth", pickle_protocol=5, **old)
    torch.save(state_of("half"), folder / "half.bin")
    torch.save(state_of("bfloat"), folder / "bfloat.bin", **old)
    torch.save({name: one.double() for name, one in small.items()}, folder / "double.pt")
    torch.save(views(small), folder / "views.pt")
    torch.save(training(small), folder / "nested.pt")
    torch.save(extras(small), folder / "extras.pt")
    names = list(small)
    shards, where = (names[::2], names[1::2]), {}
    for index, part in enumerate(shards):
        file = f"pytorch_model-{index + 1:05}-of-00002.bin"
        torch.save({name: small[name] for name in part}, folder / file)
        where.update((name, file) for name in part)
    index = {"metadata": {"total_size": 4 * sum(one.numel() for one in small.values())}, "weight_map": where}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index, indent=2) + "\n")


if __name__ == "__main__":
    torch.manual_seed(0)
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "pickle")
