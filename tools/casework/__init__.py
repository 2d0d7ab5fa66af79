"""Runs the case programs under a chosen backend and compares what came out.

A case is a small program that gives ``torch.compile`` trouble. Each run is a process of its own,
because some cases change settings of the whole process. Its outcome is plain data (digests and
text), so two outcomes can be compared without torch and kept in a file.

Modules:
    digest   a value as text that is equal exactly when the value is equal bit for bit
    outcome  runs a case in this process
    facts    what a report says of a case, held against what torch said
    compared what a comparison with eager says of a case, held against what was measured
    case_program a case as a program to compare
    explained what a comparison has to say of cases that disagree
    versions where torch versions differ in that
    child    the process that runs one case, or a server that forks one for each request
    launch   starts those processes, with time limits
    compare  what differs between two outcomes
    results  many cases: what was found, kept in a file, and shown as a table
"""
