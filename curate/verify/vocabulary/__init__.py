"""The words of answers: units, spoken numbers, phrases without content, answers that are words.

Text comes in; their meaning goes out.
"""
