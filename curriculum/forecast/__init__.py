"""Predicts current success rates and the share of groups without a gradient.

Statistics come in; predicted rates and figures go out.
"""
