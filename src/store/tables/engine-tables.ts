/** Engine tables of lists, fields and runs. drizzle-kit generates the migrations from them. */

import {
  bigint,
  integerColumn,
  optionalBigint,
  optionalText,
  optionalTimestamp,
  serial,
  textColumn,
  timestampColumn,
  withDefault,
  type EngineTable,
} from '../../db/rows/engine-column.ts';
import type { FieldType } from '../../catalog/kind.ts';
import type { SeenType } from '../../diff/observe-fields.ts';

/** Facts about the mirror as a whole: its version, the shape of its tables, the source of its data. */
export const MIRROR_META = {
  name: 'mirror_meta',
  columns: [textColumn('key', 'nothing'), textColumn('value', 'names')],
  primaryKey: ['key'],
} as const satisfies EngineTable;

/** One row per kind: its tick counter, the end of its last sweep, the owner of the present sweep. */
export const KIND_STATE = {
  name: 'kind_state',
  columns: [
    textColumn('kind', 'nothing'),
    bigint('tick'),
    textColumn('state', 'nothing'),
    optionalText('reason', 'nothing'),
    bigint('complete_sweeps'), // How many sweeps have reached the end of the list so far.
    optionalText('decoded_as', 'nothing'),
    optionalText('envelope', 'nothing'),
    optionalBigint('page_size'),
    optionalTimestamp('last_sweep_at'), // The end of the last sweep that reached the end of the list.
    optionalTimestamp('certified_at'), // When the list was last known exactly.
    optionalTimestamp('last_change_at'),
    optionalText('owner', 'nothing'),
    bigint('epoch'),
    optionalTimestamp('lease_until'),
    optionalTimestamp('baseline_at'), // Since when a record new to the mirror is also new to the service.
    withDefault(bigint('control_failures'), '0'), // Consecutive sweeps in which a record known to exist could not be retrieved.
    withDefault(bigint('known_from'), '0'), // The tick from which sightings are of the present source.
    optionalText('system_ids', 'nothing'),
    optionalBigint('last_complete_sweep'), // The tick at which it began; null = none counts.
    withDefault(bigint('uncertified_sweeps'), '0'), // Consecutive complete sweeps that did not certify the list.
    optionalBigint('lease_yields'), // 1 = a sweep may take the lease over at once: it is held for a reading between sweeps.
  ],
  primaryKey: ['kind'],
} as const satisfies EngineTable;

/** One row per run. The row exists before the work begins. */
export const RUNS = {
  name: 'runs',
  columns: [
    serial('id'),
    textColumn('command', 'nothing'),
    textColumn('kinds', 'nothing'),
    textColumn<'state', 'requested' | 'running' | 'done' | 'incomplete' | 'failed' | 'interrupted'>(
      'state',
      'nothing',
    ),
    optionalText('reason', 'nothing'),
    optionalText('owner', 'nothing'),
    timestampColumn('requested_at'),
    optionalTimestamp('started_at'),
    optionalTimestamp('finished_at'),
    optionalText('request', 'nothing'),
    optionalBigint('epoch'),
    optionalTimestamp('next_attempt_at'),
    optionalText('slot', 'nothing'),
    optionalTimestamp('lease_until'),
  ],
  primaryKey: ['id'],
  unique: 'slot',
} as const satisfies EngineTable;

/** The result of a run for one kind. */
export const RUN_KINDS = {
  name: 'run_kinds',
  columns: [
    bigint('run_id'),
    textColumn('kind', 'nothing'),
    textColumn<'state', 'certified' | 'complete' | 'invalid' | 'aborted' | 'busy'>('state', 'nothing'),
    optionalText('reason', 'nothing'), // A stable code: why the sweep did not reach the end of the list.
    optionalText('detail', 'quotes'), // The same for a person: what happened, where, and what to do.
    optionalTimestamp('certified_at'),
    integerColumn('pages'),
    integerColumn('rows'),
    integerColumn('created'),
    integerColumn('updated'),
    integerColumn('deleted'),
    integerColumn('restored'),
    integerColumn('unchanged'),
    integerColumn('quarantined'),
    integerColumn('requests'),
    integerColumn('retries'),
    timestampColumn('started_at'),
    integerColumn('duration_ms'),
  ],
  primaryKey: ['run_id', 'kind'],
} as const satisfies EngineTable;

