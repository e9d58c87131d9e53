import { sql } from 'drizzle-orm';
import type { Kind } from '../catalog/kind.ts';
import type { Queryable, Session } from '../db/session/session.ts';
import { formatInstant } from '../lib/time/clock.ts';
import { readDamage } from '../store/integrity-check.ts';
import {
  readDiffering,
  readFailing,
  readFreshness,
  type KindFreshness,
} from '../store/kinds/status-store.ts';
import { readMeta } from '../store/kinds/meta.ts';
import { readFrozen, type Frozen } from '../store/outbox/freeze-store.ts';
import { readBlocks } from '../store/outbox/outbox-queue.ts';
import { countEntries, entriesWhere, listEntries } from '../store/outbox/outbox-store.ts';
import { duplicateIds } from '../store/records/duplicates.ts';
import { listOpenIssues } from '../store/records/issue-store.ts';
import { readDisappeared } from '../store/records/deletion-store.ts';
import { openRuns } from '../store/runs/open-runs.ts';
import { isPassing, readRepeats } from '../store/runs/repeats.ts';
import { readVolatile } from '../store/runs/volatile-fields.ts';
import type { UserRole } from '../store/users/user-store.ts';
import type { NeedOf } from '../words/needs.ts';
import { listEndpoints, needsPerson } from '../events/webhooks/endpoint-store.ts';

/** A scheduled kind whose list was not read to its end for too long. */
export interface StaleKind {
  readonly kind: string;
  /** When it last was; null = never. */
  readonly since: string | null;
}

/** A problem that needs a decision. Its facts hold no content of a record, which `forget` would have to find. */
export type Need = Awaited<ReturnType<typeof readNeeds>>[number];

/** The needs of features, by the words of each. */
type FeatureNeed = NeedOf<'plan.waiting'>;

/** Reads the needs of a feature. @param rules Settings, and the user who could decide. */
export type NeedReader = (
  session: Session,
  kinds: readonly Kind[],
  rules: {
    readonly plans: { readonly approvals: number };
    readonly user?: { readonly name: string; readonly role: UserRole } | null;
  },
) => Promise<readonly FeatureNeed[]>;

/** What a caller knows that the mirror's tables do not say, or has read already. */
export interface Outlook {
  /** Why sends are paused, or would be once `serve` starts. */
  readonly frozen?: Frozen | null;
  /** False if no process at work sends. */
  readonly isSending?: boolean;
  readonly repeats?: Awaited<ReturnType<typeof readRepeats>>;
  /** Those of features. */
  readonly more?: readonly FeatureNeed[];
}

/**
 * Reads everything that needs a person, the most urgent first, and a cause before its effects: an entry may settle by itself once a
 * list is read and its deletions are decided.
 * @param stale The kinds that are stale by their schedules.
 */
export async function readNeeds(db: Queryable, stale: readonly StaleKind[], outlook: Outlook = {}) {
  const { frozen = await readFrozen(db), repeats = await readRepeats(db) } = outlook;
  const { isSending = true, more = [] } = outlook;
  const damage = await readDamage(db);
  return [
    ...(damage === null ? [] : [need('mirror.damaged', damage)]),
    ...(frozen === null ? [] : [need('outbox.frozen', frozen)]),
    ...(frozen === null && !isSending ? await unsentNeeds(db) : []),
    ...(await readingNeeds(
      db,
      stale,
      repeats.map((repeat) => repeat.kind),
    )),
    ...(await heldNeeds(db)),
    ...(await readBlocks(db)).map(({ kind, reason, since }) => need('kind.blocked', { kind, reason, since })),
    ...(await parkedNeeds(db)),
    ...(await twinNeeds(db)),
    ...(await readDiffering(db)).map((differing) => need('kind.differs', differing)),
    ...(await volatileNeeds(db)),
    ...(await hiddenFieldNeeds(db)),
    ...(await endpointNeeds(db)),
    ...more,
  ];
}

const need = <Type extends string, Facts extends object>(type: Type, facts: Facts) => ({ type, facts });

async function unsentNeeds(db: Queryable) {
  const { ready: entries = 0 } = await countEntries(db);
  return entries === 0 ? [] : [need('outbox.unsent', { entries })];
}

async function heldNeeds(db: Queryable) {
  const held = (await readDisappeared(db)).filter((hold) => hold.state === 'held');
  return held.map(({ kind, records, since, check = '', why = null }) =>
    need('kind.held', { kind, records, since, check, why }),
  );
}

