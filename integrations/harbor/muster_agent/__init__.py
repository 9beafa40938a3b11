"""Muster as an agent of Harbor (muster_agent.harbor) and of Terminal-Bench (muster_agent.terminal_bench)."""
