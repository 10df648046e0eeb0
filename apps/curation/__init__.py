"""Curation: a model turns what was saved into few living documents per workspace, and every line says where it is from.

A job is a row. A worker collects sources, asks the model once per batch, checks its answer as one checks a stranger's
work, and applies it as one operation of the ledger. The success cursor moves in that transaction or not at all.
"""
