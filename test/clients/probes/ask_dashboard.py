"""Asks what the datasets of an imported dashboard hold, and by Superset's API what its charts and metrics would show.

python ask_dashboard.py SLUG ANSWERS, with SUPERSET_CONFIG_PATH. The answers are JSON: for each chart the name of its dataset,
the dataset's rows, the rows that the chart asks for, all values as text, and the total of each metric of the dataset.
"""

import json
import sys

from superset.app import create_app

from ask import text

ADMIN = {"username": "admin", "password": "of-a-test", "provider": "db"}


def main(slug, answers):
    app = create_app()
    with app.app_context():
        from superset import db
        from superset.models.dashboard import Dashboard

        dashboard = db.session.query(Dashboard).filter_by(slug=slug).one()
        charts = [chart(slice) for slice in dashboard.slices if slice.viz_type != "table"]
    ask = api(app.test_client())  # Outside the context above, which would keep the first request's user.
    told = [{**known, "shown": shown(ask, id, params), "totals": totals(ask, id, names)} for known, id, params, names in charts]
    json.dump(told, open(answers, "w", encoding="utf8"))


def chart(slice):
    dataset = slice.datasource
    known = {"report": dataset.table_name, "rows": rows(dataset.database.get_df(dataset.sql))}
    return known, dataset.id, json.loads(slice.params), [metric.metric_name for metric in dataset.metrics]


def api(client):
    """A function that asks a dataset as a browser does, and gives the rows."""
    token = client.post("/api/v1/security/login", json=ADMIN).get_json()["access_token"]

    def ask(dataset, question):
        body = {"datasource": {"id": dataset, "type": "table"}, "queries": [question], "result_type": "full"}
        answer = client.post("/api/v1/chart/data", json=body, headers={"Authorization": f"Bearer {token}"})
        if answer.status_code != 200:
            raise ValueError(f"dataset {dataset}: {answer.get_data(as_text=True)}")
        return answer.get_json()["result"][0]["data"]

    return ask


def shown(ask, dataset, params):
    return [[text(value) for value in row.values()] for row in ask(dataset, question(params))]


def totals(ask, dataset, metrics):
    found = ask(dataset, {"columns": [], "metrics": metrics})[0]
    return {name: text(found[name]) for name in metrics}


def question(params):
    """What the browser asks for a bar chart."""
    asked = {"columns": [params["x_axis"]], "metrics": params["metrics"], "row_limit": params["row_limit"]}
    order = {"orderby": [[params["metrics"][0], False]]}
    return {**asked, **order}


def rows(frame):
    return [[text(value) for value in row] for row in frame.itertuples(index=False)]


if __name__ == "__main__":
    main(*sys.argv[1:])
