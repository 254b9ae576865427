"""Names, shapes and probabilities of torchvision's and timm's models whose values are functions of their places: tests/golden/pretrained-pictures.json.

Value i of float tensor k is hash(i, k) (hashed.py), scaled by the kind of the tensor (`value_of` in pretrained-pictures.ts is the same).
Run with torch, torchvision, timm: python tests/golden/make_pretrained_pictures.py
"""

import json
import os

import numpy as np
import torch
from hashed import hashed

torch.library.register_fake = lambda *a, **k: (lambda f: f)  # torchvision's detection ops are not needed
import timm  # noqa: E402
import torchvision  # noqa: E402

SIDE, CLASSES = 64, 5


def value_of(name, shape, k, norm):
    u = hashed(int(np.prod(shape)), k).reshape(shape)
    if name.endswith("running_mean"):
        return 0.2 * u
    if name.endswith("running_var"):
        return 1 + 0.5 * u
    if len(shape) == 1:
        return 0.2 * u + (norm if name.endswith("weight") else 0)
    return u * np.sqrt(24 / np.prod(shape[1:]))


def fill(model, norm):
    tensors = {}
    for name, tensor in model.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        tensor.copy_(torch.tensor(value_of(name, tuple(tensor.shape), len(tensors), norm).astype(np.float32)))
        tensors[name] = list(tensor.shape)
    return tensors


pixels = np.floor((hashed(2 * 3 * SIDE * SIDE, 999) + 0.5) * 256).reshape(2, 3, SIDE, SIDE)
x = (pixels / 255 - np.array([0.485, 0.456, 0.406]).reshape(3, 1, 1)) / np.array([0.229, 0.224, 0.225]).reshape(3, 1, 1)
x = torch.tensor(x)
nets = {
    "resnet18": torchvision.models.resnet18,
    "resnet34": torchvision.models.resnet34,
    "resnet50": torchvision.models.resnet50,
    "mobilenet_v2": torchvision.models.mobilenet_v2,
    "timm/resnet18": lambda num_classes: timm.create_model("resnet18", num_classes=num_classes),
    "timm/mobilenet_v2": lambda num_classes: timm.create_model("mobilenetv2_100", num_classes=num_classes),
}
golden = {}
for name, make in nets.items():
    model = make(num_classes=CLASSES).eval()
    norm = 0.4 if "resnet" in name else 1
    tensors = fill(model, norm)
    with torch.no_grad():
        single = torch.softmax(model(x.float()), 1).double()
        double = torch.softmax(model.double()(x), 1)
    noise = float((single - double).abs().max())
    print(name, len(tensors), "noise of float32", noise, double.tolist())
    assert noise < 2e-5
    golden[name] = {"norm": norm, "tensors": tensors, "probabilities": [[round(p, 9) for p in row] for row in double.tolist()]}
with open(os.path.join(os.path.dirname(__file__), "pretrained-pictures.json"), "w") as file:
    file.write(json.dumps(golden, separators=(",", ":")) + "\n")
