"""Selects the next problems to train on. Problems and training outcomes come in; batches and resumable state go out."""

from curriculum.config import CurriculumConfig
from curriculum.curriculum import Curriculum
from curriculum.draw.slots import PoolExhausted
from curriculum.pools.outage import Outage
from curriculum.statistics.visits import Visit

__all__ = ["Curriculum", "CurriculumConfig", "Outage", "PoolExhausted", "Visit"]
