"""What a paper assumed: history matching over what it leaves silent, against all its claims.

Every silent choice of the ledger is an axis, and a *set* is a choice on each. Sets are run
briefly. A claim has a *score* in a set: by how many standard errors of the simulation its parts
hold, that of the worst part. Below -3 the set is implausible for it (I. Vernon, M. Goldstein and
R. G. Bower, "Galaxy Formation: a Bayesian Uncertainty Analysis", Bayesian Analysis 5(4), 2010).
Scores of sets that were not run come from an emulator with its own uncertainty. Waves of runs then
narrow the space to where as many claims as in the best set may still hold.
"""
