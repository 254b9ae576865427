"""Fits LightGBM and scikit-learn on what `trainyard bench --suite tables` times: the shapes of engine/bench/tables.ts, rows made up the same way.

usage: trainyard bench --suite tables --peer "PYTHON tests/bench/tables-peers.py", which adds --only NAME --rows N --threads N
One JSON object a line: milliseconds on the clock and of the processor.
"""
import argparse, json, os, time

asked = argparse.ArgumentParser()
asked.add_argument("--only", default="boosted,predict,forest")
asked.add_argument("--rows", type=int, default=100_000)
asked.add_argument("--threads", type=int, default=1)
args = asked.parse_args()
os.environ["OMP_NUM_THREADS"] = str(args.threads)

import numpy as np

draw = np.random.default_rng(1)
x = draw.standard_normal((args.rows, 28))
bent = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + x[:, 3] ** 2 - 1 + 0.7 * x[:, 4]
y = (bent + 2 * draw.random(args.rows) - 1 > 0).astype(np.int32)


def boosted():
    import lightgbm
    return lambda: lightgbm.LGBMClassifier(n_estimators=100, num_leaves=31, n_jobs=args.threads, verbose=-1).fit(x, y)


def predict():
    model = boosted()()
    return lambda: model.predict_proba(x, num_threads=args.threads)


def forest():
    from sklearn.ensemble import RandomForestClassifier
    return lambda: RandomForestClassifier(300, n_jobs=args.threads, random_state=1).fit(x, y)


tasks = {"boosted": (boosted, "LightGBM"), "predict": (predict, "LightGBM"), "forest": (forest, "scikit-learn")}
for name in args.only.split(","):
    make, peer = tasks[name]
    work = make()
    start, before = time.perf_counter(), time.process_time()
    work()
    clock, cpu = time.perf_counter() - start, time.process_time() - before
    print(json.dumps({"peer": peer, "workload": name, "value": 1000 * clock, "cpu": 1000 * cpu, "threads": args.threads}), flush=True)
