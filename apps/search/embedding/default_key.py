"""What the default model is, told without opening it."""

import hashlib

FILE_NAME = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
DIMENSIONS = 384
RECIPE = 2  # Counts up with each change of the conversion that changes a vector: all memories are embedded anew then.
DIGEST = hashlib.sha256(f"{SHA256} {RECIPE}".encode()).hexdigest()[:12]
KEY = f"multilingual-e5-small/{DIGEST}/{DIMENSIONS}"
