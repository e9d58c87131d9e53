"""One load of the clients by dlt: load_dlt.py BASE_URL DATABASE_URL MODE FOLDER

MODE: `replace` (loader files as CSV, loaded by COPY: its fastest) or `merge` (upsert by id). FOLDER keeps its state.
"""
import os
import sys

import dlt
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.paginators import PageNumberPaginator

base_url, database_url, mode, folder = sys.argv[1:5]
os.environ["RUNTIME__LOG_LEVEL"] = "ERROR"
os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
os.environ["NORMALIZE__WORKERS"] = "2"


@dlt.resource(name="clients", primary_key="id", write_disposition=mode, max_table_nesting=0)
def clients():
    paginator = PageNumberPaginator(base_page=1, page_param="page", total_path="meta.last_page")
    headers = {"Authorization": "Bearer sandbox-token"}
    client = RESTClient(base_url=base_url, headers=headers, paginator=paginator, data_selector="data")
    for page in client.paginate("/api/clients", params={"page": 1, "per_page": 100}):
        yield page


pipeline = dlt.pipeline(
    pipeline_name="beside",
    pipelines_dir=folder,
    destination=dlt.destinations.postgres(database_url),
    dataset_name="dlt",
)
pipeline.run(clients(), loader_file_format="csv" if mode == "replace" else None)
