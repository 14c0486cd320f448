"""GRPO and related objectives with a curriculum.

Problems and an objective come in; a trained model and the curriculum's state go out.
"""
