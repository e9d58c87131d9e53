{# Prints models/sources.yml: every view of the mirror as a source, by what bi_dictionary and bi_relations say of it. #}
{% macro sources() %}
  {% set schema = 'mirror' if target.type == 'sqlite' else 'public' %}
  {# A kind that was asked for and is not there was never read, for a reason: it is off, and not late. #}
  {% set asked = "select kind from " ~ schema ~ ".bi_sync_status where not (state = 'never' and reason is not null)" %}
  {% set kinds = run_query(asked).columns[0].values() %}
  {% set relations = run_query('select view, "column", to_view, to_column, none from ' ~ schema ~ '.bi_relations').rows %}
  {% set columns = run_query('select view, "column", type, unit, meaning from ' ~ schema ~ '.bi_dictionary order by 1, 2').rows %}
  {{ print('sources:\n  - name: bms_sync\n    schema: ' ~ schema ~ '\n    tables:') }}
  {% for view, described in columns | groupby('view') %}
    {{ print('      - name: ' ~ view) }}
    {% if view[3:] in kinds %}
      {% set read = "select last_sweep_at from " ~ schema ~ ".bi_sync_status where kind = '" ~ view[3:] ~ "'" %}
      {% set freshness = {'warn_after': {'count': 1, 'period': 'hour'}, 'error_after': {'count': 1, 'period': 'day'}} %}
      {{ print('        config: ' ~ tojson({'loaded_at_query': read, 'freshness': freshness})) }}
    {% endif %}
    {{ print('        columns:') }}
    {% for column in described %}
      {% set tests = [] %}
      {% if column['column'] == 'id' and view[3:] in kinds %}{% do tests.extend(['unique', 'not_null']) %}{% endif %}
      {% if column['column'] in ('parent_id', 'position') %}{% do tests.append('not_null') %}{% endif %}
      {% if column['type'] == 'flag' %}
        {% do tests.append({'accepted_values': {'arguments': {'values': [0, 1], 'quote': false}}}) %}
      {% endif %}
      {% for relation in relations if relation['view'] == view and relation['column'] == column['column'] %}
        {# A warning, as the service keeps naming records that it has deleted. #}
        {% set config = {'severity': 'warn'} %}
        {% if relation['none'] is not none %}
          {% do config.update({'where': '"' ~ column['column'] ~ '" <> ' ~ relation['none']}) %}
        {% endif %}
        {% set to = "source('bms_sync', '" ~ relation['to_view'] ~ "')" %}
        {% set arguments = {'to': to, 'field': relation['to_column']} %}
        {% do tests.append({'relationships': {'arguments': arguments, 'config': config}}) %}
      {% endfor %}
      {% set unit = ' (' ~ column['unit'] ~ ')' if column['unit'] else '' %}
      {% set about = {'name': column['column'], 'quote': true, 'description': column['meaning'] ~ unit, 'data_tests': tests} %}
      {{ print('          - ' ~ tojson(about)) }}
    {% endfor %}
  {% endfor %}
{% endmacro %}
