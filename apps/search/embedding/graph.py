"""The weights of multilingual-e5-small as an ONNX graph: a BERT encoder that multiplies in 8 bits.

The 4-bit weights of the file become 8-bit ones of 7 bits, since processors without VNNI add two products of a full
8-bit pair up in 16 bits, and would saturate. docs/embeddings.md has the figures this was chosen by.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from apps.search.embedding.data_file import BLOCK, DataFile

MICROSOFT = "com.microsoft"
LARGEST_WEIGHT = 64
SMALLEST_PEAK = 0.2  # Gelu goes down to -0.17: divided by this or more, a row stays within -1 and 1.
MASKED = -10000.0  # What attention adds where a text is padded.


class Graph:
    """Nodes and constants, collected until they make a model."""

    def __init__(self, data: DataFile) -> None:
        self.data = data
        self.shape = data.shape
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, list(inputs), [output], domain=domain, **attributes))
        return output

    def linear(self, source: str, name: str, output: str, *, columns: int) -> str:
        """``source`` times the matrix of that name, plus its bias."""
        bias = self.constant(f"{name}.b", self.data.floats(f"{name}.b"))
        return self._product(source, name, output, columns, bias=bias)

    def linear_by_rows(self, source: str, name: str, output: str, *, columns: int) -> str:
        """The same, with each token on a scale of its own: the first and last token's peaks would drown the others."""
        peaks = self.node("ReduceMax", [source, "last_axis"], f"{output}.rows", keepdims=1)
        peaks = self.node("Max", [peaks, "smallest_peak"], f"{output}.peaks")
        level = self.node("Div", [source, peaks], f"{output}.level")
        product = self._product(level, name, f"{output}.product", columns)
        product = self.node("Mul", [product, peaks], f"{output}.scaled")
        return self.node("Add", [product, self.constant(f"{name}.b", self.data.floats(f"{name}.b"))], output)

    def _product(self, source: str, name: str, output: str, columns: int, *, bias: str = "") -> str:
        nibbles, scales = self.data.blocks(f"{name}.w")
        weights = ((nibbles.astype(np.float32) - 8) * scales[:, None]).reshape(-1, columns).T
        steps = np.abs(weights).max(axis=0) / LARGEST_WEIGHT
        whole = self.constant(f"{name}.w", np.rint(weights / steps).astype(np.int8))
        inputs = [source, whole, self.constant(f"{name}.steps", steps.astype(np.float32)), "", bias]
        return self.node("DynamicQuantizeMatMul", inputs if bias else inputs[:3], output, domain=MICROSOFT)

    def normalised(self, source: str, name: str, output: str) -> str:
        weights = [self.constant(f"{name}.{part}", self.data.floats(f"{name}.{part}")) for part in "wb"]
        return self.node("LayerNormalization", [source, *weights], output, axis=-1, epsilon=self.shape.epsilon)


def as_onnx(data: DataFile) -> onnx.ModelProto:
    """The whole encoder: token ids and attention mask in, one vector a token out."""
    graph = Graph(data)
    _shared_constants(graph)
    source = _embeddings(graph)
    _mask(graph)
    for number in range(data.shape.layers):
        source = _layer(graph, f"l{number}", source)
    graph.node("Identity", [source], "last_hidden_state")
    tokens = ["batch", "tokens"]
    made = helper.make_graph(
        graph.nodes,
        "multilingual-e5-small",
        [helper.make_tensor_value_info(name, TensorProto.INT64, tokens) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*tokens, data.shape.hidden])],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=10)


def _shared_constants(graph: Graph) -> None:
    shape = graph.shape
    size = shape.hidden // shape.heads
    graph.constant("heads_shape", np.array([0, 0, shape.heads, size], np.int64))
    graph.constant("hidden_shape", np.array([0, 0, shape.hidden], np.int64))
    graph.constant("attention_scale", np.array(size**-0.5, np.float32))
    graph.constant("zero", np.array(0, np.int64))
    graph.constant("one", np.array(1, np.int64))
    graph.constant("last_axis", np.array([-1], np.int64))
    graph.constant("smallest_peak", np.array(SMALLEST_PEAK, np.float32))


