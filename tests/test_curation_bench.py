"""The bench of Curator on few candidates: what it measures is what it says. Nothing is timed here."""

from bench import curation
from bench.made_candidates import make
from warehouse.domains import load_domain


def test_a_pass_is_measured_with_candidates_of_both_verdicts() -> None:
    measured = curation.measure(200, 1)
    assert measured.candidates == 200
    assert measured.store >= measured.active > 0
    assert 0 < measured.accepted < 200
    # One in five has a fault that a check finds; the rest are held against the record.
    assert measured.accepted <= measured.tested < 200
    assert 0.0 < measured.curate_s < measured.fold_s
    assert measured.peak_mb >= measured.before_mb > 0


def test_the_same_seed_makes_the_same_candidates() -> None:
    domain = load_domain("minecraft")
    assert make(domain, 50, 1, "b") == make(domain, 50, 1, "b")
    assert make(domain, 50, 1, "b") != make(domain, 50, 2, "b")
