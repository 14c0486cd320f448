"""What a run prints and logs: lines, warnings, the window of a log. Nothing here knows the run folder."""
