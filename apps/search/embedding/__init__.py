"""Embeddings: text to vectors, by the model an operator chose, in one process of its own (docs/embeddings.md).

Only that process imports numpy, onnxruntime and fastembed; what the others import from here is light.
"""
