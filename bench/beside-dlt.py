"""One load of the clients by dlt, with its best documented settings: beside-dlt.py BASE_URL DATABASE_URL MODE

MODE: `csv` (replace, loader files as CSV, loaded by COPY) or `merge` (upsert by id). Prints the seconds of the run.
"""
import os
import sys
import tempfile
import time

import dlt
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.paginators import PageNumberPaginator

base_url, database_url, mode = sys.argv[1:4]
os.environ["RUNTIME__LOG_LEVEL"] = "ERROR"
os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
os.environ["NORMALIZE__WORKERS"] = "2"


@dlt.resource(
    name="clients",
    primary_key="id",
    write_disposition="merge" if mode == "merge" else "replace",
    max_table_nesting=0,
)
def clients():
    paginator = PageNumberPaginator(base_page=1, page_param="page", total_path="meta.last_page")
    client = RESTClient(base_url=base_url, paginator=paginator, data_selector="data")
    for page in client.paginate("/api/clients", params={"page": 1, "per_page": 100}):
        yield page


with tempfile.TemporaryDirectory() as folder:
    pipeline = dlt.pipeline(
        pipeline_name=f"beside_{mode}",
        pipelines_dir=folder,
        destination=dlt.destinations.postgres(database_url),
        dataset_name=f"dlt_{mode}",
    )
    start = time.perf_counter()
    pipeline.run(clients(), loader_file_format="csv" if mode == "csv" else None)
    print(time.perf_counter() - start)
