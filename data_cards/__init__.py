"""Versioned datasets with cards. A run folder comes in; a dataset folder, its card and Hub commits go out."""
