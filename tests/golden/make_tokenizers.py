#!/usr/bin/env python3
"""Writes tokenizers.json: small tokenizers of Hugging Face's package, and the ids they give for texts of many scripts, emoji, control
characters and nothing at all.

usage: make_tokenizers.py [FILE [RANDOM_TEXTS]]
With a number of random texts the file is not for keeping: `TRAINYARD_TOKENIZERS=FILE npm test -- unit tests/unit/text/golden.test.ts`
"""
import json, os, random, sys
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXTS = [
    "", " ", "\n", "   \n\t  ", "a", "Hello, world!", "The quick brown fox jumps over the lazy dog's back; they've said: \"I'm here, aren't you?\"",
    "don't DON'T we'll we'LL 's 'S", "  two  spaces   three\n\n\nlines \r\n end ", "tabs\tand\u00a0hard\u2003spaces\u3000here\u0085next\u200bzero",
    "3.14159 2,718 1e-10 ½ ² Ⅷ ٣٤٥ 一二三", "naïve café ÀÉÎÕÜ ñ Å ş İstanbul ıI ΑΣ Σίσυφος ὈΔΥΣΣΕΎΣ straße STRASSE",
    "e\u0301 n\u0303 a\u0308\u0323 \u0301alone", "日本語のテキストと漢字、中文字符。한국어 문장입니다! \u1112\u1161\u11ab", "Привет, мир! Это тест.", "مرحبا بالعالم، كيف حالك؟",
    "שלום עולם", "नमस्ते दुनिया हिन्दी", "สวัสดีชาวโลก", "😀 👩\u200d👩\u200d👧\u200d👦 🇩🇪 ❤️ 👍🏽 ☃︎", "\x00null\x01one\x7fdel\x80c1\x9f\ufeffbom\u00adsoft\u202eleft\ufffd\uffff",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠀁 \U0010ffff \U000e0001", "ﬁ ﬂ Ⅳ ㍿ ｆｕｌｌ ％", "[CLS] text [SEP] and [MASK] in [PAD] it", "<s>a <mask> b</s><pad> <|endoftext|>x<|endoftext|>",
    "snake_case camelCase HTTP2 foo.bar(baz=1)[0] += x**2 // y # $€£¥ ~^`|\\", "http://example.com/a?b=c&d=%20#e @user #tag", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "x" * 101, "ab" * 120, "the " * 30, "\u0088\u2028line\u2029par", "a\u0300\u0301\u0302\u0303b", "٪،؛؟ ।॥ ፡።፣ 〈〉《》「」", "newer: \u0c5c \ua7ce \U0001f6d8 \u1e4a \U00010941 \u061d \u2e5d \u088f",
]
CORPUS = [
    "the cat sat on the mat and the dog ate the bone while they were talking about the weather of the day before",
    "It's what we've learned: they're here, I'm there; you'll see 1234 things, 56 more and 7.8 % of 90,000.",
    "tokenizers cut texts into tokens; a token is a piece of a word, a word, or a sign. Unhappiness, unlikely, unthinkable, relatively.",
    "naïve café résumé über straße Привет мир это тест 日本語 中文 한국어 नमस्ते שלום مرحبا 😀 👍",
] * 3


def special(*names):
    return [AddedToken(name, special=True, normalized=False) for name in names]


def bert(lowercase, **normalizer):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase, **normalizer)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=400, special_tokens=names, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return tokenizer


def byte_level(prefix=False, names=("<|endoftext|>",), cut=None, normalizer=None):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizer
    level = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=cut is None)
    tokenizer.pre_tokenizer = level if cut is None else pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(cut), "isolated"), level])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=420, special_tokens=list(names), show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def roberta():
    tokenizer = byte_level(names=["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=False)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return tokenizer


def letters():
    """Byte-pair encoding of characters, with an unknown token, ends of words and added words."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("contiguous")])
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<unk>"], show_progress=False, end_of_word_suffix="</w>", limit_alphabet=60))
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    tokenizer.add_tokens([AddedToken("weather", single_word=True), "snake_case", "tok"])
    return tokenizer


LLAMA = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def randoms(count):
    random.seed(7)
    pools = [range(32, 127), range(32, 127), range(0, 0x250), range(0x250, 0x3000), range(0x3000, 0xD800), range(0xE000, 0x10000), range(0x10000, 0x20000), range(0x1F300, 0x1FA00), range(0x20000, 0x110000)]
    words = " ".join(CORPUS + TEXTS).split(" ")
    for _ in range(count):
        parts = []
        for _ in range(random.randint(1, 12)):
            if random.random() < 0.5:
                parts.append(random.choice(words))
            else:
                pool = random.choice(pools)
                parts.append("".join(chr(random.choice(pool)) for _ in range(random.randint(1, 6))))
            parts.append(random.choice(["", " ", " ", "  ", "\n", "."]))
        yield "".join(parts)


def main(file, count):
    texts = TEXTS + list(randoms(count))
    cases = dict(
        bert_uncased=bert(True), bert_cased=bert(False), bert_accents=bert(True, strip_accents=False, handle_chinese_chars=False),
        gpt2=byte_level(), byte_level_in_front=byte_level(prefix=True), roberta=roberta(), letters=letters(),
        llama=byte_level(cut=LLAMA, normalizer=normalizers.NFC()),
        accents=byte_level(normalizer=normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])),
    )
    golden = dict(corpus=CORPUS, texts=texts, cases={})
    for name, tokenizer in cases.items():
        encoded = [tokenizer.encode(text) for text in texts]
        golden["cases"][name] = dict(
            tokenizer=json.loads(tokenizer.to_str()), ids=[e.ids for e in encoded],
            plain=[tokenizer.encode(text, add_special_tokens=False).ids for text in texts[:len(TEXTS)]],
            decoded=[tokenizer.decode(e.ids) for e in encoded[:len(TEXTS)]])
    with open(file, "w") as out:
        json.dump(golden, out, separators=(",", ":"))
        out.write("\n")
    print({name: len(case["tokenizer"]["model"]["vocab"]) for name, case in golden["cases"].items()}, os.path.getsize(file), "bytes")


if __name__ == "__main__":
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokenizers.json")
    main(sys.argv[1] if len(sys.argv) > 1 else here, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
