"""`gradus`, started by accelerate so that it shards by FSDP on processes of a CPU, as it does of itself only on GPUs.

Changed is only which kind of training accelerate finds: FSDP, gloo and everything above them are the real ones.
"""

from typing import Any

from accelerate import PartialState
from accelerate.utils import DistributedType

from gradus import main

found = PartialState.__init__


def as_on_gpus(self: PartialState, *args: Any, **kwargs: Any) -> None:
    is_new = PartialState._shared_state == {}
    found(self, *args, **kwargs)
    if is_new and self.distributed_type == DistributedType.MULTI_CPU:
        PartialState._shared_state["distributed_type"] = DistributedType.MULTI_GPU


if __name__ == "__main__":
    PartialState.__init__ = as_on_gpus
    main()
