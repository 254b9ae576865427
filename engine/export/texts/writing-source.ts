// The Python of `write.py`, which lies beside a language model: its tokens, and the likeliest one again and again, as `generate` here with
// temperature 0 (engine/train/generate.ts).

import { beginning, keptFrom } from '../../train/generate.ts';

/** How the model is read there. */
export interface WritingSource {
  /** Of the tokenizer. */
  readonly file: string;
  /** Tokens that the model sees. */
  readonly length: number;
  /** Whether the tokens are characters; else the file is a tokenizer.json of Hugging Face. */
  readonly characters: boolean;
  /** Id of what stands for all that training has not seen: it is never written. */
  readonly unknown: number | null;
  /** The ONNX model and the name of its input; null: `model.py` beside it. */
  readonly onnx: { readonly file: string; readonly input: string } | null;
}

const charactersSource = `saved = json.loads((here / FILE).read_text(encoding="utf-8"))["characters"]
known = {sign: place + 1 for place, sign in enumerate(saved)}


def encode(text):
    """Each code point that training saw; id 0 stands for all others."""
    return [known.get(sign, 0) for sign in text]


def decode(ids):
    return "".join(saved[id - 1] if id else "\\ufffd" for id in ids)
`;

const fileSource = `from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(str(here / FILE))
tokenizer.no_padding()
tokenizer.no_truncation()


def encode(text):
    return tokenizer.encode(text, add_special_tokens=False).ids


def decode(ids):
    return tokenizer.decode(ids, skip_special_tokens=False)
`;

const torchSource = `def open_model():
    """A function as write() takes it: the model in PyTorch."""
    import torch

    import model

    network = model.load()

    def following(ids):
        with torch.no_grad():
            return network(torch.from_numpy(ids + 1).float())[0].numpy()

    return following
`;

const onnxSource = (file: string, input: string): string => `def open_model():
    """A function as write() takes it: the model in onnxruntime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(here / ${JSON.stringify(file)}), providers=["CPUExecutionProvider"])
    return lambda ids: session.run(["logits"], {${JSON.stringify(input)}: ids})[0][0]
`;

export const writingSource = ({
  file,
  length,
  characters,
  unknown,
  onnx,
}: WritingSource): string => `"""Writes on after a prompt, the likeliest token each time: the text that the run writes with temperature 0.
pip install numpy${characters ? '' : ' tokenizers'} ${onnx ? 'onnxruntime' : 'torch safetensors'}
    python ${onnx ? onnx.file.replace(/onnx$/, 'write.py') : 'write.py'} "Once upon a time" 100"""
${characters ? 'import json\n' : ''}import pathlib
import sys

import numpy as np

here = pathlib.Path(__file__).resolve().parent
FILE = ${JSON.stringify(file)}
# Tokens that the model sees of what was before.
LENGTH = ${length}
# Where they are full: how many of them are looked at on.
KEPT = ${length < keptFrom ? length : Math.ceil(length / 2)}
# What stands for all that training has not seen has no text.
UNKNOWN = ${unknown ?? 'None'}

${characters ? charactersSource : fileSource}

${onnx ? onnxSource(onnx.file, onnx.input) : torchSource}

def write(following, prompt, tokens=100):
    """What follows the prompt. following: from ids, int64 [1, LENGTH], -1 behind the last one, to the logits of the next token."""
    ids = list(encode(prompt or ${JSON.stringify(beginning)})) or [0]
    first, start = len(ids), max(0, len(ids) - LENGTH)
    for _ in range(tokens):
        if len(ids) - start > LENGTH:
            start = len(ids) - KEPT
        row = np.full((1, LENGTH), -1, np.int64)
        row[0, : len(ids) - start] = ids[start:]
        logits = np.array(following(row), np.float32)
        if UNKNOWN is not None:
            logits[UNKNOWN] = -np.inf
        ids.append(int(logits.argmax()))
    return decode(ids[first:])


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    given = sys.argv[1:]
    print(write(open_model(), given[0] if given else "", int(given[1]) if len(given) > 1 else 100))
`;
