"""Memory of a training step, by part, and the sequences of a forward pass that fit.

A model's shape and the settings of a run come in; estimates and a choice go out.
"""
