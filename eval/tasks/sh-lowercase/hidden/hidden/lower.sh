exec python3 hidden/lower_hidden.py
