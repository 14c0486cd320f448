"""Problems whose truth may be wrong: completions agree on another answer."""
