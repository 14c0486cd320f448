"""The pool of a problem: active, retired, parked or quarantined.

Statistics after a visit come in; moves and outages go out.
"""
