/** Engine tables of webhooks. drizzle-kit generates the migrations from them. */

import { index, integer, sqliteTable, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { NOW, ZERO, bigint, serial, text, timestamp, wordList } from './column-types.ts';

/**
 * Receivers of events. A row is a work row: the process that owns it plans and sends all deliveries of this endpoint, so that
 * no two processes send events of one record at once.
 */
export const WEBHOOK_ENDPOINTS = sqliteTable(
  'webhook_endpoints',
  {
    id: serial('id'),
    name: text('name', 'nothing').notNull(),
    publicId: text('public_id', 'nothing').notNull(), // Random: makes the webhook ids of this endpoint differ from those of an earlier mirror.
    url: text('url', 'nothing').notNull(),
    kinds: wordList('kinds', 'nothing'), // Null = it is sent the events of all. Likewise `changes` and `fields`.
    changes: wordList('changes', 'nothing'), // Of records only.
    fields: wordList('fields', 'names'), // Of updates only: at least one of these changed.
    format: text('format', 'nothing')
      .$type<'json' | 'slack' | 'teams' | 'text' | 'email'>()
      .notNull()
      .default('json'),
    language: text('language', 'nothing').$type<'en' | 'fr'>(), // Of messages to people; null = that of the settings.
    cursor: bigint('cursor').notNull(), // The last `seq` that was taken into `webhook_deliveries`, or passed over by a filter.
    replayAfter: bigint('replay_after'), // A wanted replay; its owner moves the cursor back once nothing of it is under way.
    state: text('state', 'nothing').$type<'active' | 'disabled'>().notNull().default('active'),
    disabledReason: text('disabled_reason', 'nothing'), // A stable code: `gone`, `failing`.
    failures: integer('failures').notNull().default(ZERO), // Failed attempts since the last success.
    failingSince: timestamp('failing_since'), // The first of them.
    failingToldAt: timestamp('failing_told_at'), // When the endpoint was reported as failing; null = it is not.
    deliveredAt: timestamp('delivered_at'), // The last success.
    notBefore: timestamp('not_before'), // The receiver asked for a pause until then.
    owner: text('owner', 'nothing'),
    epoch: bigint('epoch').notNull().default(ZERO), // Raised by every claim; a process with an older one can no longer write.
    createdAt: timestamp('created_at').notNull().default(NOW),
    updatedAt: timestamp('updated_at').notNull().default(NOW),
  },
  (t) => [uniqueIndex('webhook_endpoints_name').on(t.name)],
);

/**
 * Signing secrets of endpoints. They have a table of their own, so that nothing that lists endpoints can show them, and a copy
 * of the mirror can leave them out.
 */
export const WEBHOOK_SECRETS = sqliteTable(
  'webhook_secrets',
  {
    id: serial('id'),
    endpointId: bigint('endpoint_id').notNull(),
    secret: text('secret', 'nothing').notNull(),
    createdAt: timestamp('created_at').notNull().default(NOW),
    expiresAt: timestamp('expires_at'), // The end of the overlap with its successor; null = it is the present one.
  },
  (t) => [index('webhook_secrets_by_endpoint_id').on(t.endpointId)],
);

/** The deliveries to endpoints: one row per event, however many attempts it takes; and the log of sent events. */
export const WEBHOOK_DELIVERIES = sqliteTable(
  'webhook_deliveries',
  {
    id: serial('id'),
    endpointId: bigint('endpoint_id').notNull(),
    webhookId: text('webhook_id', 'nothing').notNull(), // The same on every attempt and every replay of an event.
    type: text('type', 'nothing').notNull(), // `clients.updated`, `kind.held`.
    seq: bigint('seq'), // The change event that the body is made from; null = the body is in `body`.
    kind: text('kind', 'nothing'),
    recordId: text('record_id', 'nothing'), // Deliveries of one record keep their order.
    body: text('body', 'record'),
    // `waiting`: an earlier delivery of its record is not settled. `dropped`: its event was erased before it could be sent.
    state: text('state', 'nothing')
      .$type<'ready' | 'waiting' | 'delivered' | 'failed' | 'dropped'>()
      .notNull()
      .default('ready'),
    attempts: integer('attempts').notNull().default(ZERO),
    nextAttemptAt: timestamp('next_attempt_at'), // Of a ready delivery.
    attemptedAt: timestamp('attempted_at'),
    status: bigint('status'), // The HTTP or SMTP status of the last attempt; null = there was no answer.
    error: text('error', 'nothing'), // A stable code, where there was no answer.
    responseStart: text('response_start', 'quotes'),
    durationMs: bigint('duration_ms'),
    createdAt: timestamp('created_at').notNull().default(NOW),
    deliveredAt: timestamp('delivered_at'),
  },
  (t) => [
    // Finds due deliveries, the deliveries that one must wait for, the same piece of news, and the latest of an endpoint.
    index('webhook_deliveries_by_endpoint_id_state_next_attempt_at').on(
      t.endpointId,
      t.state,
      t.nextAttemptAt,
    ),
    index('webhook_deliveries_by_endpoint_id_record_id_state').on(t.endpointId, t.recordId, t.state),
    index('webhook_deliveries_by_endpoint_id_webhook_id').on(t.endpointId, t.webhookId),
    index('webhook_deliveries_by_endpoint_id_id').on(t.endpointId, t.id),
  ],
);
