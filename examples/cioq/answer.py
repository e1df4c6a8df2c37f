"""Which speedup a switch needs, by the weight of its input queues and what manages them.

Runs the scenario beside it; or reads results that `spillgate run` has written, if their directory
is given.
"""

import sys
from pathlib import Path

import spillgate


def answer(results: spillgate.Results) -> str:
    """Both requirements at each speedup and weight, and the lowest speedup that meets them."""
    speedups, weights = (a.labels for a in results.description.axes)
    shown, missed = {}, set()
    for v in results.verdicts:
        mark = "✓" if v.verdict == "pass" else "✗"
        text = f"{v.mean * 1e3:.0f} ms" if v.metric == "owd_p99" else f"{v.mean / 1e6:.1f} Mb/s"
        shown[v.variant, v.cls] = f"{mark} {text}"
        if v.verdict != "pass":
            missed.add(v.variant)
    lines = [
        f"| | nu | {' | '.join(f'speedup {s}' for s in speedups)} | needed |",
        "| --- " * (len(speedups) + 3) + "|",
    ]
    points = {(p.variant, *p.places): p.name for p in results.description.points}
    for variant in dict.fromkeys(p.variant for p in results.description.points):
        for j, weight in enumerate(weights):
            names = [points[variant, i, j] for i in range(len(speedups))]
            good = [s for s, name in zip(speedups, names, strict=True) if name not in missed]
            cells = [f"{shown[n, 'voice']}, {shown[n, 'transfers']}" for n in names]
            lines.append(
                f"| {variant} | {weight} | {' | '.join(cells)} | {good[0] if good else 'more'} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(answer(spillgate.load(sys.argv[1])))
    else:
        print(answer(spillgate.run(Path(__file__).with_name("scenario.yaml"))))
