"""Faults that memory survives, each with a proof that its test can fail.

A test of a fault says that nothing acknowledged was lost and that the person got one clear line.
Beside it stands a twin in which one defence of memnb is switched off (`weaknesses.py`): there the
same check has to find the loss, or it proves nothing.

`workload.py` works on a real store as a kernel does and says what was acknowledged; `ledger.py`
keeps what was said; `verify.py` opens the store as the next kernel would and holds it to that.
`kills.py` and `power_cuts.py` do so at many random instants, `torture.py` for a night.
"""
