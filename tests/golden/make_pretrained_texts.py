"""Small models of transformers whose values are functions of their places, with what they answer: tests/golden/pretrained-texts.json.

Value i of tensor k is hash(i, k) (hashed.py): tables and products scaled by 1/sqrt(width), biases 0.2, norms about 1.
Run with torch, transformers, tokenizers: python tests/golden/make_pretrained_texts.py
"""

import json
import os

import numpy as np
import torch
from hashed import hashed

torch.library.register_fake = lambda *a, **k: (lambda f: f)  # torchvision's detection ops are not needed
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402
from transformers import (  # noqa: E402
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    GPT2Config,
    GPT2ForSequenceClassification,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

CORPUS = [
    "The trains leave the yard at seven, and the last of them comes back at night.",
    "A yard engine moves the wagons from one track to another.",
    "Nobody knows who has painted the signal box green.",
    "It rains, it pours: the points freeze in winter and stick in summer!",
]
TEXTS = [*CORPUS, "Héllo, naïve café 😀?", "a", "unknown words: zyzzyva; " * 12, "THE  YARD\tengine"]
MOST = 24


def value_of(name, shape, k):
    u = hashed(int(np.prod(shape)), k).reshape(shape)
    if len(shape) == 1:
        norm = name.endswith("weight") and ("Norm" in name or "ln_" in name or "layer_norm" in name)
        return 0.2 * u + (1 if norm else 0)
    if name.startswith(("classifier", "score")):
        return u * 3 / np.sqrt(shape[1])
    return u * (4 if "mbedding" in name or "wte" in name or "wpe" in name else 12 / np.sqrt(shape[1]))


def wordpiece():
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=120, special_tokens=special))
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return made


def byte_pairs(special, begin=None, end=None):
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
    )
    if begin is not None:
        made.post_processor = processors.TemplateProcessing(
            single=f"{special[begin]} $A {special[end]}", special_tokens=[(special[begin], begin), (special[end], end)]
        )
    return made


def told(model, ids):
    """Probabilities, or a number; None of a body."""
    with torch.no_grad():
        found = model(input_ids=torch.tensor([ids]))
    if not hasattr(found, "logits"):
        return None
    logits = found.logits[0]
    return [round(float(v), 9) for v in (torch.softmax(logits, 0) if len(logits) > 1 else logits)]


labels = {"num_labels": 3, "id2label": {0: "dull", 1: "fine", 2: "odd"}, "label2id": {"dull": 0, "fine": 1, "odd": 2}}
made = os.path.join(os.path.dirname(__file__), "pretrained-texts.json")
if os.path.exists(made):
    # Of pieces that are equally frequent each training takes others.
    before = json.load(open(made))["tokenizers"]
    words, marked, plain = (Tokenizer.from_str(json.dumps(before[name])) for name in ("wordpiece", "marked", "plain"))
else:
    words, marked, plain = wordpiece(), byte_pairs(["<s>", "<pad>", "</s>", "<unk>"], 0, 2), byte_pairs(["<|endoftext|>"])
