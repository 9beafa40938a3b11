exec python3 hidden/rotate_hidden.py
