// What lies beside a certified model: the certificate with the rows it speaks of and the run's answers to them, and a script in Python
// that runs them through any onnxruntime again.

import type { Certificate, ExportedFile, ModelCheck, ModelInput } from '../protocol/exports.ts';
import { base64 } from './base64.ts';
import { utf8 } from './onnx/proto.ts';

export function proofFiles(
  name: string,
  { inputs, expected, answers }: ModelCheck,
  certificate: Certificate,
): readonly ExportedFile[] {
  const { probabilities, labels, values, scale } = expected;
  const proof = {
    certificate,
    answers,
    inputs: inputs.map(written),
    expected: {
      probabilities: probabilities && [...probabilities],
      labels,
      values: values && [...values],
      scale,
    },
  };
  return [
    { path: `${name}.check.json`, data: utf8(JSON.stringify(proof)) },
    { path: `${name}.check.py`, data: utf8(script(name)) },
  ];
}

/** Numbers as JSON has them, NaN as null; bytes as base64. */
function written({ name, type, shape, data }: ModelInput): object {
  if (data instanceof Uint8Array) return { name, type, shape, base64: base64(data) };
  return { name, type, shape, values: [...data] };
}

const script = (
  name: string,
): string => `"""Checks ${name}.onnx again: the rows of its certificate through onnxruntime, held against what the run answered.
pip install numpy onnxruntime (and onnx, for the checker)
python ${name}.check.py [${name}.onnx]"""
import base64, json, math, pathlib, sys

import numpy as np
import onnxruntime

here = pathlib.Path(__file__).resolve()
model = sys.argv[1] if len(sys.argv) > 1 else str(here.with_name(${JSON.stringify(`${name}.onnx`)}))
proof = json.loads(here.with_name(${JSON.stringify(`${name}.check.json`)}).read_text(encoding="utf-8"))
certificate, expected = proof["certificate"], proof["expected"]

try:
    import onnx
    onnx.checker.check_model(model, full_check=True)
    print("the ONNX checker finds nothing wrong")
except ImportError:
    print("onnx is not installed: its checker was not asked")


def values(entry):
    """An input as numpy has it; null = missing."""
    if entry["type"] == "uint8":
        return np.frombuffer(base64.b64decode(entry["base64"]), np.uint8).reshape(entry["shape"])
    if entry["type"] == "int64":
        return np.array(entry["values"], np.int64).reshape(entry["shape"])
    if entry["type"] == "double":
        return np.array([math.nan if v is None else v for v in entry["values"]], np.float64).reshape(entry["shape"])
    return np.array(entry["values"], dtype=object).reshape(entry["shape"])


session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
names = [output.name for output in session.get_outputs()]
found = dict(zip(names, session.run(None, {entry["name"]: values(entry) for entry in proof["inputs"]})))
answer = found[proof["answers"]["answer"]]
passed = True
if expected["labels"] is None:
    own = np.array(expected["values"])
    difference = np.abs(own - answer.reshape(-1)) / np.maximum(np.abs(own), expected["scale"])
else:
    shares = found[proof["answers"]["probabilities"]].astype(np.float64)
    own = np.array(expected["probabilities"]).reshape(shares.shape)
    difference = np.abs(own - shares).max(axis=1) / own.max(axis=1)
    equal = int((answer == np.array(expected["labels"], dtype=object)).sum())
    passed = equal == len(own)
    print(f"labels equal: {equal} of {len(own)}")
largest = float(difference.max())
passed = passed and largest <= certificate["allowed"]
print(f"largest relative difference: {largest:.3g}, allowed {certificate['allowed']:.0e}, of {len(own)} rows")
print(f"{'passes' if passed else 'FAILS'} with onnxruntime {onnxruntime.__version__}")
sys.exit(0 if passed else 1)
`;
