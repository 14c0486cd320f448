"""vLLM inside this process: batches continuously, so requests go in as they come and come out as they finish.

vLLM's synchronous engine is stepped by one thread of our own; the asyncio side only puts requests into its inbox and
awaits futures. On a CPU this starts twice as fast as vLLM's own asynchronous engine, which needs a second process; see
`benchmarks/difficulty.py`. With several GPUs the workers are processes of vLLM's own.
"""

from __future__ import annotations
