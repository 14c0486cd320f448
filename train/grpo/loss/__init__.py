"""From rewards to a gradient. The rewards of a draw come in; advantages, losses and divisors go out."""
