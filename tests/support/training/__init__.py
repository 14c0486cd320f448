"""Support of training tests: toy runs, generations, the reference of objectives, resuming, processes."""
