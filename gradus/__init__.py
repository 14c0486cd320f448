"""The door of the project: the command line, and the verifier as a reward of other trainers (`gradus.rewards`)."""

from gradus.door import ALONE, BEFORE_TORCH, ROOMS, app, main, prepare_for_torch

__all__ = ["ALONE", "BEFORE_TORCH", "ROOMS", "app", "main", "prepare_for_torch"]
