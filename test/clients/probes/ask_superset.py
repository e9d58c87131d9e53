"""Puts questions as Superset does for a chart, and asks it what it takes the columns of a view for.

python ask_superset.py URI QUESTIONS ANSWERS, with SUPERSET_CONFIG_PATH; the files are those of ask.py.
"""

import json
import re
import sys

from superset.app import create_app

from ask import text


def main(uri, questions, answers):
    with create_app().app_context():
        from superset.models.core import Database

        mirror = Database(database_name="mirror")
        mirror.set_sqlalchemy_uri(uri)
        asked = json.load(open(questions, encoding="utf8"))
        told = {"printed": "", "answers": [answer(mirror, question) for question in asked]}
    json.dump(told, open(answers, "w", encoding="utf8"))


def answer(mirror, question):
    try:
        frame = mirror.get_df(question)
        rows = [[text(value) for value in row] for row in frame.itertuples(index=False)]
        kinds = types(mirror, question)
        return {"columns": [[name, kinds.get(name, "")] for name in frame.columns], "rows": rows}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def types(mirror, question):
    """What a dataset made of the view takes its columns for: NUMERIC, STRING or TEMPORAL, by the column's type."""
    from superset.sql.parse import Table

    view = re.fullmatch(r"select \* from (\w+)", question)
    columns = mirror.get_columns(Table(view[1])) if view else []
    specs = {column["column_name"]: mirror.db_engine_spec.get_column_spec(str(column["type"])) for column in columns}
    return {name: spec.generic_type.name if spec else "none" for name, spec in specs.items()}


if __name__ == "__main__":
    main(*sys.argv[1:])
