import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Session } from './db/session/session.ts';
import { endpointTables } from './events/webhooks/delivery-queue.ts';
import type { MessageRules } from './events/webhooks/messages.ts';
import { refuseMoved } from './features/move/move-mark.ts';
import { planTables } from './features/plans/table-owner.ts';
import * as planColumns from './features/plans/tables.ts';
import type { MirrorUse } from './store/kinds/target-mark.ts';
import type { TableOwner } from './store/records/table-owner.ts';
import * as changeColumns from './store/tables/change-tables.ts';
import * as engineColumns from './store/tables/engine-tables.ts';
import * as outboxColumns from './store/tables/outbox-tables.ts';
import * as userColumns from './store/tables/user-tables.ts';
import * as webhookColumns from './store/tables/webhook-tables.ts';

/** The members of features that the core needs to open a mirror and to keep it: below `features.ts`, whose commands open mirrors themselves. */

/** Each may refuse a mirror, or wrap its session. */
export const OPENINGS: readonly ((session: Session, use: MirrorUse) => Promise<Session>)[] = [refuseMoved];

/** Who prunes, cleans and forgets tables beside those of the store. */
export const TABLE_OWNERS: readonly TableOwner[] = [endpointTables, planTables];

/** Messages for people, loaded when the first one is sent. */
export const MESSAGES: MessageRules['messages'] = {
  writer: () => import('./features/notify/messages.ts'),
  mailer: () => import('./features/notify/mailer.ts'),
};

/** All engine tables. */
export const ENGINE_TABLES: readonly SQLiteTable[] = [
  ...Object.values<SQLiteTable>(engineColumns),
  ...Object.values<SQLiteTable>(changeColumns),
  ...Object.values<SQLiteTable>(outboxColumns),
  ...Object.values<SQLiteTable>(planColumns),
  ...Object.values<SQLiteTable>(userColumns),
  ...Object.values<SQLiteTable>(webhookColumns),
];
