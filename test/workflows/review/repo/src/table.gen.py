ROWS = [1, 2, 3]
