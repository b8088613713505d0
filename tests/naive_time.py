"""Slow, obvious versions of splits by time."""


def handbook(days, y, customers, start, train=7, delay=7, test=7):
    """Return training and test rows as the Fraud Detection Handbook's chapter 5 describes them, day by day."""
    train_rows = [i for i, day in enumerate(days) if start <= day < start + train]
    known = {customers[i] for i in train_rows if y[i]}
    test_rows = []
    for day in range(test):
        known |= {customers[i] for i, d in enumerate(days) if d == start + train + day - 1 and y[i]}
        test_rows += [i for i, d in enumerate(days) if d == start + train + delay + day and customers[i] not in known]
    return train_rows, sorted(test_rows)
