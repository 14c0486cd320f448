"""Decides equality of numbers and expressions.

Trees come in; equal, different or unknown goes out, decided exactly or to hundreds of digits.
"""
