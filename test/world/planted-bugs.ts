import { sql } from 'drizzle-orm';
import type { bodyWithoutExcluded, keepKnownFields, withoutExcluded } from '../../src/catalog/exclude.ts';
import type { certify } from '../../src/diff/certify.ts';
import type { withoutExcludedFields } from '../../src/source/paging/list-page.ts';
import type { isRuledOut } from '../../src/diff/rule-out.ts';
import type { alteredFields } from '../../src/diff/match.ts';
import type { decideDeletions } from '../../src/diff/decide-deletions.ts';
import type { compareRecord, isOutdated } from '../../src/diff/compare-page.ts';
import type { merge, compareReadBack } from '../../src/diff/merge-update.ts';
import { formatInstant } from '../../src/lib/time/clock.ts';
import type { openAttempt, closeAttempt } from '../../src/store/outbox/attempts-and-links.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { claimEntry, dueEntries, readSending } from '../../src/store/outbox/outbox-queue.ts';
import { readEntries } from '../../src/store/outbox/outbox-store.ts';
import type { appendChanges } from '../../src/store/records/change-store.ts';
import type { grade } from '../../src/outbound/send/grade.ts';
import type { decideSettlement } from '../../src/outbound/send/decide-settlement.ts';
import type {
  equalMatches,
  plausibleMatches,
  readPossibleMatches,
} from '../../src/outbound/send/possible-matches.ts';
import type { recoverEntries } from '../../src/outbound/send/recover.ts';
import type { updateElapsed, startStopwatch } from '../../src/outbound/stopwatch.ts';
import type { retrieveAbsent } from '../../src/pull/deletions/absence-evidence.ts';
import type { writtenRecord } from '../../src/source/http/write-answer.ts';
import type { createWriteSender } from '../../src/source/write.ts';

/** Functions of the code under test in whose place a test can put a double, made of the real one. */
interface Plantable {
  bodyWithoutExcluded: typeof bodyWithoutExcluded;
  certify: typeof certify;
  keepKnownFields: typeof keepKnownFields;
  withoutExcluded: typeof withoutExcluded;
  withoutExcludedFields: typeof withoutExcludedFields;
  alteredFields: typeof alteredFields;
  appendChanges: typeof appendChanges;
  retrieveAbsent: typeof retrieveAbsent;
  claimEntry: typeof claimEntry;
  closeAttempt: typeof closeAttempt;
  createWriteSender: typeof createWriteSender;
  decideSettlement: typeof decideSettlement;
  dueEntries: typeof dueEntries;
  updateElapsed: typeof updateElapsed;
  equalMatches: typeof equalMatches;
  grade: typeof grade;
  isOutdated: typeof isOutdated;
  isRuledOut: typeof isRuledOut;
  compareRecord: typeof compareRecord;
  merge: typeof merge;
  openAttempt: typeof openAttempt;
  decideDeletions: typeof decideDeletions;
  plausibleMatches: typeof plausibleMatches;
  compareReadBack: typeof compareReadBack;
  readPossibleMatches: typeof readPossibleMatches;
  readSending: typeof readSending;
  recoverEntries: typeof recoverEntries;
  startStopwatch: typeof startStopwatch;
  writtenRecord: typeof writtenRecord;
}

export type Planted = { readonly [Name in keyof Plantable]?: (real: Plantable[Name]) => Plantable[Name] };

