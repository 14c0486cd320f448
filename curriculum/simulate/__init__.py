"""Simulates policies and retirement rules without a model. A measured dataset comes in; figures and a plot go out."""
