/** Engine tables of the outbox. drizzle-kit generates the migrations from them. */

import {
  bigint,
  integer,
  optionalBigint,
  optionalText,
  optionalTimestamp,
  serial,
  text,
  timestamp,
  withDefault,
} from './engine-column.ts';
import type { EngineTable } from './engine-column.ts';

/** Creates and updates on their way to the service. The row is the truth; a queue only says where to look. */
export const OUTBOX: EngineTable = {
  name: 'outbox',
  columns: [
    serial('id'),
    text('idempotency_key'),
    text('kind'),
    text('operation'),
    optionalText('record_id'),
    text('payload'),
    optionalText('base'),
    optionalTimestamp('base_at'),
    withDefault(text('state'), `'ready'`),
    withDefault(bigint('epoch'), '0'),
    optionalText('owner'),
    withDefault(integer('attempts'), '0'),
    optionalTimestamp('next_attempt_at'),
    optionalText('natural_key'),
    optionalText('preimage'),
    optionalText('verdict'),
    optionalText('result'),
    withDefault(timestamp('created_at'), 'now'),
    withDefault(timestamp('updated_at'), 'now'),
    withDefault(integer('allow_unknown'), '0'),
  ],
  primaryKey: ['id'],
  // Finds due entries, and the entries that an entry must wait for.
  indexes: [
    ['state', 'next_attempt_at'],
    ['kind', 'natural_key', 'state'],
    ['kind', 'record_id', 'state'],
  ],
  unique: 'idempotency_key',
};

/** The keys of entries that ended long ago. A key stays taken for ever, even after its entry's contents are removed. */
export const OUTBOX_KEYS: EngineTable = {
  name: 'outbox_keys',
  columns: [
    text('idempotency_key'),
    bigint('outbox_id'),
    text('kind'),
    text('operation'),
    optionalText('record_id'),
    text('state'),
    text('request_hash'),
    optionalText('base_hash'),
    timestamp('ended_at'),
  ],
  primaryKey: ['idempotency_key'],
  indexes: [['kind', 'record_id']],
  unique: 'outbox_id',
};

/** Every request that may have changed the service, journalled before it is sent. */
export const OUTBOX_ATTEMPTS: EngineTable = {
  name: 'outbox_attempts',
  columns: [
    bigint('outbox_id'),
    integer('n'),
    timestamp('opened_at'),
    optionalTimestamp('closed_at'),
    optionalText('grade'),
    optionalBigint('status'),
    text('request'),
    optionalText('response_start'),
  ],
  primaryKey: ['outbox_id', 'n'],
};

/** Which record an entry of the outbox created; a record was created by one entry at most. */
export const LINKS: EngineTable = {
  name: 'links',
  columns: [text('kind'), text('record_id'), bigint('outbox_id'), timestamp('linked_at')],
  primaryKey: ['kind', 'record_id'],
  unique: 'outbox_id',
};

/** Kinds that the service does not allow us to write. */
export const WRITE_BLOCKS: EngineTable = {
  name: 'write_blocks',
  columns: [text('kind'), text('reason'), timestamp('since'), timestamp('probe_at')],
  primaryKey: ['kind'],
};

/** Processes that work rows, by the owner name that they write into the rows. */
export const WORKERS: EngineTable = {
  name: 'workers',
  columns: [text('owner'), text('roles'), timestamp('started_at'), timestamp('seen_at')],
  primaryKey: ['owner'],
};
