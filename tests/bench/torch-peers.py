"""Times PyTorch on the larger workloads of `trainyard bench`: training steps of ResNet-18 and MobileNet, and answers to one row.

usage: trainyard bench --only mobilenet-96 --peer "PYTHON tests/bench/torch-peers.py --threads 2 --only {only}"
Each is tried as most people write it (eager), tuned (channels last, fused optimizer; frozen graphs for prediction) and compiled; the
fastest counts. One JSON object a line: {"peer","mode","workload","unit","threads","value"} in milliseconds, best of --repeat.
"""
import argparse, json, time

asked = argparse.ArgumentParser()
asked.add_argument("--only", default="resnet18-224,mobilenet-96,mlp-one-row,resnet20-one-row")
asked.add_argument("--threads", type=int, default=2)
asked.add_argument("--repeat", type=int, default=7)
args = asked.parse_args()

import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(args.threads)


def normalised(inputs, filters, kernel, stride, groups=1):
    return [nn.Conv2d(inputs, filters, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(filters)]


class Block(nn.Module):
    def __init__(self, inputs, filters, stride):
        super().__init__()
        self.body = nn.Sequential(*normalised(inputs, filters, 3, stride), nn.ReLU(), *normalised(filters, filters, 3, 1))
        changes = stride != 1 or inputs != filters
        self.shortcut = nn.Sequential(*(normalised(inputs, filters, 1, stride) if changes else []))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


def residual(stem, widths, blocks):
    layers, inputs = list(stem), widths[0]
    for i, filters in enumerate(widths):
        for j in range(blocks):
            layers.append(Block(inputs, filters, 2 if i > 0 and j == 0 else 1))
            inputs = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))


def resnet20():
    return residual([*normalised(3, 16, 3, 1), nn.ReLU()], [16, 32, 64], 3)


def resnet18():
    return residual([*normalised(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], [64, 128, 256, 512], 2)


def mobilenet():
    layers, inputs = [*normalised(3, 32, 3, 2), nn.ReLU()], 32
    pairs = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for filters, stride in pairs:
        layers += [*normalised(inputs, inputs, 3, stride, inputs), nn.ReLU(), *normalised(inputs, filters, 1, 1), nn.ReLU()]
        inputs = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def training(make, shape):
    def open_in(mode):
        model, x, y = make(), torch.randn(shape), torch.randint(0, 10, shape[:1])
        if mode != "eager":
            model, x = model.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
        optimizer, loss = torch.optim.SGD(model.parameters(), 0.1, 0.9, fused=mode != "eager"), nn.CrossEntropyLoss()
        if mode == "compile":
            model = torch.compile(model)

        def step():
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
        return step
    return "ms/step", open_in


def answering(make, shape):
    def open_in(mode):
        model, x = make().eval(), torch.randn(shape)
        if mode == "tuned":
            model = torch.jit.freeze(torch.jit.trace(model, x))
        if mode == "compile":
            model = torch.compile(model)

        def answer():
            with torch.inference_mode():
                model(x)
        return answer
    return "ms/row", open_in


workloads = {
    "resnet18-224": training(resnet18, (16, 3, 224, 224)),
    "mobilenet-96": training(mobilenet, (32, 3, 96, 96)),
    "mlp-one-row": answering(mlp, (1, 784)),
    "resnet20-one-row": answering(resnet20, (1, 3, 32, 32)),
}


def best(run):
    start, times = time.perf_counter(), []
    run()
    run()
    while len(times) < args.repeat or time.perf_counter() - start < 1.5:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


for name in args.only.split(","):
    if name not in workloads:
        continue
    unit, open_in = workloads[name]
    found = {}
    for mode in ("eager", "tuned", "compile"):
        torch.manual_seed(0)
        try:
            found[mode] = best(open_in(mode))
        except Exception:  # no compiler, an old PyTorch: the other modes still count
            if mode == "eager":
                raise
    mode = min(found, key=found.get)
    row = {"peer": f"pytorch-{torch.__version__}", "mode": mode, "workload": name, "unit": unit, "threads": args.threads}
    print(json.dumps({**row, "value": round(found[mode], 4)}), flush=True)
