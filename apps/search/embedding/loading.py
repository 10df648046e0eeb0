"""The model of the embedder process, loaded in a thread of its own: nobody who asks waits longer than he said."""

import logging
import threading
import time
from contextlib import suppress

from apps.search.embedding import choice
from apps.search.embedding.client import ready_file
from apps.search.embedding.errors import EmbedderUnavailable, EmbeddingUnavailable
from apps.search.embedding.model import EmbeddingModel

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0
LEAST_PAUSE = 2.0  # However many ask.
logger = logging.getLogger(__name__)


class Loading:
    """Tries until the model is there; says meanwhile that it starts, or why it cannot."""

    def __init__(self) -> None:
        self.model: EmbeddingModel | None = None
        self.trouble: EmbeddingUnavailable | None = None
        self.is_trying = True
        self.settled_at = time.monotonic()
        self._changed = threading.Condition()
        self._again = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="loading", daemon=True).start()

    def get(self, wait: float) -> EmbeddingModel:
        """The model, waited for this long. Raises what keeps it away."""
        with self._changed:
            self._changed.wait_for(lambda: self.model or self.trouble, timeout=wait)
            if self.model:
                return self.model
            raise self.trouble or EmbedderUnavailable(reason="embedder_starting")

    def try_again(self) -> None:
        """Do not sit the pause out."""
        self._again.set()

    def _run(self) -> None:
        pause = FIRST_PAUSE
        while not self._tried():
            time.sleep(LEAST_PAUSE)
            self._again.wait(pause)
            self._again.clear()
            pause = min(LONGEST_PAUSE, pause * 2)

    def _tried(self) -> bool:
        self.is_trying = True
        try:
            model, trouble = choice.load(), None
        except EmbeddingUnavailable as failure:
            model, trouble = None, failure
            level = logging.DEBUG if str(failure) == str(self.trouble) else logging.WARNING  # Once is enough.
            logger.log(level, "The embedding model is not loaded: %s %s", failure, failure.advice)
        except Exception as failure:  # A full disk, foreign weights: the next try may find it mended.
            model, trouble = None, EmbeddingUnavailable()
            logger.exception("The embedding model is not loaded: %s", type(failure).__name__)
        with suppress(OSError):  # A full disk takes no note, and may be why.
            choice.note_trouble(str(trouble or ""))
            ready_file().touch()
        with self._changed:
            self.model, self.trouble = model, trouble
            self._changed.notify_all()
        self.is_trying, self.settled_at = False, time.monotonic()
        return model is not None
