"""Raw pools of problems become a curated, measured dataset.

Sources come in; each stage writes an artifact of kept and dropped rows.
"""
