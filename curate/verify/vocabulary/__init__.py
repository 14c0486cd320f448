"""The words of answers: units, numbers in words, phrases without content, answers that are words.

Text comes in; its meaning goes out.
"""
