select date as date_day from {{ source('bms_sync', 'bi_calendar') }}
