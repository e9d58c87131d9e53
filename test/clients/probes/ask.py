"""Runs the Python of a page of docs/reporting, then puts questions by the very call with which the page reads its first one.

python ask.py PAGE QUESTIONS ANSWERS: PAGE is Python, QUESTIONS a JSON list of SQL, ANSWERS is written: what the page printed,
and for each question the names, types and rows that the client gave, each value as text. A question `?TYPE|VALUE|SQL` has a parameter.
`~COMMAND|SQL` is prepared over ODBC, and asked again after a command, and by a new cursor: the rows are the errors, or `read`.
"""

import ast
import contextlib
import io
import json
import math
import subprocess
import sys
from datetime import date, datetime, time, timezone
from decimal import Decimal


def main(page, questions, answers):
    tree = ast.parse(open(page, encoding="utf8").read())
    scope, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, page, "exec"), scope)
    read = eval(compile(reader(tree), page, "eval"), scope)
    asked = json.load(open(questions, encoding="utf8"))
    prepared = lambda question: twice(scope["mirror"].cursor(), question[1:])
    answers_ = [prepared(question) if question[0] == "~" else answer(read, question) for question in asked]
    told = {"printed": printed.getvalue(), "answers": answers_}
    json.dump(told, open(answers, "w", encoding="utf8"))


def reader(tree):
    """A function of a question: the page's first call that is given a `select`, with the question in its place."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args and is_select(node.args[0])]
    call = min(calls, key=lambda node: node.lineno)
    call.args[0] = ast.Name("question", ast.Load())
    call.args.append(ast.Starred(ast.Name("values", ast.Load()), ast.Load()))
    function = ast.parse("lambda question, *values: 0", mode="eval")
    function.body.body = call
    return ast.fix_missing_locations(function)


def is_select(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("select ")


PARAMETERS = {
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "decimal": Decimal,
    "integer": int,
    "float": float,
    "flag": lambda value: value == "1",
    "time": time.fromisoformat,
    "text": str,
}


def answer(read, question):
    try:
        kind, value, sql = question[1:].split("|", 2) if question.startswith("?") else (None, None, question)
        columns, rows = table(read(sql, *([] if kind is None else [PARAMETERS[kind](value)])))
        return {"columns": columns, "rows": [[text(value) for value in row] for row in rows]}
    except BaseException as error:  # A client may fail in ways of its own; the others are asked all the same.
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def twice(cursor, asked):
    command, question = asked.split("|", 1)
    for _ in range(6):
        cursor.execute(question, 0).fetchall()
    cursor.commit()
    subprocess.run(command, shell=True, check=True, stdout=sys.stderr)
    return {"columns": [["said", "str"]], "rows": [[attempt(one, question)] for one in (cursor, cursor.connection.cursor())]}


def attempt(cursor, question):
    try:
        cursor.execute(question, 0).fetchall()
        return "read"
    except Exception as error:
        cursor.rollback()
        return str(error)


def table(read):
    """The columns, each a name and a type, and the rows of what pandas, polars, DuckDB, ODBC, ibis, LangChain or LlamaIndex have read."""
    kind = type(read).__module__.split(".")[0]
    if kind == "pandas":
        return [[str(name), str(dtype)] for name, dtype in read.dtypes.items()], read.itertuples(index=False)
    if kind == "polars":
        return [[name, str(dtype)] for name, dtype in read.schema.items()], read.iter_rows()
    if kind in ("duckdb", "_duckdb"):
        return [[name, str(dtype)] for name, dtype in zip(read.columns, read.types)], read.fetchall()
    if kind == "pyodbc":
        return [[column[0], column[1].__name__] for column in read.description], read.fetchall()
    if kind == "ibis":
        return [[name, str(dtype)] for name, dtype in read.schema().items()], [row.values() for row in read.to_pyarrow().to_pylist()]
    if kind == "sqlalchemy":
        return [[name, ""] for name in read.keys()], read.fetchall()
    if kind == "builtins":
        return [[name, ""] for name in read[1]["col_keys"]], read[1]["result"]
    raise TypeError(f"what {type(read)} has read")


def text(value):
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float):
        return None if math.isnan(value) else repr(value)
    if isinstance(value, datetime):
        utc = value.astimezone(timezone.utc) if value.tzinfo else value
        return utc.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
