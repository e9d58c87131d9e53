"""One load of the clients by PyAirbyte, by a declarative manifest: load_airbyte.py BASE_URL HOST PORT USER PASSWORD DATABASE"""
import os
import sys

os.environ["DO_NOT_TRACK"] = "1"
import airbyte as ab  # noqa: E402
from airbyte.caches import PostgresCache  # noqa: E402

base_url, host, port, user, password, database = sys.argv[1:7]
fields = {name: {"type": ["null", "string"]} for name in ["code", "name", "phone", "email", "city", "credit"]}
MANIFEST = {
    "version": "6.0.0",
    "type": "DeclarativeSource",
    "check": {"type": "CheckStream", "stream_names": ["clients"]},
    "spec": {
        "type": "Spec",
        "connection_specification": {"type": "object", "properties": {}, "additionalProperties": True},
    },
    "streams": [
        {
            "type": "DeclarativeStream",
            "name": "clients",
            "primary_key": ["id"],
            "schema_loader": {
                "type": "InlineSchemaLoader",
                "schema": {"type": "object", "properties": {"id": {"type": "integer"}, **fields}},
            },
            "retriever": {
                "type": "SimpleRetriever",
                "requester": {
                    "type": "HttpRequester",
                    "url_base": base_url,
                    "path": "/api/clients",
                    "http_method": "GET",
                    "request_headers": {"Authorization": "Bearer sandbox-token"},
                },
                "record_selector": {
                    "type": "RecordSelector",
                    "extractor": {"type": "DpathExtractor", "field_path": ["data"]},
                },
                "paginator": {
                    "type": "DefaultPaginator",
                    "page_token_option": {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "page"},
                    "page_size_option": {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "per_page"},
                    "pagination_strategy": {"type": "PageIncrement", "start_from_page": 1, "page_size": 100, "inject_on_first_request": True},
                },
            },
        }
    ],
}

source = ab.get_source("source-clients", config={}, source_manifest=MANIFEST, streams=["clients"])
cache = PostgresCache(
    host=host, port=int(port), username=user, password=password, database=database, schema_name="airbyte"
)
source.read(cache=cache, force_full_refresh=True, write_strategy="replace")
