"""Values of one kind each: what a text or tree of the kind says, and when two are equal. Nothing here looks up."""
