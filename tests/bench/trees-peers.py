"""Fits LightGBM and scikit-learn for tests/bench/trees.ts: reads the name of a task a line, answers with what it took.

usage: trees-peers.py ROWS.bin rows width threads
"""
import json, sys, time
import numpy as np
import lightgbm as lgb
from sklearn.ensemble import RandomForestClassifier

file, rows, width, threads = sys.argv[1], *map(int, sys.argv[2:5])
values = np.fromfile(file, dtype=np.float64, count=rows * width).reshape(rows, width)
targets = np.fromfile(file, dtype=np.float32, offset=8 * rows * width).astype(np.int32)
boosted = lambda: lgb.LGBMClassifier(n_estimators=100, num_leaves=31, n_jobs=threads, verbose=-1)
kept = {}


def predict():
    if "model" not in kept:
        kept["model"] = boosted().fit(values, targets)
    return lambda: kept["model"].predict_proba(values, num_threads=threads)


tasks = {
    "boosted": lambda: lambda: boosted().fit(values, targets),
    "predict": predict,
    "forest": lambda: lambda: RandomForestClassifier(300, n_jobs=threads, random_state=1).fit(values[:20000], targets[:20000]),
}
for line in sys.stdin:
    work = tasks[line.strip()]()
    start, before = time.perf_counter(), time.process_time()
    work()
    print(json.dumps({"clock": time.perf_counter() - start, "cpu": time.process_time() - before}), flush=True)
