/** Engine tables of webhooks. drizzle-kit generates the migrations from them. */

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

/**
 * Receivers of events. A row is a work row: the process that owns it plans and sends all deliveries of this endpoint, so that
 * no two processes send events of one record at once.
 */
export const WEBHOOK_ENDPOINTS = {
  name: 'webhook_endpoints',
  columns: [
    serial('id'),
    textColumn('name', 'nothing'),
    textColumn('public_id', 'nothing'), // Random: makes the webhook ids of this endpoint differ from those of an earlier mirror.
    textColumn('url', 'nothing'),
    optionalText('kinds', 'nothing'), // A JSON list; null = all. Likewise `changes` and `fields`.
    optionalText('changes', 'nothing'),
    optionalText('fields', 'names'),
    withDefault(
      textColumn<'format', 'json' | 'slack' | 'teams' | 'text' | 'email'>('format', 'nothing'),
      `'json'`,
    ),
    optionalText<'language', 'en' | 'fr'>('language', 'nothing'), // Of messages to people; null = that of the settings.
    bigint('cursor'), // The last `seq` that was taken into `webhook_deliveries`, or passed over by a filter.
    optionalBigint('replay_after'), // A wanted replay; its owner moves the cursor back once nothing of it is under way.
    withDefault(textColumn<'state', 'active' | 'disabled'>('state', 'nothing'), `'active'`),
    optionalText('disabled_reason', 'nothing'), // A stable code: `gone`, `failing`.
    withDefault(integerColumn('failures'), '0'), // Failed attempts since the last success.
    optionalTimestamp('failing_since'), // The first of them.
    optionalTimestamp('failing_told_at'), // When the endpoint was reported as failing; null = it is not.
    optionalTimestamp('delivered_at'), // The last success.
    optionalTimestamp('not_before'), // The receiver asked for a pause until then.
    optionalText('owner', 'nothing'),
    withDefault(bigint('epoch'), '0'), // Raised by every claim; a process with an older one can no longer write.
    withDefault(timestampColumn('created_at'), 'now'),
    withDefault(timestampColumn('updated_at'), 'now'),
  ],
  primaryKey: ['id'],
  unique: 'name',
} as const satisfies EngineTable;

/**
 * Signing secrets of endpoints. They have a table of their own, so that nothing that lists endpoints can show them, and a copy
 * of the mirror can leave them out.
 */
export const WEBHOOK_SECRETS = {
  name: 'webhook_secrets',
  columns: [
    serial('id'),
    bigint('endpoint_id'),
    textColumn('secret', 'nothing'),
    withDefault(timestampColumn('created_at'), 'now'),
    optionalTimestamp('expires_at'), // The end of the overlap with its successor; null = it is the present one.
  ],
  primaryKey: ['id'],
  indexes: [['endpoint_id']],
} as const satisfies EngineTable;

/** The deliveries to endpoints: one row per event, however many attempts it takes; and the log of sent events. */
export const WEBHOOK_DELIVERIES = {
  name: 'webhook_deliveries',
  columns: [
    serial('id'),
    bigint('endpoint_id'),
    textColumn('webhook_id', 'nothing'), // The same on every attempt and every replay of an event.
    textColumn('type', 'nothing'), // `clients.updated`, `kind.held`.
    optionalBigint('seq'), // The change event that the body is made from; null = the body is in `body`.
    optionalText('kind', 'nothing'),
    optionalText('record_id', 'nothing'), // Deliveries of one record keep their order.
    optionalText('body', 'record'),
    // `waiting`: an earlier delivery of its record is not settled. `dropped`: its event was erased before it could be sent.
    withDefault(
      textColumn<'state', 'ready' | 'waiting' | 'delivered' | 'failed' | 'dropped'>('state', 'nothing'),
      `'ready'`,
    ),
    withDefault(integerColumn('attempts'), '0'),
    optionalTimestamp('next_attempt_at'), // Of a ready delivery.
    optionalTimestamp('attempted_at'),
    optionalBigint('status'), // The HTTP or SMTP status of the last attempt; null = there was no answer.
    optionalText('error', 'nothing'), // A stable code, where there was no answer.
    optionalText('response_start', 'quotes'),
    optionalBigint('duration_ms'),
    withDefault(timestampColumn('created_at'), 'now'),
    optionalTimestamp('delivered_at'),
  ],
  primaryKey: ['id'],
  // Finds due deliveries, the deliveries that one must wait for, the same piece of news, and the latest of an endpoint.
  indexes: [
    ['endpoint_id', 'state', 'next_attempt_at'],
    ['endpoint_id', 'record_id', 'state'],
    ['endpoint_id', 'webhook_id'],
    ['endpoint_id', 'id'],
  ],
} as const satisfies EngineTable;
