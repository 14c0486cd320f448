"""The tables of a dataset and the chain of artifacts behind them.

A run comes in; parts, lineage, traces and differences go out.
"""
