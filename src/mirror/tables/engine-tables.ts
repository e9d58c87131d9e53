/** The engine's own tables: what is known of lists, fields and runs. drizzle-kit makes their migrations from it. */

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

/** Facts about the mirror as a whole: its version, the shape of its tables, whose data it holds. */
export const MIRROR_META: EngineTable = {
  name: 'mirror_meta',
  columns: [text('key'), text('value')],
  primaryKey: ['key'],
};

/** One row a kind: where its counter of ticks stands, how its last sweep ended, who sweeps it now. */
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

/** One row a run: it is a row before it is work. */
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

/** What a run did to a kind. */
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

/** Which ids each list response showed, between which ticks: the facts that a certificate is made of. */
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

/** Every field that the service has sent, documented or not, its column, and the one that keeps as text what did not fit. */
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

/** What the service has changed in how it answers: fields that came, went or changed type, envelopes, page sizes. */
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

/** What the service sent and no rule fits; closed once it is gone. */
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
