"""Eight-bit codes laid out for onnxruntime's integer kernels, which go through them several times as fast as numpy does.

The question is cut into two numbers of seven bits each: with eight, processors that lack newer instructions would overflow in
silence; with one number, its own rounding would cost more exact comparisons than the scan saves.
"""

from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

MIDDLE = 64  # What 0 is told as, since the kernels want the question without signs.
HIGHEST = 63


class Question:
    """A direction to compare with, as floats and as the kernels take it: cut once for all rows of a block.

    A score is the product with it, less ``level``.
    """

    def __init__(self, direction: NDArray[np.float32], level: np.float32) -> None:
        self.direction, self.level = direction, level
        self.length = float(np.linalg.norm(direction))
        coarse, step = _cut(direction)
        fine, small_step = _cut(direction - coarse * step)
        self.steps = np.array([[step, small_step]], np.float32)
        self.told = (np.stack([coarse, fine]) + np.float32(MIDDLE)).astype(np.uint8)


class Packed:
    """Some rows of codes, each with its scale, none of which change any more."""

    def __init__(self, codes: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        self.rows = len(codes)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        model = _model(codes, scales).SerializeToString()
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def score(self, question: Question, offset: np.float32, out: NDArray[np.float32]) -> None:
        """The product of every row with the question, and ``offset``."""
        asked = {"question": question.told, "steps": question.steps, "offset": np.array([offset])}
        (scores,) = self._session.run(None, asked)
        out[:] = scores[0]


def rounding(dimensions: int) -> float:
    """How far a product may be off because the question is rounded, for vectors and questions of unit length."""
    return float(dimensions**0.5 / (2 * HIGHEST) ** 2)


def _cut(numbers: NDArray[np.float32]) -> tuple[NDArray[np.float32], np.float32]:
    step = np.float32(max(float(np.abs(numbers).max(initial=0.0)), 1e-12) / HIGHEST)
    return np.rint(numbers / step), step


def _model(codes: NDArray[np.int8], scales: NDArray[np.float32]) -> Any:
    """All of it in one graph: a step in numpy would wait for the lock that the other thread's steps hold."""
    from onnx import TensorProto, helper, numpy_helper

    rows, dimensions = codes.shape
    return helper.make_model(
        helper.make_graph(
            [
                helper.make_node("MatMulInteger", ["question", "codes", "middle"], ["whole"]),
                helper.make_node("Cast", ["whole"], ["products"], to=TensorProto.FLOAT),
                helper.make_node("MatMul", ["steps", "products"], ["added"]),
                helper.make_node("Mul", ["added", "scales"], ["scaled"]),
                helper.make_node("Add", ["scaled", "offset"], ["scores"]),
            ],
            "scan",
            [
                helper.make_tensor_value_info("question", TensorProto.UINT8, [2, dimensions]),
                helper.make_tensor_value_info("steps", TensorProto.FLOAT, [1, 2]),
                helper.make_tensor_value_info("offset", TensorProto.FLOAT, [1]),
            ],
            [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, rows])],
            [
                numpy_helper.from_array(np.ascontiguousarray(codes.T), "codes"),
                numpy_helper.from_array(np.array(MIDDLE, np.uint8), "middle"),
                numpy_helper.from_array(scales, "scales"),
            ],
        ),
        opset_imports=[helper.make_opsetid("", 21)],
        ir_version=10,
    )
