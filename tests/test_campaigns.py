"""Results of several campaigns that stand beside each other say so, with the days between which they were made."""

import factory

from suite.results.single.selection import campaigns_note, several_campaigns


def of(*days):
    return [factory.record(campaign=f"campaign {day}", created=f"{day}T12:00:00Z") for day in days]


def test_results_of_one_campaign_need_no_note():
    assert several_campaigns([]) == several_campaigns(of("2026-01-01") * 2) == ""
    assert campaigns_note(of("2026-01-01") * 2) == ()


def test_several_campaigns_are_counted_with_their_first_and_last_day():
    assert several_campaigns(of("2026-01-03", "2026-01-01", "2026-01-02")) == "of 3 campaigns, 2026-01-01 to 2026-01-03"
    one_day = [factory.record(campaign=name, created="2026-01-01T12:00:00Z") for name in "ab"]
    assert several_campaigns(one_day) == "of 2 campaigns, 2026-01-01"
    (note,) = campaigns_note(one_day)
    assert note.startswith("The rows are of 2 campaigns, 2026-01-01. Each of their ratios is of one campaign")
