{# An amount as text is the same as in units of 0.0001. #}
{% test exact_is_units(model, amount) %}
select * from {{ model }}
where cast(replace({{ amount }}_exact, '.', '') as bigint) <> {{ amount }}_e4 or ({{ amount }}_exact is null) <> ({{ amount }}_e4 is null)
{% endtest %}
