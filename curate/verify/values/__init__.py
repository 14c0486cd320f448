"""Decides equality of numbers and expressions.

Trees come in; equal, different or unknown goes out, exact or to hundreds of digits.
"""
