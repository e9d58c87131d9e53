/** Engine tables of lists, fields and runs. drizzle-kit generates the migrations from them. */

import {
  bigint,
  integer,
  optionalBigint,
  optionalText,
  optionalTimestamp,
  serial,
  text,
  timestamp,
} from './engine-column.ts';
import type { EngineTable } from './engine-column.ts';

/** Facts about the mirror as a whole: its version, the shape of its tables, the source of its data. */
export const MIRROR_META: EngineTable = {
  name: 'mirror_meta',
  columns: [text('key'), text('value')],
  primaryKey: ['key'],
};

/** One row a kind: its tick counter, the end of its last sweep, the owner of the present sweep. */
export const KIND_STATE: EngineTable = {
  name: 'kind_state',
  columns: [
    text('kind'),
    bigint('tick'),
    text('state'),
    optionalText('reason'),
    bigint('complete_sweeps'),
    optionalText('decoded_as'),
    optionalText('envelope'),
    optionalBigint('page_size'),
    optionalTimestamp('last_sweep_at'),
    optionalTimestamp('certified_at'),
    optionalTimestamp('last_change_at'),
    optionalText('owner'),
    bigint('epoch'),
    optionalTimestamp('lease_until'),
    optionalTimestamp('baseline_at'),
    optionalBigint('control_failures'),
    optionalBigint('known_from'),
    optionalText('system_ids'),
    optionalBigint('last_complete_sweep'),
    optionalBigint('uncertified_sweeps'),
    optionalTimestamp('held_since'),
    optionalBigint('held_records'),
  ],
  primaryKey: ['kind'],
};

/** One row a run. The row exists before the work begins. */
export const RUNS: EngineTable = {
  name: 'runs',
  columns: [
    serial('id'),
    text('command'),
    text('kinds'),
    text('state'),
    optionalText('reason'),
    optionalText('owner'),
    timestamp('requested_at'),
    optionalTimestamp('started_at'),
    optionalTimestamp('finished_at'),
    optionalText('request'),
    optionalText('cursor'),
    optionalBigint('epoch'),
    optionalTimestamp('next_attempt_at'),
    optionalText('slot'),
    optionalTimestamp('lease_until'),
  ],
  primaryKey: ['id'],
  unique: 'slot',
};

/** The result of a run for one kind. */
export const RUN_KINDS: EngineTable = {
  name: 'run_kinds',
  columns: [
    bigint('run_id'),
    text('kind'),
    text('state'),
    optionalText('reason'),
    optionalText('detail'),
    optionalTimestamp('certified_at'),
    ...[
      'pages',
      'rows',
      'created',
      'updated',
      'deleted',
      'restored',
      'unchanged',
      'quarantined',
      'requests',
      'retries',
    ].map(integer),
    timestamp('started_at'),
    integer('duration_ms'),
  ],
  primaryKey: ['run_id', 'kind'],
};

/** Which ids each list response showed, between which ticks: the facts that a certificate is computed from. */
export const SIGHTINGS: EngineTable = {
  name: 'sightings',
  columns: [
    text('kind'),
    bigint('answered'),
    bigint('sent'),
    bigint('run_id'),
    integer('page'),
    text('ids'),
    integer('rows'),
    optionalBigint('end_rows'),
    optionalBigint('total'),
    timestamp('seen_at'),
    optionalBigint('sweep'),
  ],
  primaryKey: ['kind', 'answered'],
};

/**
 * Every field that the service has sent, documented or not, with its column and the column that keeps its misfits as text.
 */
export const FIELDS: EngineTable = {
  name: 'fields',
  columns: [
    text('kind'),
    text('field'),
    integer('documented'),
    text('type'),
    integer('fits_hint'),
    text('wire'),
    optionalText('column_type'),
    optionalBigint('column_scale'),
    integer('position'),
    timestamp('first_seen_at'),
    optionalTimestamp('vanished_at'),
    optionalText('text_column'),
    optionalBigint('text_position'),
  ],
  primaryKey: ['kind', 'field'],
};

/** Changes in how the service answers: fields that appeared, vanished or changed type, envelopes, page sizes. */
export const DRIFT: EngineTable = {
  name: 'drift',
  columns: [
    serial('id'),
    text('kind'),
    text('code'),
    optionalText('field'),
    text('detail'),
    timestamp('seen_at'),
  ],
  primaryKey: ['id'],
};

/** Content of the service that no rule fits; an issue is closed once its content is gone. */
export const ISSUES: EngineTable = {
  name: 'issues',
  columns: [
    serial('id'),
    text('kind'),
    optionalText('record_id'),
    optionalText('field'),
    text('code'),
    optionalText('detail'),
    timestamp('first_seen_at'),
    optionalTimestamp('closed_at'),
  ],
  primaryKey: ['id'],
  indexes: [['kind', 'closed_at', 'record_id']],
};
