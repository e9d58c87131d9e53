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

        ask = api(app.test_client())
        dashboard = db.session.query(Dashboard).filter_by(slug=slug).one()
        told = [chart(slice, ask) for slice in dashboard.slices]
    json.dump(told, open(answers, "w", encoding="utf8"))


def api(client):
    """A function that asks a dataset as a browser does, and gives the rows."""
    token = client.post("/api/v1/security/login", json=ADMIN).get_json()["access_token"]

    def ask(dataset, question):
        body = {"datasource": {"id": dataset.id, "type": "table"}, "queries": [question], "result_type": "full"}
        answer = client.post("/api/v1/chart/data", json=body, headers={"Authorization": f"Bearer {token}"})
        if answer.status_code != 200:
            raise ValueError(f"{dataset.table_name}: {answer.get_data(as_text=True)}")
        return answer.get_json()["result"][0]["data"]

    return ask


def chart(slice, ask):
    dataset = slice.datasource
    metrics = [metric.metric_name for metric in dataset.metrics]
    totals = ask(dataset, {"columns": [], "metrics": metrics})[0]
    shown = ask(dataset, question(json.loads(slice.params)))
    return {
        "report": dataset.table_name,
        "rows": rows(dataset.database.get_df(dataset.sql)),
        "shown": [[text(value) for value in row.values()] for row in shown],
        "totals": {name: text(totals[name]) for name in metrics},
    }


def question(params):
    """What the browser asks for a bar chart."""
    asked = {"columns": [params["x_axis"]], "metrics": params["metrics"], "row_limit": params["row_limit"]}
    order = {"orderby": [[params["metrics"][0], False]]}
    return {**asked, **order}


def rows(frame):
    return [[text(value) for value in row] for row in frame.itertuples(index=False)]


if __name__ == "__main__":
    main(*sys.argv[1:])
