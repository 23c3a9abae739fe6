"""The measures, one file each.

Every measure is a pure function of

- ``grades``: the grade of each ranked document, best first, 0 for one that is not relevant or
  not judged;
- ``judged``: the positive grades of all relevant documents of the question, in any order;
- ``k``: how many documents from the top count, at least 1, or None for the whole ranking;

and returns None where it is undefined, which is where ``judged`` is empty. A ranking shorter
than ``k``, or empty, is a ranking whose remaining places hold nothing relevant.
"""
