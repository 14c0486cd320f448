"""Statistics of each problem. Visits come in; discounted counts and times, as arrays over all problems, go out."""
