"""What a step learns from. Draws of the curriculum come in; groups of completions, screened and refilled, go out."""
