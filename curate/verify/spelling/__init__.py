"""Normalises the many ways to write an answer. Raw text comes in; the grammar's own notation goes out."""
