"""Vectors for a data set without a model: what twenty thousand notes would take a core an hour is made up in seconds.

Every passage that the product would embed has one, of random direction, so that scans are as long as they would be; which
of them lie near a question says nothing. ``python -m bench.seeding`` does it to the data folder of ``MEMRELAY_DATA``.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence

from bench.servers import PROJECT, NotServing, Product

DOCUMENTS_AT_ONCE = 500


def seed(product: Product) -> None:
    """Embed everything that waits in a folder that nobody serves."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.seeding"],
        cwd=PROJECT,
        env=product.environment() | {"MEMRELAY_EMBEDDING": "default"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode:
        raise NotServing(f"The vectors could not be made:\n{done.stderr[-2000:]}")


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memrelay.settings")
    import django

    django.setup()
    import numpy as np

    from apps.search.embedding.choice import current_key
    from apps.search.vectors import working

    class MadeUp:
        """The default model's name, and a direction for every text that is always the same one."""

        key = current_key() or ""
        dimensions = 384

        def embed_passages(self, texts: Sequence[str]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
            seeds = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) for text in texts]
            made = np.array(
                [np.random.Generator(np.random.SFC64(one)).standard_normal(384, np.float32) for one in seeds]
            )
            lengths = np.linalg.norm(made, axis=1, keepdims=True)
            return np.asarray(made / lengths, np.float32)

        def embed_query(self, text: str) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
            return np.asarray(self.embed_passages([text])[0])

    working.TAKEN = DOCUMENTS_AT_ONCE
    model = MadeUp()
    while working.work(model, lambda: False):
        pass


if __name__ == "__main__":
    main()
