"""Reads what a question asks of its answer.

A question, a ground truth and an equal answer come in; whether the answer is evaluated and in the asked form goes out.
"""
