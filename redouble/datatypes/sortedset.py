class SortedSet:
    pass
