"""What success rates are by now, and what a batch will be worth.

Statistics come in; predicted rates and figures go out.
"""
