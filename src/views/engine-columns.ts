import type { FieldType } from '../catalog/kind.ts';
import { identifier } from '../db/session/sql-text.ts';
import { translateAll, type MessageKey } from '../lib/text/translator.ts';
import type { ViewColumn } from './create-views.ts';

type ColumnEntry = readonly [type: FieldType, en: string, fr: string, meaning: MessageKey, unit?: string];

const instant = (en: string, fr: string, meaning: MessageKey): ColumnEntry => [
  'timestamp',
  en,
  fr,
  meaning,
  'UTC',
];

const KIND: ColumnEntry = ['text', 'Kind', 'Type de fiche', 'The record kind.'];

/** The columns of the views that are about the mirror itself, by the name of the view without its `bi_`. */
const COLUMNS = {
  changes: {
    seq: ['integer', 'Sequence', 'Séquence', 'The number of the event, in ascending order.'],
    kind: KIND,
    record_id: ['integer', 'Record', 'Fiche', 'The id of the record.'],
    change: ['text', 'Change', 'Changement', 'created, updated, deleted or restored.'],
    observed_from: instant('Not before', 'Pas avant', 'The change happened after this; null = unknown.'),
    observed_at: instant('Found at', 'Constaté le', 'When the change was found.'),
    before: ['json', 'Before', 'Avant', 'The whole record before the change.'],
    after: ['json', 'After', 'Après', 'The whole record after the change.'],
    fields: ['json', 'Fields', 'Champs', 'The fields that differ, each with its old and its new value.'],
    origin: ['text', 'Origin', 'Origine', 'service, or outbox: and the number of the outbox entry.'],
    run_id: [
      'integer',
      'Run',
      'Exécution',
      'The run that found the change; null = a reading between sweeps, or a write by bms-sync.',
    ],
    day: ['date', 'Day', 'Jour', 'The day on which it was found, in the time zone of the schedules.'],
  },
  history: {
    id: ['integer', 'Id', 'Identifiant', 'The record.'],
    valid_from: instant('Valid from', 'Valide du', 'Null = the version that was read first.'),
    valid_to: instant('Valid to', "Valide jusqu'au", 'Null = the current version.'),
    change: ['text', 'Change', 'Changement', 'The change that started the version; null for the first.'],
    record: ['json', 'Record', 'Fiche', 'The whole record.'],
    seq: ['integer', 'Sequence', 'Séquence', 'The event that started the version; null for the first.'],
  },
  sync_status: {
    kind: KIND,
    state: ['text', 'State', 'État', 'never, running, certified, complete, invalid or aborted.'],
    reason: ['text', 'Reason', 'Raison', 'Why the last sweep ended in this state.'],
    rows: ['integer', 'Rows', 'Lignes', 'Live rows.'],
    last_sweep_at: instant('Last read', 'Dernière lecture', 'When the list was last read to its end.'),
    certified_at: instant('Certified', 'Dernière certification', 'When the list was last certified.'),
    lag_seconds: ['integer', 'Lag', 'Retard', 'The age of the last complete sweep.', 'seconds'],
    last_change_at: instant('Last change', 'Dernier changement', 'When a change was last found.'),
    open_issues: [
      'integer',
      'Open issues',
      'Problèmes ouverts',
      'Values and records that do not match the expected type.',
    ],
    held_deletions: [
      'integer',
      'Held deletions',
      'Suppressions retenues',
      'Deletions on hold, which wait for a decision.',
    ],
  },
  issues: {
    kind: KIND,
    record_id: ['integer', 'Record', 'Fiche', 'The id of the record; null if it has no usable one.'],
    field: ['text', 'Field', 'Champ', 'The field; null if the issue concerns the whole record.'],
    code: ['text', 'Code', 'Code', 'Why the value does not match the expected type.'],
    sent: ['text', 'Sent', 'Reçu', 'What the service sent, shortened.'],
    since: instant('Since', 'Depuis', 'When the issue was found.'),
  },
  drift: {
    id: ['integer', 'Id', 'Identifiant', 'The number of the note, in ascending order.'],
    kind: KIND,
    code: [
      'text',
      'Code',
      'Code',
      'What changed in the answers of the service: new_field, vanished_field, …',
    ],
    field: ['text', 'Field', 'Champ', 'The field; null if the note concerns the whole list.'],
    detail: ['text', 'Detail', 'Détail', 'What was found.'],
    seen_at: instant('Found at', 'Constaté le', 'When it was found.'),
  },
  fields: {
    kind: [
      'text',
      'Kind',
      'Type de fiche',
      'The record kind, or the table of the elements of a nested array.',
    ],
    field: ['text', 'Field', 'Champ', 'The field.'],
    documented: ['flag', 'Documented', 'Documenté', '1 = the documentation shows the field, 0 = not.'],
    type: ['text', 'Type', 'Type', 'The narrowest type that fits its values; none while all were null.'],
    wire: ['text', 'Sent as', 'Reçu comme', 'The JSON types received, without null.'],
    column_type: [
      'text',
      'Column type',
      'Type de colonne',
      'The type of its column; unusable = it has none.',
    ],
    text_column: ['text', 'Text column', 'Colonne de texte', 'The column of its values that do not fit.'],
    first_seen_at: instant('First seen at', 'Première lecture', 'When the service first sent the field.'),
    vanished_at: instant('Vanished at', 'Disparu le', 'Since when no record has it; null = some have it.'),
  },
  calendar: {
    date: ['date', 'Date', 'Date', 'The day.'],
    year: ['integer', 'Year', 'Année', 'The year.'],
    month: ['integer', 'Month', 'Mois', 'The month, 1 to 12.'],
    iso_year: ['integer', 'Year of the week', 'Année de la semaine', 'The year of the ISO 8601 week.'],
    iso_week: ['integer', 'Week', 'Semaine', 'The ISO 8601 week, which begins on Monday.'],
    weekday: ['integer', 'Weekday', 'Jour', 'The day of the week: 1 = Monday, 7 = Sunday.'],
    month_en: ['text', 'Month, English', 'Mois, en anglais', 'The name of the month in English.'],
    month_fr: ['text', 'Month, French', 'Mois, en français', 'The name of the month in French.'],
    weekday_en: ['text', 'Weekday, English', 'Jour, en anglais', 'The name of the day in English.'],
    weekday_fr: ['text', 'Weekday, French', 'Jour, en français', 'The name of the day in French.'],
    day_number: [
      'integer',
      'Day number',
      'Numéro du jour',
      'The number of the day, from 1: the difference of two is the number of days between them.',
    ],
    starts_at: instant('Starts at', 'Début', 'When the day begins, in the time zone of the schedules.'),
    ends_at: instant('Ends at', 'Fin', 'When the next day begins, in the time zone of the schedules.'),
  },
  record: {
    _first_seen_at: instant('First seen at', 'Première lecture', 'When the mirror first read the record.'),
    _changed_at: instant(
      'Changed at',
      'Dernier changement',
      "When the mirror last found the record's content changed.",
    ),
  },
  deleted: {
    _deleted_at: instant('Deleted at', 'Suppression', 'When the mirror found that the record was deleted.'),
  },
  search: {
    _search: [
      'text',
      'Search text',
      'Texte de recherche',
      'Code, names, phone numbers and e-mail without accents, capitals and signs, to filter by.',
    ],
  },
  minutes: {
    minutes: [
      'integer',
      'Minutes',
      'Minutes',
      'Minutes from the start to the end, past midnight if the end is earlier; null without an end.',
    ],
  },
  price_changes: {
    seq: ['integer', 'Sequence', 'Séquence', 'The number of the event, in ascending order.'],
    day: ['date', 'Day', 'Jour', 'The day on which it was found, in the time zone of the schedules.'],
    observed_at: instant('Found at', 'Constaté le', 'When the change was found.'),
    product_id: ['integer', 'Product', 'Produit', 'The id of the record.'],
    field: ['text', 'Field', 'Champ', 'The field.'],
    old_price: ['text', 'Old price', 'Ancien prix', 'The price before the change, exact.'],
    new_price: ['text', 'New price', 'Nouveau prix', 'The price after the change, exact.'],
    old_price_e4: [
      'integer',
      'Old price, in 0.0001',
      'Ancien prix, en 0,0001',
      'The price before the change.',
      '0.0001',
    ],
    new_price_e4: [
      'integer',
      'New price, in 0.0001',
      'Nouveau prix, en 0,0001',
      'The price after the change.',
      '0.0001',
    ],
    origin: ['text', 'Origin', 'Origine', 'service, or outbox: and the number of the outbox entry.'],
    changed_by: [
      'text',
      'Changed by',
      'Modifié par',
      'Who pushed the outbox entry; null for a change in the service.',
    ],
  },
  dictionary: {
    view: ['text', 'View', 'Vue', 'The view.'],
    column: ['text', 'Column', 'Colonne', 'The column of the view.'],
    type: ['text', 'Type', 'Type', 'integer, flag (0 or 1), decimal, date, time, timestamp, text or json.'],
    unit: ['text', 'Unit', 'Unité', 'The unit; null if there is none, or none is known.'],
    meaning: ['text', 'Meaning', 'Signification', 'What the column holds, in English.'],
    section: ['text', 'Section', 'Section', "The section of the service's documentation that shows it."],
    label_en: ['text', 'English label', 'Libellé anglais', 'Its label in English.'],
    label_fr: ['text', 'French label', 'Libellé français', 'Its label in French.'],
    ordinal: ['integer', 'Place', 'Place', 'The place of the column in its view, from 1.'],
    meaning_fr: ['text', 'French meaning', 'Signification en français', 'What the column holds, in French.'],
  },
  relations: {
    view: ['text', 'View', 'Vue', 'The view that has the reference.'],
    column: ['text', 'Column', 'Colonne', 'The column that holds the reference.'],
    to_view: ['text', 'To view', 'Vers la vue', 'The view that it refers to.'],
    to_column: ['text', 'To column', 'Vers la colonne', 'The column that it refers to.'],
    none: ['text', 'None', 'Aucun', 'The value that means no record, besides null.'],
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
  return entries.map(([name, [type, en, fr, meaning, unit = null]]) => ({
    name,
    expression: expressionByName[name] ?? identifier(name),
    type,
    description: { en, fr, meaning: translateAll(meaning), unit },
  }));
}
