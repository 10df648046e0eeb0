"""Trees that come from outside, or from long ago: looked at before a byte of them is taken in.

The raw tree is read, never checked out. What could do harm, or leaves in doubt what the tree is, refuses it whole: the
failure names the first such thing, and where. One document that is not in order is left out by name; from outside also one
that is named as another system would not have it. What is in order comes back as documents with their ids.
"""
