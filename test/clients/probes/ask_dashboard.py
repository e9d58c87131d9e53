"""Asks what the datasets of an imported dashboard hold, and what its charts would show.

python ask_dashboard.py SLUG ANSWERS, with SUPERSET_CONFIG_PATH. The answers are JSON: for each chart the name of its dataset,
the dataset's rows, and the rows that the chart asks for, all values as text.
"""

import json
import sys

from superset.app import create_app

from ask import text


def main(slug, answers):
    with create_app().app_context():
        from superset import db
        from superset.models.dashboard import Dashboard

        dashboard = db.session.query(Dashboard).filter_by(slug=slug).one()
        told = [chart(slice) for slice in dashboard.slices]
    json.dump(told, open(answers, "w", encoding="utf8"))


def chart(slice):
    dataset = slice.datasource
    shown = dataset.query(question(json.loads(slice.params)))
    if shown.error_message:
        raise ValueError(f"{slice.slice_name}: {shown.error_message}")
    return {
        "report": dataset.table_name,
        "rows": rows(dataset.database.get_df(dataset.sql)),
        "shown": rows(shown.df),
    }


def question(params):
    """What the browser asks for a bar chart."""
    asked = {"columns": [params["x_axis"]], "metrics": params["metrics"], "row_limit": params["row_limit"]}
    order = {"orderby": [[params["metrics"][0], False]]}
    return {**asked, **order, "filter": [], "extras": {}, "granularity": None, "is_timeseries": False}


def rows(frame):
    return [[text(value) for value in row] for row in frame.itertuples(index=False)]


if __name__ == "__main__":
    main(*sys.argv[1:])
