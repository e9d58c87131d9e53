/** Engine tables of the outbox. drizzle-kit generates the migrations from them. */

import { index, integer, primaryKey, sqliteTable, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { NOW, ZERO, bigint, serial, text, timestamp } from './column-types.ts';

/** Creates and updates on their way to the service. The row is the truth; a queue only says where to look. */
export const OUTBOX = sqliteTable(
  'outbox',
  {
    id: serial('id'),
    idempotencyKey: text('idempotency_key', 'nothing').notNull(),
    kind: text('kind', 'nothing').notNull(),
    operation: text('operation', 'nothing').$type<'create' | 'update'>().notNull(),
    recordId: text('record_id', 'nothing'), // The record of an update, or of a create once it is known.
    payload: text('payload', 'record').notNull(), // A JSON object with the field names of a write.
    base: text('base', 'record'), // The record as the caller saw it before, with the field names of a read.
    baseAt: timestamp('base_at'), // When the base was taken from the mirror; null if the caller gave it.
    state: text('state', 'nothing')
      .$type<'ready' | 'sending' | 'unsettled' | 'done' | 'parked' | 'rejected' | 'abandoned'>()
      .notNull()
      .default('ready'),
    epoch: bigint('epoch').notNull().default(ZERO), // Raised by every claim; a process with an older one can no longer write the row.
    owner: text('owner', 'nothing'),
    attempts: integer('attempts').notNull().default(ZERO),
    nextAttemptAt: timestamp('next_attempt_at'),
    naturalKey: text('natural_key', 'quotes'),
    preimage: text('preimage', 'nothing'), // The ticks and ids that the mirror knew before the last send, as JSON.
    verdict: text('verdict', 'nothing'), // A stable code: why the entry is in its state.
    result: text('result', 'record'), // Details of the verdict for readers, as JSON.
    createdAt: timestamp('created_at').notNull().default(NOW),
    updatedAt: timestamp('updated_at').notNull().default(NOW),
    allowUnknown: integer('allow_unknown').notNull().default(ZERO),
    allowDouble: integer('allow_double').notNull().default(ZERO), // 1: sent although a record has its natural key.
    elapsedMs: bigint('elapsed_ms').notNull().default(ZERO), // Since a send was lost, as far as a process was there to measure it.
    elapsedAt: timestamp('elapsed_at'), // Up to when that is measured.
    pushedBy: text('pushed_by', 'nothing'), // A person or a user of a machine, as in `decisions`; null where an application inserted it.
    settlement: text('settlement', 'names'), // What the next step must know, as JSON: src/store/outbox/settlement.ts.
  },
  (t) => [
    // Finds due entries, and the entries that an entry must wait for.
    index('outbox_by_state_next_attempt_at').on(t.state, t.nextAttemptAt),
    index('outbox_by_kind_natural_key_state').on(t.kind, t.naturalKey, t.state),
    index('outbox_by_kind_record_id_state').on(t.kind, t.recordId, t.state),
    uniqueIndex('outbox_idempotency_key').on(t.idempotencyKey),
  ],
);

/** The keys of entries that ended long ago. A key stays taken for ever, even after its entry's contents are removed. */
export const OUTBOX_KEYS = sqliteTable(
  'outbox_keys',
  {
    idempotencyKey: text('idempotency_key', 'nothing').primaryKey(),
    outboxId: bigint('outbox_id').notNull(),
    kind: text('kind', 'nothing').notNull(),
    operation: text('operation', 'nothing').$type<'create' | 'update'>().notNull(),
    recordId: text('record_id', 'nothing'),
    state: text('state', 'nothing').$type<'done' | 'rejected' | 'abandoned'>().notNull(),
    requestHash: text('request_hash', 'nothing').notNull(), // Of the requested change, without its base.
    baseHash: text('base_hash', 'nothing'),
    endedAt: timestamp('ended_at').notNull(),
  },
  (t) => [
    index('outbox_keys_by_kind_record_id').on(t.kind, t.recordId),
    uniqueIndex('outbox_keys_outbox_id').on(t.outboxId),
  ],
);

/** Every request that may have changed the service, journalled before it is sent. */
export const OUTBOX_ATTEMPTS = sqliteTable(
  'outbox_attempts',
  {
    outboxId: bigint('outbox_id').notNull(),
    n: integer('n').notNull(),
    openedAt: timestamp('opened_at').notNull(),
    closedAt: timestamp('closed_at'),
    grade: text('grade', 'nothing'),
    status: bigint('status'),
    request: text('request', 'record').notNull(), // Method, path and body.
    responseStart: text('response_start', 'quotes'),
  },
  (t) => [primaryKey({ columns: [t.outboxId, t.n] })],
);

/** Which record an entry of the outbox created; a record was created by one entry at most. */
export const LINKS = sqliteTable(
  'links',
  {
    kind: text('kind', 'nothing').notNull(),
    recordId: text('record_id', 'nothing').notNull(),
    outboxId: bigint('outbox_id').notNull(),
    linkedAt: timestamp('linked_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.recordId] }), uniqueIndex('links_outbox_id').on(t.outboxId)],
);

/** Kinds that the service does not allow us to write. */
export const WRITE_BLOCKS = sqliteTable('write_blocks', {
  kind: text('kind', 'nothing').primaryKey(),
  reason: text('reason', 'nothing').notNull(),
  since: timestamp('since').notNull(),
  probeAt: timestamp('probe_at').notNull(),
});

/** Processes that work rows, by the owner name that they write into the rows. */
export const WORKERS = sqliteTable('workers', {
  owner: text('owner', 'nothing').primaryKey(),
  roles: text('roles', 'nothing').notNull(),
  startedAt: timestamp('started_at').notNull(),
  seenAt: timestamp('seen_at').notNull(),
  schedules: text('schedules', 'nothing'), // Its pull schedules, as JSON; null = it does not pull.
  sends: bigint('sends').notNull().default(ZERO), // How many requests of the outbox it has journalled.
});