/** Which ids each list response showed, between which ticks: the facts that a certificate is computed from. */
export const SIGHTINGS = {
  name: 'sightings',
  columns: [
    textColumn('kind', 'nothing'),
    bigint('answered'),
    bigint('sent'),
    bigint('run_id'),
    integerColumn('page'),
    textColumn('ids', 'nothing'),
    integerColumn('rows'),
    optionalBigint('end_rows'),
    optionalBigint('total'),
    timestampColumn('seen_at'),
    optionalBigint('sweep'),
  ],
  primaryKey: ['kind', 'answered'],
} as const satisfies EngineTable;

/** Every field that the service has sent, documented or not, with its column and the column that keeps its misfits as text. */
export const FIELDS = {
  name: 'fields',
  columns: [
    textColumn('kind', 'nothing'),
    textColumn('field', 'names'),
    integerColumn('documented'),
    textColumn<'type', SeenType>('type', 'nothing'),
    integerColumn('fits_hint'),
    textColumn('wire', 'nothing'),
    optionalText<'column_type', FieldType | 'unusable'>('column_type', 'nothing'),
    optionalBigint('column_scale'),
    integerColumn('position'),
    timestampColumn('first_seen_at'),
    optionalTimestamp('vanished_at'),
    optionalText('text_column', 'nothing'),
    optionalBigint('text_position'),
  ],
  primaryKey: ['kind', 'field'],
} as const satisfies EngineTable;

/** Changes in how the service answers: fields that appeared, vanished or changed type, envelopes, page sizes. */
export const DRIFT = {
  name: 'drift',
  columns: [
    serial('id'),
    textColumn('kind', 'nothing'),
    textColumn<
      'code',
      | (
          | 'new_field'
          | 'vanished_field'
          | 'returned_field'
          | 'retyped_field'
          | 'unusable_field'
          | 'update_replaces'
          | 'volatile_field'
          | 'excluded_field'
        )
      | ('text_column' | 'untracked_fields' | 'holes' | 'envelope' | 'page_size')
    >('code', 'nothing'),
    optionalText('field', 'names'),
    textColumn('detail', 'quotes'),
    timestampColumn('seen_at'),
  ],
  primaryKey: ['id'],
} as const satisfies EngineTable;

/** Content of the service that no rule fits; an issue is closed once its content is gone. */
export const ISSUES = {
  name: 'issues',
  columns: [
    serial('id'),
    textColumn('kind', 'nothing'),
    optionalText('record_id', 'nothing'),
    optionalText('field', 'names'),
    textColumn('code', 'nothing'),
    optionalText('detail', 'quotes'),
    timestampColumn('first_seen_at'),
    optionalTimestamp('closed_at'),
  ],
  primaryKey: ['id'],
  indexes: [['kind', 'closed_at', 'record_id']],
  isNumbered: true,
} as const satisfies EngineTable;

/** Every column of every view, for people and reporting tools; written with the views. */
export const DICTIONARY = {
  name: 'dictionary',
  columns: [
    textColumn('view', 'nothing'),
    textColumn('column', 'names'),
    textColumn('type', 'nothing'),
    optionalText('unit', 'nothing'),
    textColumn('meaning', 'names'),
    optionalText('section', 'nothing'),
    textColumn('label_en', 'names'),
    textColumn('label_fr', 'names'),
    withDefault(integerColumn('ordinal'), '0'), // The place of the column in its view, from 1.
    withDefault(textColumn('meaning_fr', 'names'), "''"),
  ],
  primaryKey: ['view', 'column'],
} as const satisfies EngineTable;

/** Columns of views that name a record of another view; written with the views. */
export const RELATIONS = {
  name: 'relations',
  columns: [
    textColumn('view', 'nothing'),
    textColumn('column', 'names'),
    textColumn('to_view', 'nothing'),
    textColumn('to_column', 'names'),
    optionalText('none', 'nothing'),
  ],
  primaryKey: ['view', 'column'],
} as const satisfies EngineTable;