bert = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
cases = {
    "bert": (BertForSequenceClassification, BertConfig(vocab_size=words.get_vocab_size(), max_position_embeddings=MOST, **bert, **labels), words),
    "minilm": (BertModel, BertConfig(vocab_size=words.get_vocab_size() + 3, max_position_embeddings=MOST, **bert), words),
    "number": (BertForSequenceClassification, BertConfig(vocab_size=words.get_vocab_size(), max_position_embeddings=MOST, hidden_act="gelu_new", num_labels=1, **bert), words),
    "distilbert": (DistilBertForSequenceClassification, DistilBertConfig(vocab_size=words.get_vocab_size(), dim=16, n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=MOST, **labels), words),
    "roberta": (RobertaForSequenceClassification, RobertaConfig(vocab_size=marked.get_vocab_size(), max_position_embeddings=MOST + 2, type_vocab_size=1, layer_norm_eps=1e-5, **bert, **labels), marked),
    "gpt2": (GPT2ForSequenceClassification, GPT2Config(vocab_size=plain.get_vocab_size(), n_embd=16, n_layer=2, n_head=2, n_positions=MOST, pad_token_id=0, **labels), plain),
}
golden = {"texts": TEXTS, "tokenizers": {"wordpiece": json.loads(words.to_str()), "marked": json.loads(marked.to_str()), "plain": json.loads(plain.to_str())}, "models": {}, "empty": {}, "ends": {}}
tokenizers = {id(words): "wordpiece", id(marked): "marked", id(plain): "plain"}
for name, (kind, config, tokenizer) in cases.items():
    model = kind(config).eval()
    tensors = {}
    for tensor_name, tensor in model.state_dict().items():
        if not tensor.is_floating_point():
            continue
        tensor.copy_(torch.tensor(value_of(tensor_name, tuple(tensor.shape), len(tensors)).astype(np.float32)))
        tensors[tensor_name] = list(tensor.shape)
    cut = Tokenizer.from_str(tokenizer.to_str())
    cut.enable_truncation(MOST)
    answers = []
    for text in TEXTS:
        found = told(model.double(), cut.encode(text).ids)
        if found is None:
            break
        answers.append(found)
    if answers:
        read = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(tokenizer.to_str()), truncation_side="left")
        golden["ends"][name] = [told(model, read(text, truncation=True, max_length=MOST)["input_ids"]) for text in TEXTS]
    config.architectures = [kind.__name__]
    print(name, len(tensors), answers[:2], answers[-2:])
    if answers and cut.encode("").ids:
        golden["empty"][name] = told(model, cut.encode("").ids)
    kept = {k: v for k, v in config.to_dict().items() if v is not None}
    golden["models"][name] = {"config": kept, "tokenizer": tokenizers[id(tokenizer)], "tensors": tensors, "answers": answers}


def fine_tuned(side):
    """Losses of five steps on all texts at once, the dropout off: ours draws others."""
    kind, config, tokenizer = cases["bert"]
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    model = kind(config)
    for k, (name, tensor) in enumerate(model.state_dict().items()):
        tensor.copy_(torch.tensor(value_of(name, tuple(tensor.shape), k).astype(np.float32)))
    model.double().train()
    cut = Tokenizer.from_str(tokenizer.to_str())
    cut.enable_truncation(MOST, direction=side)
    cut.enable_padding()
    found = cut.encode_batch(TEXTS)
    ids, mask = torch.tensor([one.ids for one in found]), torch.tensor([one.attention_mask for one in found])
    labels = [row % 3 for row in range(len(TEXTS))]
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=0.003), []
    for _ in range(5):
        optimizer.zero_grad()
        loss = model(input_ids=ids, attention_mask=mask, labels=torch.tensor(labels)).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"labels": labels, "losses": losses}


def written(tied):
    """What the language model of gpt2's body writes after a prompt, the likeliest token always."""
    config = GPT2Config(**{**cases["gpt2"][1].to_dict(), "tie_word_embeddings": tied})
    model = GPT2LMHeadModel(config).eval()
    tensors = golden["models"]["gpt2"]["tensors"]
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if name == "lm_head.weight" and tied:
                continue
            k = list(tensors).index(name) if name in tensors else len(tensors)
            tensor.copy_(torch.tensor(value_of(name, tuple(tensor.shape), k).astype(np.float32)))
        ids = plain.encode(PROMPT).ids
        out = model.double().generate(torch.tensor([ids]), do_sample=False, max_new_tokens=12, eos_token_id=None)
    shown = Tokenizer.from_str(plain.to_str())
    shown.decoder = decoders.ByteLevel()
    return shown.decode(out[0][len(ids) :].tolist())


PROMPT = "The yard"
golden["written"] = {"prompt": PROMPT, "tied": written(True), "own": written(False)}
golden["fineTuned"] = {**fine_tuned("right"), "ends": fine_tuned("left")["losses"]}
print(golden["fineTuned"])
with open(made, "w") as file:
    file.write(json.dumps(golden, separators=(",", ":"), default=str) + "\n")
