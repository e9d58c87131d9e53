"""A Singer tap of the clients, made with Meltano's SDK: tap_clients.py --config FILE with {"api_url"}."""
from singer_sdk import Stream, Tap
from singer_sdk import typing as th
from singer_sdk.pagination import BasePageNumberPaginator
from singer_sdk.streams import RESTStream


class Pages(BasePageNumberPaginator):
    def has_more(self, response):
        meta = response.json()["meta"]
        return meta["current_page"] < meta["last_page"]


class Clients(RESTStream):
    name = "clients"
    path = "/api/clients"
    primary_keys = ("id",)
    records_jsonpath = "$.data[*]"
    schema = th.PropertiesList(
        th.Property("id", th.IntegerType, required=True),
        th.Property("code", th.StringType),
        th.Property("name", th.StringType),
        th.Property("phone", th.StringType),
        th.Property("email", th.StringType),
        th.Property("city", th.StringType),
        th.Property("credit", th.StringType),
    ).to_dict()

    @property
    def url_base(self):
        return self.config["api_url"]

    @property
    def http_headers(self):
        return {"Authorization": "Bearer sandbox-token"}

    def get_new_paginator(self):
        return Pages(1)

    def get_url_params(self, context, next_page_token):
        return {"page": next_page_token or 1, "per_page": 100}


class TapClients(Tap):
    name = "tap-clients"
    config_jsonschema = th.PropertiesList(th.Property("api_url", th.StringType, required=True)).to_dict()

    def discover_streams(self) -> list[Stream]:
        return [Clients(self)]


TapClients.cli()
