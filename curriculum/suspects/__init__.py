"""Lists the problems of a run whose truth may be wrong. Its completions come in; suspects with their answers go out."""
