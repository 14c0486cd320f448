"""Supervised training and distillation around RL: sft, fuse, shortest, distill, expert iteration.

Examples come in; a model goes out.
"""
