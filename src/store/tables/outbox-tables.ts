/** Engine tables of the outbox. drizzle-kit generates the migrations from them. */

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

/** Creates and updates on their way to the service. The row is the truth; a queue only says where to look. */
export const OUTBOX = {
  name: 'outbox',
  columns: [
    serial('id'),
    textColumn('idempotency_key', 'nothing'),
    textColumn('kind', 'nothing'),
    textColumn<'operation', 'create' | 'update'>('operation', 'nothing'),
    optionalText('record_id', 'nothing'), // The record of an update, or of a create once it is known.
    textColumn('payload', 'record'), // A JSON object with the field names of a write.
    optionalText('base', 'record'), // The record as the caller saw it before, with the field names of a read.
    optionalTimestamp('base_at'), // When the base was taken from the mirror; null if the caller gave it.
    withDefault(
      textColumn<'state', 'ready' | 'sending' | 'unsettled' | 'done' | 'parked' | 'rejected' | 'abandoned'>(
        'state',
        'nothing',
      ),
      `'ready'`,
    ),
    withDefault(bigint('epoch'), '0'), // Raised by every claim; a process with an older one can no longer write the row.
    optionalText('owner', 'nothing'),
    withDefault(integerColumn('attempts'), '0'),
    optionalTimestamp('next_attempt_at'),
    optionalText('natural_key', 'quotes'),
    optionalText('preimage', 'nothing'), // The ticks and ids that the mirror knew before the last send, as JSON.
    optionalText('verdict', 'nothing'), // A stable code: why the entry is in its state.
    optionalText('result', 'record'), // Details of the verdict for readers, as JSON.
    withDefault(timestampColumn('created_at'), 'now'),
    withDefault(timestampColumn('updated_at'), 'now'),
    withDefault(integerColumn('allow_unknown'), '0'),
    withDefault(integerColumn('allow_double'), '0'), // 1: sent although a record has its natural key.
    withDefault(bigint('elapsed_ms'), '0'), // Since a send was lost, as far as a process was there to measure it.
    optionalTimestamp('elapsed_at'), // Up to when that is measured.
    optionalText('pushed_by', 'nothing'), // A person or a user of a machine, as in `decisions`; null where an application inserted it.
    optionalText('settlement', 'names'), // What the next step must know, as JSON: src/store/outbox/settlement.ts.
  ],
  primaryKey: ['id'],
  // Finds due entries, and the entries that an entry must wait for.
  indexes: [
    ['state', 'next_attempt_at'],
    ['kind', 'natural_key', 'state'],
    ['kind', 'record_id', 'state'],
  ],
  unique: 'idempotency_key',
} as const satisfies EngineTable;

/** The keys of entries that ended long ago. A key stays taken for ever, even after its entry's contents are removed. */
export const OUTBOX_KEYS = {
  name: 'outbox_keys',
  columns: [
    textColumn('idempotency_key', 'nothing'),
    bigint('outbox_id'),
    textColumn('kind', 'nothing'),
    textColumn<'operation', 'create' | 'update'>('operation', 'nothing'),
    optionalText('record_id', 'nothing'),
    textColumn<'state', 'done' | 'rejected' | 'abandoned'>('state', 'nothing'),
    textColumn('request_hash', 'nothing'), // Of the requested change, without its base.
    optionalText('base_hash', 'nothing'),
    timestampColumn('ended_at'),
  ],
  primaryKey: ['idempotency_key'],
  indexes: [['kind', 'record_id']],
  unique: 'outbox_id',
} as const satisfies EngineTable;

/** Every request that may have changed the service, journalled before it is sent. */
export const OUTBOX_ATTEMPTS = {
  name: 'outbox_attempts',
  columns: [
    bigint('outbox_id'),
    integerColumn('n'),
    timestampColumn('opened_at'),
    optionalTimestamp('closed_at'),
    optionalText('grade', 'nothing'),
    optionalBigint('status'),
    textColumn('request', 'record'), // Method, path and body.
    optionalText('response_start', 'quotes'),
  ],
  primaryKey: ['outbox_id', 'n'],
} as const satisfies EngineTable;

/** Which record an entry of the outbox created; a record was created by one entry at most. */
export const LINKS = {
  name: 'links',
  columns: [
    textColumn('kind', 'nothing'),
    textColumn('record_id', 'nothing'),
    bigint('outbox_id'),
    timestampColumn('linked_at'),
  ],
  primaryKey: ['kind', 'record_id'],
  unique: 'outbox_id',
} as const satisfies EngineTable;

/** Kinds that the service does not allow us to write. */
export const WRITE_BLOCKS = {
  name: 'write_blocks',
  columns: [
    textColumn('kind', 'nothing'),
    textColumn('reason', 'nothing'),
    timestampColumn('since'),
    timestampColumn('probe_at'),
  ],
  primaryKey: ['kind'],
} as const satisfies EngineTable;

/** Processes that work rows, by the owner name that they write into the rows. */
export const WORKERS = {
  name: 'workers',
  columns: [
    textColumn('owner', 'nothing'),
    textColumn('roles', 'nothing'),
    timestampColumn('started_at'),
    timestampColumn('seen_at'),
    optionalText('schedules', 'nothing'), // Its pull schedules, as JSON; null = it does not pull.
    withDefault(bigint('sends'), '0'), // How many requests of the outbox it has journalled.
  ],
  primaryKey: ['owner'],
} as const satisfies EngineTable;
