/** Engine tables of lists, fields and runs. drizzle-kit generates the migrations from them. */

import { index, integer, primaryKey, sqliteTable, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { ZERO, bigint, recordNumber, serial, text, timestamp, wordList } from './column-types.ts';
import type { FieldType } from '../../catalog/kind.ts';
import type { SeenType } from '../../diff/observe-fields.ts';

/** Facts about the mirror as a whole: its version, the shape of its tables, the source of its data. */
export const MIRROR_META = sqliteTable('mirror_meta', {
  key: text('key', 'nothing').primaryKey(),
  value: text('value', 'names').notNull(),
});

/** One row per kind: its tick counter, the end of its last sweep, the owner of the present sweep. */
export const KIND_STATE = sqliteTable('kind_state', {
  kind: text('kind', 'nothing').primaryKey(),
  tick: bigint('tick').notNull(),
  state: text('state', 'nothing').notNull(),
  reason: text('reason', 'nothing'),
  completeSweeps: bigint('complete_sweeps').notNull(), // How many sweeps have reached the end of the list so far.
  decodedAs: text('decoded_as', 'nothing'),
  envelope: text('envelope', 'nothing'),
  pageSize: bigint('page_size'),
  lastSweepAt: timestamp('last_sweep_at'), // The end of the last sweep that reached the end of the list.
  certifiedAt: timestamp('certified_at'), // When the list was last known exactly.
  lastChangeAt: timestamp('last_change_at'),
  owner: text('owner', 'nothing'),
  epoch: bigint('epoch').notNull(),
  leaseUntil: timestamp('lease_until'),
  baselineAt: timestamp('baseline_at'), // Since when a record new to the mirror is also new to the service.
  controlFailures: bigint('control_failures').notNull().default(ZERO), // Consecutive sweeps in which a record known to exist could not be retrieved.
  knownFrom: bigint('known_from').notNull().default(ZERO), // The tick from which sightings are of the present source.
  systemIds: text('system_ids', 'nothing'),
  lastCompleteSweep: bigint('last_complete_sweep'), // The tick at which it began; null = none counts.
  uncertifiedSweeps: bigint('uncertified_sweeps').notNull().default(ZERO), // Consecutive complete sweeps that did not certify the list.
  leaseYields: bigint('lease_yields'), // 1 = a sweep may take the lease over at once: it is held for a reading between sweeps.
});

/** One row per run. The row exists before the work begins. */
export const RUNS = sqliteTable(
  'runs',
  {
    id: serial('id'),
    command: text('command', 'nothing').notNull(),
    kinds: wordList('kinds', 'nothing').notNull(),
    state: text('state', 'nothing')
      .$type<'requested' | 'running' | 'done' | 'incomplete' | 'failed' | 'interrupted'>()
      .notNull(),
    reason: text('reason', 'nothing'),
    owner: text('owner', 'nothing'),
    requestedAt: timestamp('requested_at').notNull(),
    startedAt: timestamp('started_at'),
    finishedAt: timestamp('finished_at'),
    request: text('request', 'nothing'),
    epoch: bigint('epoch'),
    slot: text('slot', 'nothing'),
    leaseUntil: timestamp('lease_until'),
  },
  (t) => [uniqueIndex('runs_slot').on(t.slot)],
);

/** The result of a run for one kind. */
export const RUN_KINDS = sqliteTable(
  'run_kinds',
  {
    runId: bigint('run_id').notNull(),
    kind: text('kind', 'nothing').notNull(),
    state: text('state', 'nothing')
      .$type<'certified' | 'complete' | 'invalid' | 'aborted' | 'busy'>()
      .notNull(),
    reason: text('reason', 'nothing'), // A stable code: why the sweep did not reach the end of the list.
    detail: text('detail', 'quotes'), // The same for a person: what happened, where, and what to do.
    certifiedAt: timestamp('certified_at'),
    pages: integer('pages').notNull(),
    rows: integer('rows').notNull(),
    created: integer('created').notNull(),
    updated: integer('updated').notNull(),
    deleted: integer('deleted').notNull(),
    restored: integer('restored').notNull(),
    unchanged: integer('unchanged').notNull(),
    quarantined: integer('quarantined').notNull(),
    requests: integer('requests').notNull(),
    retries: integer('retries').notNull(),
    startedAt: timestamp('started_at').notNull(),
    durationMs: integer('duration_ms').notNull(),
  },
  (t) => [primaryKey({ columns: [t.runId, t.kind] })],
);

/** Which ids each list response showed, between which ticks: the facts that a certificate is computed from. */
export const SIGHTINGS = sqliteTable(
  'sightings',
  {
    kind: text('kind', 'nothing').notNull(),
    answered: bigint('answered').notNull(),
    sent: bigint('sent').notNull(),
    runId: bigint('run_id').notNull(),
    page: integer('page').notNull(),
    ids: text('ids', 'nothing').notNull(),
    rows: integer('rows').notNull(),
    endRows: bigint('end_rows'),
    total: bigint('total'),
    seenAt: timestamp('seen_at').notNull(),
    sweep: bigint('sweep'),
  },
  (t) => [primaryKey({ columns: [t.kind, t.answered] })],
);

/** Every field that the service has sent, documented or not, with its column and the column that keeps its misfits as text. */
export const FIELDS = sqliteTable(
  'fields',
  {
    kind: text('kind', 'nothing').notNull(),
    field: text('field', 'names').notNull(),
    documented: integer('documented').notNull(),
    type: text('type', 'nothing').$type<SeenType>().notNull(),
    fitsHint: integer('fits_hint').notNull(),
    wire: text('wire', 'nothing').notNull(),
    columnType: text('column_type', 'nothing').$type<FieldType | 'unusable'>(),
    columnScale: bigint('column_scale'),
    position: integer('position').notNull(),
    firstSeenAt: timestamp('first_seen_at').notNull(),
    vanishedAt: timestamp('vanished_at'),
    textColumn: text('text_column', 'nothing'),
    textPosition: bigint('text_position'),
  },
  (t) => [primaryKey({ columns: [t.kind, t.field] })],
);

/** Changes in how the service answers: fields that appeared, vanished or changed type, envelopes, page sizes. */
export const DRIFT = sqliteTable('drift', {
  id: serial('id'),
  kind: text('kind', 'nothing').notNull(),
  code: text('code', 'nothing')
    .$type<
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
    >()
    .notNull(),
  field: text('field', 'names'),
  detail: text('detail', 'quotes').notNull(),
  seenAt: timestamp('seen_at').notNull(),
});

/** Content of the service that no rule fits; an issue is closed once its content is gone. */
export const ISSUES = sqliteTable(
  'issues',
  {
    id: serial('id'),
    kind: text('kind', 'nothing').notNull(),
    recordId: text('record_id', 'nothing'),
    field: text('field', 'names'),
    code: text('code', 'nothing').notNull(),
    detail: text('detail', 'quotes'),
    firstSeenAt: timestamp('first_seen_at').notNull(),
    closedAt: timestamp('closed_at'),
    recordNumber: recordNumber(),
  },
  (t) => [index('issues_by_kind_closed_at_record_id').on(t.kind, t.closedAt, t.recordId)],
);

/** Every column of every view, for people and reporting tools; written with the views. */
export const DICTIONARY = sqliteTable(
  'dictionary',
  {
    view: text('view', 'nothing').notNull(),
    column: text('column', 'names').notNull(),
    type: text('type', 'nothing').notNull(),
    unit: text('unit', 'nothing'),
    meaning: text('meaning', 'names').notNull(),
    section: text('section', 'nothing'),
    labelEn: text('label_en', 'names').notNull(),
    labelFr: text('label_fr', 'names').notNull(),
    ordinal: integer('ordinal').notNull().default(ZERO), // The place of the column in its view, from 1.
    meaningFr: text('meaning_fr', 'names').notNull().default(''),
  },
  (t) => [primaryKey({ columns: [t.view, t.column] })],
);

/** Columns of views that name a record of another view; written with the views. */
export const RELATIONS = sqliteTable(
  'relations',
  {
    view: text('view', 'nothing').notNull(),
    column: text('column', 'names').notNull(),
    toView: text('to_view', 'nothing').notNull(),
    toColumn: text('to_column', 'names').notNull(),
    none: text('none', 'nothing'),
  },
  (t) => [primaryKey({ columns: [t.view, t.column] })],
);
