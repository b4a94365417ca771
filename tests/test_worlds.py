"""Each world whose site is visited differs from the published records in what its name says."""

from worlds import WORLDS

from suite.results.cite.numbers import Numbers


def test_one_model_has_a_thousand_keys_and_one_site_forty_machines():
    assert len(Numbers(WORLDS["many-keys"]()).current) >= 1000
    assert len({record.machine.slug for record in WORLDS["many-machines"]()}) == 40


def test_without_a_gpu_no_record_names_one():
    records = WORLDS["no-gpu"]()
    assert records
    assert not any(record.machine.gpus or record.backend == "gpu" for record in records)
    assert WORLDS["nothing"]() == ()
