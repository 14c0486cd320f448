"""The turn loop of agents: a problem and an engine come in, an episode goes out, with all messages and its end.

Measuring, evaluation and training play the same `Episode`; they differ only in who generates the replies.
"""
