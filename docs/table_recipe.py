"""The rows a Trainyard model sees, made by its recipe from a plain CSV. Standard library only.
python3 table_recipe.py run.json data.csv   (run.json: trainyard export RUN --format json, or a preprocessing.json)"""
import csv, datetime as dt, json, math, sys, unicodedata

YES, NO = {"true", "yes", "y", "t", "on", "1"}, {"false", "no", "n", "f", "off", "0"}

def number(text):
    try: return float(text) if math.isfinite(float(text)) else None
    except ValueError: return None

def raw(recipe, text):
    """The cell's number, or None where it is missing or cannot be used."""
    if text == "" or text in recipe["missing"]: return None
    kind = recipe["kind"]
    if kind == "boolean": return 1 if text.lower() in YES else 0 if text.lower() in NO else None
    if kind == "datetime":
        time = dt.datetime.strptime(text, recipe["dateFormat"]) if "dateFormat" in recipe else dt.datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=dt.timezone.utc)).timestamp() * 1000
    if kind == "number": return number(text)
    return recipe["categories"].index(text) + 1 if text in recipe["categories"] else None  # from 1; 0 = unknown

def part(milliseconds, name):
    time = dt.datetime.fromtimestamp(0, dt.timezone.utc) + dt.timedelta(milliseconds=milliseconds)
    if name == "month": return (time.month - 1 + (time.day - 1) / 31) / 12
    return time.weekday() / 7 if name == "weekday" else milliseconds % 86400000 / 86400000

def words(text):
    """Runs of letters, marks and digits, in lower case."""
    spaced = "".join(one if unicodedata.category(one)[0] in "LMN" else " " for one in text)
    return [unicodedata.normalize("NFC", word).lower() for word in spaced.split(" ") if word]

def tokens(recipe, text):
    """The codes of a text: those of its words + 1, padded by 0. Other tokenizers are tokenizer.json files of Hugging Face's."""
    known, length = recipe["tokenizer"], recipe["length"]
    if known["kind"] != "words": sys.exit("only texts cut into words are read here")
    ids = {word: place + 1 for place, word in enumerate(known["words"])}
    start = text.encode("utf-16-le")[:2 * recipe["characters"]].decode("utf-16-le", "ignore")
    codes = [] if text == "" or text in recipe["missing"] else [ids.get(word, 0) + 1 for word in words(start)][:length]
    return codes + [0] * (length - len(codes))

def encode(features, cells):
    numbers, codes, texts = [], [], []
    for recipe in features:
        kind, cell = recipe["kind"], cells[recipe["column"]].strip()
        if kind == "text": texts += tokens(recipe, cell); continue
        value = raw(recipe, cell)
        if kind == "embedding": codes.append(value or 0); continue
        if kind == "one_hot": numbers += [1 if value == code + 1 else 0 for code in range(len(recipe["categories"]))]
        else:
            known = recipe["impute"] if value is None else value
            numbers.append((known - recipe.get("mean", 0)) / recipe.get("deviation", 1))
            for name in recipe.get("parts", []):
                angle = 2 * math.pi * part(known, name)
                numbers += [math.sin(angle), math.cos(angle)]
        if recipe["indicator"]: numbers.append(1 if value is None else 0)
    return numbers + codes + texts

if __name__ == "__main__":
    recipe = json.load(open(sys.argv[1], encoding="utf-8"))
    features = recipe.get("preprocessing", recipe)["features"]
    for cells in csv.DictReader(open(sys.argv[2], newline="", encoding="utf-8")): print(json.dumps(encode(features, cells)))
