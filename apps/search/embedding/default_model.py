"""The default model's folder: made once from the installed package, checked at each load, made again when damaged.

It needs no network. The files are what fastembed loads: a graph, a tokeniser and three small descriptions.
"""

import hashlib
import json
import logging
import os
import shutil
import tempfile
from pathlib import Path

import onnx
from django.conf import settings
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from apps.base.transactions import outside_transactions
from apps.leases.locks import file_lock
from apps.search.embedding.data_file import DataFile, Vocabulary, open_data_file
from apps.search.embedding.default_key import DIGEST
from apps.search.embedding.graph import as_onnx

MANIFEST = "manifest.json"
WEIGHTS = "weights.bin"
TOKENS = 512  # The longest text the model reads.
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
logger = logging.getLogger(__name__)


def models_folder() -> Path:
    return Path(settings.STATE_FOLDER) / "cache" / "models"


@outside_transactions
def ensure_default_model() -> Path:
    """The folder, sound; made first where it is missing or damaged. Two processes at once make it one after the other."""
    folder = models_folder() / f"multilingual-e5-small-{DIGEST}"
    if is_sound(folder):
        return folder
    with file_lock(models_folder() / ".lock"):
        if not is_sound(folder):
            _make(folder)
    return folder


def is_sound(folder: Path) -> bool:
    """Whether every file is there and is the one that was written."""
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return all(_digest(folder / name) == digest for name, digest in told.items()) and bool(told)
    except (OSError, ValueError, AttributeError):
        return False


def _make(folder: Path) -> None:
    logger.info("The default embedding model is converted, once; it takes a few seconds.")
    for litter in folder.parent.glob(".new-*"):  # Of a conversion that was killed.
        shutil.rmtree(litter, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        write_model(open_data_file(), fresh)
        _seal(fresh)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
        _sync(folder.parent)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def write_model(data: DataFile, folder: Path) -> None:
    """Write the files that fastembed loads."""
    # Weights in a file of their own are mapped into memory, not read into it.
    onnx.save(as_onnx(data), folder / "model.onnx", save_as_external_data=True, location=WEIGHTS, size_threshold=1024)
    _tokeniser(data.vocabulary).save(str(folder / "tokenizer.json"), pretty=False)
    descriptions = {
        "config.json": {
            "model_type": "bert",
            "hidden_size": data.shape.hidden,
            "pad_token_id": data.vocabulary.padding,
        },
        "tokenizer_config.json": {"model_max_length": TOKENS, **SPECIAL},
        "special_tokens_map.json": SPECIAL,
    }
    for name, content in descriptions.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


def _tokeniser(vocabulary: Vocabulary) -> Tokenizer:
    """XLM-RoBERTa's tokeniser; its table of characters is NFKC with control characters taken out."""
    pieces = list(zip(vocabulary.pieces, vocabulary.scores, strict=True))
    tokeniser = Tokenizer(models.Unigram(pieces, unk_id=vocabulary.unknown, byte_fallback=False))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokeniser.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), spaces])
    tokeniser.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokeniser.decoder = decoders.Metaspace()
    tokeniser.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", vocabulary.begin), ("</s>", vocabulary.end)],
    )
    tokeniser.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    return tokeniser


def _seal(folder: Path) -> None:
    """Make the files durable, then write down what they are: a manifest vouches for whole files only."""
    told = {}
    for file in sorted(folder.iterdir()):
        _sync(file)
        told[file.name] = _digest(file)
    (folder / MANIFEST).write_text(json.dumps(told), encoding="utf-8")
    _sync(folder / MANIFEST)
    _sync(folder)


def _digest(file: Path) -> str:
    with open(file, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