export interface PlantedBug {
  readonly name: string;
  /** The trait that shows it, as a part of `trait: value`, where few histories have it. */
  readonly trait?: string;
  /** Another one that it needs. */
  readonly also?: string;
  readonly parts: Planted;
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'a lost answer counts as not sent',
    parts: { grade: (real) => (answer) => (answer.is === 'lost' ? { is: 'unsent' } : real(answer)) },
  },
  {
    name: 'a status of 500 and more counts as not done',
    parts: {
      grade: (real) => (answer) =>
        answer.is === 'answered' && answer.status >= 500 ? { is: 'busy', waitMs: 1_000 } : real(answer),
    },
  },
  {
    name: 'an answer with Retry-After counts as not done',
    parts: {
      grade: (real) => (answer) =>
        answer.is === 'answered' && answer.status >= 400 && answer.retryAfterMs !== null
          ? { is: 'busy', waitMs: answer.retryAfterMs }
          : real(answer),
    },
  },
  {
    name: 'a refusal of an intermediary counts as the service’s own',
    parts: {
      grade: (real) => (answer) => {
        if (answer.is !== 'answered' || answer.status < 400 || answer.status >= 500) return real(answer);
        return answer.status === 429 ? { is: 'busy', waitMs: null } : { is: 'rejected' };
      },
    },
  },
  {
    name: 'a redirection counts as a refusal',
    parts: {
      grade: (real) => (answer) =>
        answer.is === 'answered' && answer.status === 303 ? { is: 'rejected' } : real(answer),
    },
  },
  {
    name: 'an answer without a record counts as a refusal',
    parts: {
      grade: (real) => (answer) => {
        const graded = real(answer);
        return graded.is === 'accepted' && graded.record === null ? { is: 'rejected' } : graded;
      },
    },
  },
  {
    name: 'a create that was accepted without a record is sent again',
    parts: {
      grade: (real) => (answer) => {
        const graded = real(answer);
        return graded.is === 'accepted' && graded.record === null ? { is: 'busy', waitMs: 1_000 } : graded;
      },
    },
  },
  {
    name: 'a record in another form than sent is not taken for the created one, and the create is sent again',
    parts: {
      alteredFields: (real) => (kind, payload, record) => real(kind, payload, record),
      decideSettlement: (real) => (facts) => real({ ...facts, plausibleIds: [] }),
      writtenRecord: () => () => null,
    },
  },
  {
    name: 'candidates in another spelling are ruled out',
    parts: { isRuledOut: () => () => true },
  },
  {
    name: 'nothing that may be ours speaks against a second send',
    parts: { plausibleMatches: () => () => Promise.resolve([]) },
  },
  {
    name: 'a record that took the id of a deleted one is no newcomer',
    parts: {
      readPossibleMatches: (real) => async (tx, kind, entry) => {
        const rows = await tx.query(
          sql`select record_id from changes where kind = ${kind.name} and change in ('restored', 'deleted')`,
        );
        const old = new Set(rows.map((row) => String(row['record_id'])));
        return (await real(tx, kind, entry)).filter(({ id, wasLive }) => !wasLive && !old.has(id));
      },
    },
  },
  {
    name: 'patience is measured by the wall clock',
    trait: 'clock: jumps',
    also: 'commit: minutes later',
    parts: {
      startStopwatch: () => (clock) => ({ runningMs: () => Infinity, now: () => clock.now() }),
    },
  },
  {
    name: 'time passes ten times as fast',
    parts: {
      updateElapsed: (real) => (watch, elapsed) => {
        const { elapsedMs, elapsedAt } = real(watch, elapsed);
        return { elapsedMs: elapsedMs * 10 + 1_000, elapsedAt };
      },
    },
  },
  {
    name: 'sent again as soon as a look finds nothing',
    parts: {
      decideSettlement: (real) => (facts) => {
        const decision = real(facts);
        const isRested = facts.elapsedMs >= facts.rules.settleSeconds * 1_000;
        return decision.is === 'wait' && isRested && facts.equalIds.length === 0
          ? { is: 'resend' }
          : decision;
      },
    },
  },
  {
    name: 'sent again after one certified look, without patience',
    parts: {
      decideSettlement: (real) => (facts) => real({ ...facts, isWaitEnded: true }),
    },
  },
  {
    name: 'the first candidate is adopted',
    parts: {
      decideSettlement: (real) => (facts) => {
        const decision = real(facts);
        const [id] = facts.plausibleIds;
        return decision.is === 'park' && id !== undefined ? { is: 'adopt', id } : decision;
      },
    },
  },
  {
    name: 'every newcomer is equal to what was sent',
    parts: { equalMatches: () => (_kind, _entry, matches) => matches.map(({ id }) => id) },
  },
  {
    name: 'the client sends again what was lost',
    parts: {
      createWriteSender: (real) => (settings, parts, requester) => {
        const write = real(settings, parts, requester);
        return async (request, options) => {
          const answer = await write(request, options);
          return answer.is === 'lost' ? write(request, options) : answer;
        };
      },
    },
  },
  {
    name: 'the client sends again what was answered with 503',
    parts: {
      createWriteSender: (real) => (settings, parts, requester) => {
        const write = real(settings, parts, requester);
        return async (request, options) => {
          const answer = await write(request, options);
          return answer.is === 'answered' && answer.status === 503 ? write(request, options) : answer;
        };
      },
    },
  },
  {
    name: 'a claim without compare-and-set',
    parts: {
      claimEntry:
        () =>
        async (tx, { id, owner, now }) => {
          const claim = sql`
          update outbox set owner = ${owner}, epoch = epoch + 1, updated_at = ${formatInstant(now)}
          where id = ${id} and state in ('ready', 'sending', 'unsettled', 'done') returning *`;
          const [entry] = await readEntries(tx, claim);
          if (entry === undefined) return null;
          return { ...entry, state: entry.state === 'sending' ? 'ready' : entry.state };
        },
    },
  },
  {
    name: 'what a dead process had in hand stays there',
    parts: { recoverEntries: () => () => Promise.resolve() },
  },
  {
    name: 'what a dead process was sending is sent again',
    trait: 'deaths: some',
    also: 'commit: minutes later', // The list after a start shows what was made at once.
    parts: {
      recoverEntries:
        () =>
        async ({ session }, isGone) => {
          const owned = await readEntries(session, sql`select * from outbox where owner is not null`);
          for (const entry of owned.filter((one) => isGone(one, one.owner ?? '')))
            await session.atomically(async (tx) => {
              await tx.query(sql`
              update outbox set owner = null, epoch = epoch + 1,
                state = case when state = 'sending' then 'ready' else state end where id = ${entry.id}`);
              await tx.query(sql`
              update outbox_attempts set closed_at = opened_at, grade = 'unsent'
              where outbox_id = ${entry.id} and closed_at is null`);
            });
        },
    },
  },
  {
    name: 'entries whose outcome is unknown are never looked at again',
    parts: {
      dueEntries: (real) => async (db, now, limit) => {
        const never = sql`update outbox set next_attempt_at = null where state = 'unsettled'`;
        await (db as Session).atomically((tx) => tx.query(never));
        return real(db, now, limit);
      },
    },
  },
  {
    name: 'an update overwrites what its author has not seen',
    parts: { merge: (real) => (input) => real({ ...input, base: null }) },
  },
  {
    name: 'an update is believed without reading back',
    parts: { compareReadBack: () => () => ({ missed: [], alsoChanged: [] }) },
  },
  {
    name: 'what one list lacks is deleted at once',
    parts: {
      decideDeletions: (real) => (facts, rules) => ({
        ...real(facts, rules),
        tombstones: facts.absent.map(({ id }) => id),
      }),
    },
  },
  {
    name: 'every third change of a record is not seen',
    parts: {
      compareRecord: (real) => (kind, stored, received) => {
        const change = real(kind, stored, received);
        return stored !== undefined && received.raw.length % 3 === 0 ? { is: 'unchanged' } : change;
      },
    },
  },
  {
    name: 'an older answer overwrites a newer one',
    parts: { isOutdated: () => () => false },
  },
  {
    name: 'a sweep lands rows that are being sent',
    parts: { readSending: () => () => Promise.resolve(new Set()) },
  },
  {
    name: 'events are lost',
    parts: { appendChanges: () => () => Promise.resolve() },
  },
  {
    name: 'events come twice',
    parts: {
      appendChanges: (real) => async (tx, changes) => {
        await real(tx, changes);
        await real(tx, changes);
      },
    },
  },
  {
    name: 'events do not say what was before',
    parts: {
      appendChanges: (real) => (tx, changes) =>
        real(tx, { ...changes, events: changes.events.map((event) => ({ ...event, before: null })) }),
    },
  },
  {
    name: 'a record that is back stays deleted',
    trait: 'returning: restored',
    parts: {
      compareRecord: (real) => (kind, stored, received) =>
        stored?.isDeleted === true ? { is: 'unchanged' } : real(kind, stored, received),
    },
  },
  {
    name: 'a send is not journalled',
    parts: { openAttempt: () => () => Promise.resolve() },
  },
  {
    name: 'a journalled send stays open',
    parts: { closeAttempt: () => () => Promise.resolve() },
  },
  {
    name: 'what the settings keep out is taken from lists no more',
    parts: { withoutExcludedFields: () => (_kind, page) => page },
  },
  {
    name: 'what the settings keep out stays in a record that is retrieved',
    parts: { withoutExcluded: () => (_kind, record) => record },
  },
  {
    name: 'what the settings keep out stays in the answer to a write',
    parts: { bodyWithoutExcluded: () => (_kind, body) => body },
  },
  {
    name: 'the beginning of an answer is kept as it came',
    parts: {
      keepKnownFields: () => (_kind, answer) => answer,
      bodyWithoutExcluded: () => (_kind, body) => body,
    },
  },
];
