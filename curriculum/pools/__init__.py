"""The pools of problems: active, retired, parked, quarantined.

Statistics after a visit come in; moves and outages go out.
"""