const PARKED_NAMED = 5;

async function parkedNeeds(db: Queryable) {
  const named = await listEntries(db, ['parked'], PARKED_NAMED);
  const others = named.length < PARKED_NAMED ? 0 : ((await countEntries(db)).parked ?? 0) - named.length;
  return [
    ...named.map(({ id: entryId, kind, operation, recordId, verdict, updatedAt: since }) =>
      need('entry.parked', { entryId, kind, operation, recordId, verdict, since }),
    ),
    ...(others > 0 ? [need('entries.parked', { entries: others })] : []),
  ];
}

/** The latest created records that may exist twice. */
async function twinNeeds(db: Queryable) {
  const twins = await listOpenIssues(db, { code: 'twins', limit: PARKED_NAMED });
  return twins.map(({ kind, recordId: id, detail, firstSeenAt: since }) => {
    const [otherId = ''] = duplicateIds(detail);
    return need('record.twins', { kind, recordId: id ?? '', otherId, since });
  });
}

/**
 * One need per cause: kinds whose readings ended alike share it. A kind that is read again by itself, by its run or by its repeats,
 * needs nobody unless it is stale.
 */
async function readingNeeds(db: Queryable, stale: readonly StaleKind[], repeated: readonly string[]) {
  const kinds = await readFreshness(db);
  const runs = (await openRuns(db)).filter((run) => run.command === 'pull' && run.isRequested);
  const isReadAgain = ({ kind, reason }: KindFreshness): boolean =>
    repeated.includes(kind) || (isPassing(reason) && runs.some((run) => run.allKinds.includes(kind)));
  const isStale = (name: string): boolean => stale.some((kind) => kind.kind === name);
  const failed = kinds.filter(
    (kind) => ['invalid', 'aborted'].includes(kind.state) && (!isReadAgain(kind) || isStale(kind.kind)),
  );
  const failing = failed.length === 0 ? [] : await readFailing(db);
  // A token that the service has accepted since, for whatever kind, is no longer refused; the kinds are still unread.
  const [refusedSince] = (await readMeta(db, 'source.refused'))?.split(' ') ?? [];
  const refused = failed.filter(({ reason }) => refusedSince !== undefined && reason === 'unauthorized');
  const unread = failed.filter((kind) => !refused.includes(kind));
  const alike = Map.groupBy(unread, (kind) => kind.reason ?? kind.state);
  const failedNames = new Set(failed.map((kind) => kind.kind));
  const others = stale.filter((kind) => !failedNames.has(kind.kind));
  return [
    ...(refusedSince === undefined
      ? []
      : [
          need('token.refused', {
            kinds: refused.map((kind) => kind.kind),
            since: formatInstant(new Date(refusedSince)),
          }),
        ]),
    ...[...alike.values()].flatMap((group) => {
      const kinds = group.map((kind) => kind.kind);
      const ofGroup = failing.filter((each) => kinds.includes(each.kind));
      const [since = null] = ofGroup.map((each) => each.since).sort();
      return group
        .slice(0, 1)
        .map(({ state, reason }) => need('kind.unread', { kinds, state, reason, since }));
    }),
    ...others
      .slice(0, 1)
      .map(({ since }) => need('kind.stale', { kinds: others.map((kind) => kind.kind), since })),
  ];
}

async function volatileNeeds(db: Queryable) {
  const volatile = await readVolatile(db);
  if (volatile === null) return [];
  return [need('field.volatile', { fields: volatile.fields.join(', '), setting: volatile.setting })];
}

async function hiddenFieldNeeds(db: Queryable) {
  const waiting = await entriesWhere(db, sql`state = 'ready' and verdict = 'field_not_shown' order by id`);
  if (waiting.length === 0) return [];
  const paths = waiting.flatMap(({ kind, settlement }) =>
    (settlement.hidden ?? []).map((name) => `${kind}.${name}`),
  );
  return [need('field.not_shown', { fields: [...new Set(paths)].join(', '), entries: waiting.length })];
}

async function endpointNeeds(db: Queryable) {
  const endpoints = (await listEndpoints(db)).filter(needsPerson);
  return endpoints.map(({ name, health, disabledReason: reason, failures, failingSince: since, pending }) =>
    health === 'disabled'
      ? need('webhook.disabled', { name, reason, pending, since })
      : need('webhook.failing', { name, failures, pending, since }),
  );
}
