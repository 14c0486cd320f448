"""A problem's text as comparing stages see it.

Columns of texts come in; tokens, views, n-grams and MinHash signatures go out.
"""
