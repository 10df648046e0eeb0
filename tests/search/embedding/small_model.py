"""A model folder as an operator may have one, with a vocabulary of a few words and a few numbers a word."""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = ["[PAD]", "[UNK]", "red", "green", "blue", "ask", "tell"]


def write_small_model(
    folder: Path, *, seed: int = 1, dimensions: int = 4, prompts: dict[str, str] | None = None
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    table = np.random.default_rng(seed).standard_normal((len(WORDS), dimensions)).astype(np.float32)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"]) for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["b", "s", dimensions])
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["out"])]
    graph = helper.make_graph(nodes, "small", inputs, [output], [numpy_helper.from_array(table, "table")])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "model.onnx"
    )

    tokeniser = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokeniser.pre_tokenizer = pre_tokenizers.Whitespace()
    tokeniser.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, "pad_token": "[PAD]"}))
    if prompts:
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    return folder
