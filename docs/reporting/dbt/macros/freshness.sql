{# Freshness on SQLite, which has no type for instants: dbt asks for two, and the adapter gives texts. #}
{% macro sqlite__collect_freshness_custom_sql(source, loaded_at_query) %}
  {% set format = '%Y-%m-%d %H:%M:%S' %}
  {% set read = run_query('select substr((' ~ loaded_at_query ~ "), 1, 19), strftime('" ~ format ~ "', 'now')").rows[0] %}
  {% set instants = [] %}
  {% for text in read %}
    {% do instants.append(modules.datetime.datetime.strptime(text, format) if text else none) %}
  {% endfor %}
  {{ return(namespace(response=none, table=[instants])) }}
{% endmacro %}
