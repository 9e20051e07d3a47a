"""The fake's buckets: what a turn draws, when it may not run, and what ``/usage`` shows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fake_agy.account import BUCKETS, DEFAULT, Bucket
from fake_agy.home import Home
from fake_agy.meter import Draw, Level, at, buckets_of, decide, draw, read_levels
from fake_agy.usage import usage_data, usage_result, usage_text

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Bucket("gemini-5h", "gemini", "5h", window_s=100, capacity=2)
COARSE = Bucket("ceiling", "", "", window_s=300, capacity=3, cost=3)


def test_a_turn_draws_its_cost_from_every_bucket_it_needs() -> None:
    assert decide((SMALL, COARSE), {}, 50.0) == Draw({"gemini-5h": Level(1, 50.0), "ceiling": Level(3, 50.0)})


def test_a_window_starts_with_its_first_turn_and_not_again() -> None:
    levels = decide((SMALL,), {}, 50.0).levels
    assert decide((SMALL,), levels, 70.0).levels == {"gemini-5h": Level(2, 50.0)}


def test_a_turn_that_one_bucket_refuses_draws_on_none() -> None:
    levels = {"gemini-5h": Level(1, 50.0), "ceiling": Level(3, 40.0)}
    assert decide((SMALL, COARSE), levels, 60.0) == Draw(levels, reset_s=280.0)


def test_the_longest_wait_is_the_one_that_counts() -> None:
    levels = {"gemini-5h": Level(2, 50.0), "ceiling": Level(3, 40.0)}
    assert decide((SMALL, COARSE), levels, 60.0).reset_s == 280.0


def test_a_bucket_is_full_again_once_its_window_has_passed() -> None:
    assert at(SMALL, Level(2, 50.0), 149.9) == Level(2, 50.0)
    assert at(SMALL, Level(2, 50.0), 150.0) == Level()
    assert decide((SMALL,), {"gemini-5h": Level(2, 50.0)}, 150.0) == Draw({"gemini-5h": Level(1, 150.0)})


def test_other_groups_levels_are_kept() -> None:
    assert decide((SMALL,), {"3p-5h": Level(7, 1.0)}, 2.0).levels["3p-5h"] == Level(7, 1.0)


def test_a_bucket_of_no_capacity_refuses_at_once() -> None:
    assert decide((SMALL._replace(capacity=0),), {}, 5.0).reset_s == 100.0


def test_each_group_of_models_draws_on_its_own_buckets_and_on_the_ceiling() -> None:
    account = DEFAULT._replace(ceiling=COARSE)
    assert [bucket.id for bucket in buckets_of(account, gemini=True)] == [
        "gemini-weekly",
        "gemini-5h",
        "ceiling",
    ]
    assert [bucket.id for bucket in buckets_of(DEFAULT, gemini=False)] == ["3p-weekly", "3p-5h"]


def test_draws_are_stored_in_the_home(tmp_path: Path) -> None:
    home = Home(tmp_path)
    account = DEFAULT._replace(buckets=(SMALL,))
    assert [draw(home, account, gemini=True, now_s=10.0) for _ in range(3)] == [None, None, 100.0]
    assert read_levels(home) == {"gemini-5h": Level(2, 10.0)}
    assert draw(None, account, gemini=True, now_s=10.0) is None
    home.quota.write_text("{", encoding="utf-8")
    assert read_levels(home) == {}


def test_usage_shows_what_is_left_and_when_it_resets_but_no_ceiling(tmp_path: Path) -> None:
    home = Home(tmp_path)
    gemini = BUCKETS[0]._replace(capacity=3)
    account = DEFAULT._replace(buckets=(gemini, *BUCKETS[1:]), ceiling=COARSE)
    draw(home, account, gemini=True, now_s=0.0)
    data = usage_data(account, home, 1.0)
    first, second = data["groups"]
    assert [group["name"] for group in data["groups"]] == ["Gemini Models", "Claude and GPT models"]
    assert first["buckets"][0] == {
        "id": "gemini-weekly",
        "name": "Weekly Limit Remaining",
        "window": "weekly",
        "remaining_fraction": 0.666667,
        "reset_time": "1970-01-08T00:00:00Z",
    }
    assert second["buckets"][1] == {
        "id": "3p-5h",
        "name": "Five Hour Limit Remaining",
        "window": "5h",
        "remaining_fraction": 1,
    }
    assert (
        usage_text(data).splitlines()[0] == "Gemini Models\tWeekly Limit Remaining\t67%\t1970-01-08T00:00:00Z"
    )
    assert "ceiling" not in str(data)


def test_an_empty_bucket_leaves_its_fraction_out(tmp_path: Path) -> None:
    account = DEFAULT._replace(buckets=(SMALL,))
    home = Home(tmp_path)
    for _ in range(2):
        draw(home, account, gemini=True, now_s=0.0)
    row = usage_data(account, home, 1.0)["groups"][0]["buckets"][0]
    assert "remaining_fraction" not in row
    assert row["reset_time"] == "1970-01-01T00:01:40Z"


def test_the_answer_of_usage_spends_nothing_and_has_no_conversation() -> None:
    result = usage_result("usage", usage_data(DEFAULT, None, 0.0))
    assert (result["conversation_id"], result["status"], result["num_turns"]) == ("", "SUCCESS", 0)
    assert not any(result["usage"].values())
    assert result["command"]["name"] == "usage"
