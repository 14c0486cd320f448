"""What tests share: pools, runs, toy models and real servers on loopback. Import it as `support.<module>`."""