def _embeddings(graph: Graph) -> str:
    """Word, position and type embeddings, added up and normalised."""
    nibbles, scales = graph.data.blocks("emb.word")
    hidden = graph.shape.hidden
    signed = (nibbles.astype(np.int8) - 8) & 15
    words = TensorProto(name="words", data_type=TensorProto.INT4)
    words.dims.extend([nibbles.size // hidden, hidden])
    words.raw_data = (signed[:, 0::2] | (signed[:, 1::2] << 4)).astype(np.uint8).tobytes()
    graph.constants.append(words)
    graph.constant("word_scales", scales.reshape(-1, hidden // BLOCK))
    positions = graph.data.floats("emb.pos").reshape(-1, hidden) + graph.data.floats("emb.type")[:hidden]
    graph.constant("positions", positions)

    found = graph.node(
        "GatherBlockQuantized",
        ["words", "input_ids", "word_scales"],
        "word_vectors",
        domain=MICROSOFT,
        gather_axis=0,
        quantize_axis=1,
        block_size=BLOCK,
    )
    shape = graph.node("Shape", ["input_ids"], "input_shape")
    length = graph.node("Gather", [shape, "one"], "length")
    places = graph.node("Range", ["zero", length, "one"], "places")
    placed = graph.node("Gather", ["positions", places], "position_vectors")
    return graph.normalised(graph.node("Add", [found, placed], "embedded"), "emb.ln", "layer_0")


def _mask(graph: Graph) -> None:
    """0 for a token, a large negative number for padding, in the shape of attention scores."""
    graph.constant("mask_axes", np.array([1, 2], np.int64))
    graph.constant("full", np.array(1, np.float32))
    graph.constant("masked", np.array(MASKED, np.float32))
    mask = graph.node("Cast", ["attention_mask"], "mask_floats", to=TensorProto.FLOAT)
    mask = graph.node("Unsqueeze", [mask, "mask_axes"], "mask_shaped")
    mask = graph.node("Sub", ["full", mask], "mask_inverted")
    graph.node("Mul", [mask, "masked"], "mask")


def _layer(graph: Graph, name: str, source: str) -> str:
    hidden, inner = graph.shape.hidden, graph.shape.inner
    attended = graph.linear(_attention(graph, name, source), f"{name}.ao", f"{name}.attended", columns=hidden)
    middle = graph.node("Add", [source, attended], f"{name}.middle_sum")
    middle = graph.normalised(middle, f"{name}.aln", f"{name}.middle")
    wide = graph.linear(middle, f"{name}.fi", f"{name}.wide", columns=hidden)
    wide = graph.node("Gelu", [wide], f"{name}.active", domain=MICROSOFT)
    narrow = graph.linear_by_rows(wide, f"{name}.fo", f"{name}.narrow", columns=inner)
    return graph.normalised(graph.node("Add", [middle, narrow], f"{name}.sum"), f"{name}.oln", f"{name}.out")


def _attention(graph: Graph, name: str, source: str) -> str:
    query, key, value = (_heads(graph, f"{name}.{letter}", source) for letter in "qkv")
    scores = graph.node("MatMul", [query, key], f"{name}.raw_scores")
    scores = graph.node("Mul", [scores, "attention_scale"], f"{name}.scaled_scores")
    scores = graph.node("Add", [scores, "mask"], f"{name}.scores")
    shares = graph.node("Softmax", [scores], f"{name}.shares", axis=-1)
    context = graph.node("MatMul", [shares, value], f"{name}.context_heads")
    context = graph.node("Transpose", [context], f"{name}.context_tokens", perm=[0, 2, 1, 3])
    return graph.node("Reshape", [context, "hidden_shape"], f"{name}.context")


def _heads(graph: Graph, name: str, source: str) -> str:
    """One of query, key and value, cut into heads; the key is turned for the product with the query."""
    flat = graph.linear(source, name, f"{name}.flat", columns=graph.shape.hidden)
    split = graph.node("Reshape", [flat, "heads_shape"], f"{name}.split")
    turned = [0, 2, 3, 1] if name.endswith(".k") else [0, 2, 1, 3]
    return graph.node("Transpose", [split], f"{name}.heads", perm=turned)
