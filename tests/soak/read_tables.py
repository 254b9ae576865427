"""Reads tables with Python's csv module, which knows nothing of ours: the other reader of odd-tables.ts.

Usage: python3 read_tables.py FOLDER, where FOLDER/layouts.json lists {file, delimiter, encoding, packed}. Writes each
table's records as FOLDER/FILE.records.json.
"""

import csv
import gzip
import io
import json
import pathlib
import sys

csv.field_size_limit(2**31 - 1)
folder = pathlib.Path(sys.argv[1])
for layout in json.loads((folder / "layouts.json").read_text()):
    data = (folder / layout["file"]).read_bytes()
    if layout["packed"]:
        data = gzip.decompress(data)
    encoding = layout["encoding"]
    text = data.decode("utf-16" if encoding.startswith("utf-16") else encoding)
    spaced = layout["delimiter"] == "spaces"
    # newline="": line ends within quotes stay as they are.
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=" " if spaced else layout["delimiter"], skipinitialspace=spaced
    )
    records = [record for record in reader if record]
    (folder / (layout["file"] + ".records.json")).write_text(json.dumps(records))
