import type { FieldType } from '../catalog/kind.ts';
import { identifier } from '../db/session/sql-text.ts';
import { translateAll, type MessageKey } from '../lib/text/translator.ts';
import type { ViewColumn } from './create-views.ts';

type ColumnEntry = readonly [type: FieldType, label: MessageKey, meaning: MessageKey, unit?: string];

const instant = (label: MessageKey, meaning: MessageKey): ColumnEntry => ['timestamp', label, meaning, 'UTC'];

const KIND: ColumnEntry = ['text', 'Kind', 'The record kind.'];

/** The columns of the views that are about the mirror itself, by the name of the view without its `bi_`. */
const COLUMNS = {
  changes: {
    seq: ['integer', 'Sequence', 'The number of the event, in ascending order.'],
    kind: KIND,
    record_id: ['integer', 'Record', 'The id of the record.'],
    change: ['text', 'Change', 'created, updated, deleted or restored.'],
    observed_from: instant('Not before', 'The change happened after this; null = unknown.'),
    observed_at: instant('Found at', 'When the change was found.'),
    before: ['json', 'Before', 'The whole record before the change.'],
    after: ['json', 'After', 'The whole record after the change.'],
    fields: ['json', 'Fields', 'The fields that differ, each with its old and its new value.'],
    origin: ['text', 'Origin', 'service, or outbox: and the number of the outbox entry.'],
    run_id: [
      'integer',
      'Run',
      'The run that found the change; null = a reading between sweeps, or a write by bms-sync.',
    ],
    day: ['date', 'Day', 'The day on which it was found, in the time zone of the schedules.'],
  },
  history: {
    id: ['integer', 'Id', 'The record.'],
    valid_from: instant('Valid from', 'Null = the version that was read first.'),
    valid_to: instant('Valid to', 'Null = the current version.'),
    change: ['text', 'Change', 'The change that started the version; null for the first.'],
    record: ['json', 'Record', 'The whole record.'],
    seq: ['integer', 'Sequence', 'The event that started the version; null for the first.'],
  },
  sync_status: {
    kind: KIND,
    state: ['text', 'State', 'never, running, certified, complete, invalid or aborted.'],
    reason: ['text', 'Reason', 'Why the last sweep ended in this state.'],
    rows: ['integer', 'Rows', 'Live rows.'],
    last_sweep_at: instant('Last read', 'When the list was last read to its end.'),
    certified_at: instant('Certified', 'When the list was last known exactly.'),
    lag_seconds: ['integer', 'Lag', 'The age of the last complete sweep.', 'seconds'],
    last_change_at: instant('Last change', 'When a change was last found.'),
    open_issues: ['integer', 'Open issues', 'Values and records that do not match the expected type.'],
    held_deletions: ['integer', 'Held deletions', 'Deletions on hold, which wait for a decision.'],
  },
  statuses: {
    kind: KIND,
    status: ['text', 'Status', 'The status, as the service sends it; none = without one.'],
    records: ['integer', 'Records', 'Live records that have it.'],
    counts_as: [
      'text',
      'Counts as',
      'sold, owed or bought, as the settings reports.sold, .owed and .bought have it; null = nothing.',
    ],
  },
  purchase_statuses: {
    purchase_id: ['integer', 'Purchase', 'The id of the record.'],
    status: ['text', 'Status', 'The status, as the service sends it; none = without one.'],
    currency: ['text', 'Currency', 'The currency, as the service sends it; none = without one.'],
  },
  issues: {
    kind: KIND,
    record_id: ['integer', 'Record', 'The id of the record; null if it has no usable one.'],
    field: ['text', 'Field', 'The field; null if the issue concerns the whole record.'],
    code: ['text', 'Code', 'Why the value does not match the expected type.'],
    sent: ['text', 'Sent', 'What the service sent, shortened.'],
    since: instant('Since', 'When the issue was found.'),
  },
  drift: {
    id: ['integer', 'Id', 'The number of the note, in ascending order.'],
    kind: KIND,
    code: ['text', 'Code', 'What changed in the answers of the service: new_field, vanished_field, …'],
    field: ['text', 'Field', 'The field; null if the note concerns the whole list.'],
    detail: ['text', 'Detail', 'What was found.'],
    seen_at: instant('Found at', 'When it was found.'),
  },
  fields: {
    kind: ['text', 'Kind', 'The record kind, or the table of the elements of a nested array.'],
    field: ['text', 'Field', 'The field.'],
    documented: ['flag', 'Documented', '1 = the documentation shows the field, 0 = not.'],
    type: ['text', 'Type', 'The narrowest type that fits its values; none while all were null.'],
    wire: ['text', 'Sent as', 'The JSON types received, without null.'],
    column_type: ['text', 'Column type', 'The type of its column; unusable = it has none.'],
    text_column: ['text', 'Text column', 'The column of its values that do not fit.'],
    first_seen_at: instant('First seen at', 'When the service first sent the field.'),
    vanished_at: instant('Vanished at', 'Since when no record has it; null = some have it.'),
  },
  calendar: {
    date: ['date', 'Date', 'The day.'],
    year: ['integer', 'Year', 'The year.'],
    month: ['integer', 'Month', 'The month, 1 to 12.'],
    iso_year: ['integer', 'Year of the week', 'The year of the ISO 8601 week.'],
    iso_week: ['integer', 'Week', 'The ISO 8601 week, which begins on Monday.'],
    weekday: ['integer', 'Weekday', 'The day of the week: 1 = Monday, 7 = Sunday.'],
    month_en: ['text', 'Month, English', 'The name of the month in English.'],
    month_fr: ['text', 'Month, French', 'The name of the month in French.'],
    weekday_en: ['text', 'Weekday, English', 'The name of the day in English.'],
    weekday_fr: ['text', 'Weekday, French', 'The name of the day in French.'],
    day_number: [
      'integer',
      'Day number',
      'The number of the day, from 1: the difference of two is the number of days between them.',
    ],
    starts_at: instant('Starts at', 'When the day begins, in the time zone of the schedules.'),
    ends_at: instant('Ends at', 'When the next day begins, in the time zone of the schedules.'),
    fiscal_year: [
      'integer',
      'Fiscal year',
      'The fiscal year, named by the year in which it ends, by the setting calendar.yearBegins.',
    ],
  },
  record: {
    _first_seen_at: instant('First seen at', 'When the mirror first read the record.'),
    _changed_at: instant('Changed at', "When the mirror last found the record's content changed."),
  },
  deleted: {
    _deleted_at: instant('Deleted at', 'When the mirror found that the record was deleted.'),
  },
  search: {
    _search: [
      'text',
      'Search text',
      'Code, names, phone numbers and e-mail without accents, capitals and signs, to filter by.',
    ],
  },
  minutes: {
    minutes: [
      'integer',
      'Minutes',
      'Minutes from the start to the end, past midnight if the end is earlier; null without an end.',
    ],
  },
  price_changes: {
    seq: ['integer', 'Sequence', 'The number of the event, in ascending order.'],
    day: ['date', 'Day', 'The day on which it was found, in the time zone of the schedules.'],
    observed_at: instant('Found at', 'When the change was found.'),
    product_id: ['integer', 'Product', 'The id of the record.'],
    field: ['text', 'Field', 'The field.'],
    old_price: ['text', 'Old price', 'The price before the change, exact.'],
    new_price: ['text', 'New price', 'The price after the change, exact.'],
    old_price_e4: ['integer', 'Old price, in 0.0001', 'The price before the change.', '0.0001'],
    new_price_e4: ['integer', 'New price, in 0.0001', 'The price after the change.', '0.0001'],
    origin: ['text', 'Origin', 'service, or outbox: and the number of the outbox entry.'],
    changed_by: ['text', 'Changed by', 'Who pushed the outbox entry; null for a change in the service.'],
  },
  dictionary: {
    view: ['text', 'View', 'The view.'],
    column: ['text', 'Column', 'The column of the view.'],
    type: ['text', 'Type', 'integer, flag (0 or 1), decimal, date, time, timestamp, text or json.'],
    unit: ['text', 'Unit', 'The unit; null if there is none, or none is known.'],
    meaning: ['text', 'Meaning', 'What the column holds, in English.'],
    section: ['text', 'Section', "The section of the service's documentation that shows it."],
    label_en: ['text', 'English label', 'Its label in English.'],
    label_fr: ['text', 'French label', 'Its label in French.'],
    ordinal: ['integer', 'Place', 'The place of the column in its view, from 1.'],
    meaning_fr: ['text', 'French meaning', 'What the column holds, in French.'],
  },
  relations: {
    view: ['text', 'View', 'The view that has the reference.'],
    column: ['text', 'Column', 'The column that holds the reference.'],
    to_view: ['text', 'To view', 'The view that it refers to.'],
    to_column: ['text', 'To column', 'The column that it refers to.'],
    none: ['text', 'None', 'The value that means no record, besides null.'],
  },
} as const satisfies Record<string, Record<string, ColumnEntry>>;

/** Names from January and from Monday on. */
export const MONTHS = {
  en: 'January February March April May June July August September October November December',
  fr: `janvier février mars avril mai juin juillet août septembre octobre novembre décembre`,
};
export const WEEKDAYS = {
  en: 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday',
  fr: `lundi mardi mercredi jeudi vendredi samedi dimanche`,
};

type EngineView = keyof typeof COLUMNS;

/** The columns of a view about the mirror itself; a column without an expression is shown under its own name. */
export function engineColumns<Name extends EngineView>(
  view: Name,
  expressions: { readonly [Column in keyof (typeof COLUMNS)[Name]]?: string } = {},
): ViewColumn[] {
  const entries: readonly (readonly [string, ColumnEntry])[] = Object.entries(COLUMNS[view]);
  const expressionByName: Readonly<Record<string, string | undefined>> = expressions;
  return entries.map(([name, [type, label, meaning, unit = null]]) => ({
    name,
    expression: expressionByName[name] ?? identifier(name),
    type,
    description: { ...translateAll(label), meaning: translateAll(meaning), unit },
  }));
}
