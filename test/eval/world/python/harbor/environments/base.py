class BaseEnvironment:
    """Stands for a container."""
