class TmuxSession:
    """Stands for the terminal of a task."""
