"""Chooses the problems of a batch. Forecasts and due re-checks come in; distinct rows, one per slot, go out."""
