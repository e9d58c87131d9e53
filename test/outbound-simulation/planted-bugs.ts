import { sql } from 'drizzle-orm';
import { instantText } from '../../src/lib/time/clock.ts';
import { readEntries } from '../../src/mirror/outbox/outbox-store.ts';
import { FAULTS } from './fates.ts';
import type { Planted } from './plantable.ts';
import type { Schedule } from './schedule.ts';

export interface PlantedBug {
  readonly name: string;
  /** Names the bug, or the hazard that it leaves open. */
  readonly id: string;
  readonly parts: Planted;
  /** What the schedules must have for the bug to matter. */
  readonly fixed?: Partial<Schedule>;
  /** The checkers of which one must object. */
  readonly caughtBy: RegExp;
}

const SWEPT: Partial<Schedule> = {
  ...{ sweeps: 3, updates: 3, creates: 4, troubles: 0.4, slowestMs: 2_000, slowestWriteMs: 50 },
  rush: { share: 1, atMs: 60_000, forMs: 4_000 },
};

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    ...{ id: 'P08', name: 'a lost answer counts as not sent', caughtBy: /doubled/ },
    parts: { grade: (real) => (answer) => (answer.is === 'lost' ? { is: 'unsent' } : real(answer)) },
  },
  {
    ...{ id: 'D02', name: 'a status of 500 counts as not done', caughtBy: /doubled/ },
    parts: {
      grade: (real) => (answer) =>
        answer.is === 'answered' && answer.status >= 500 ? { is: 'busy', waitMs: 1_000 } : real(answer),
    },
  },
  {
    ...{
      id: 'P09',
      name: 'sent again as soon as a look finds nothing, certificate or not',
      caughtBy: /doubled/,
    },
    parts: {
      decideSettlement: (real) => (facts) => {
        const decision = real(facts);
        const isRested = facts.elapsedMs >= facts.rules.settleSeconds * 1000;
        return decision.is === 'wait' && isRested && facts.equal.length === 0 ? { is: 'resend' } : decision;
      },
    },
  },
  {
    ...{ id: 'D05', name: 'sent again after one certified look, without patience', caughtBy: /doubled/ },
    parts: {
      decideSettlement: (real) => (facts) => {
        const asked = facts.asked && { ...facts.asked, final: facts.asked.look };
        return real({ ...facts, asked, isAskedFor: true });
      },
    },
  },
  {
    ...{
      id: 'P10',
      name: 'every record of the mirror counts as new',
      caughtBy: /stranger|lost|needlessly parked/,
    },
    parts: { newcomersSince: (real) => (db, kind) => real(db, kind, { tick: -1, at: '', seq: null }) },
    fixed: { precedents: 1, troubles: 0.6, readFaults: { passing: 0, nonsense: 0 }, crashes: [], equals: 0 },
  },
  {
    ...{ id: 'D13', name: 'what may be it is adopted', caughtBy: /stranger/ },
    parts: {
      decideSettlement: (real) => (facts) => {
        const decision = real(facts);
        const [id] = facts.left;
        return decision.is === 'park' && id !== undefined ? { is: 'adopt', id } : decision;
      },
    },
    fixed: { lookAlikes: 0.3, troubles: 0.6 },
  },
  {
    ...{ id: 'D14', name: 'only what equals the create speaks against a second send', caughtBy: /doubled/ },
    parts: { isRuledOut: () => () => true },
    fixed: { troubles: 0.7 },
  },
  {
    ...{ id: 'P19', name: 'the client sends again what was lost', caughtBy: /doubled|journal/ },
    parts: {
      createWrite: (real) => (settings, parts, requester) => {
        const write = real(settings, parts, requester);
        return async (request, options) => {
          const answer = await write(request, options);
          return answer.is === 'lost' ? write(request, options) : answer;
        };
      },
    },
  },
  {
    ...{ id: 'P13', name: 'a claim without compare-and-set', caughtBy: /doubled|one send a claim|journal/ },
    parts: {
      claimEntry:
        () =>
        async (tx, { id, owner, now }) => {
          const claim = sql`
          update outbox set owner = ${owner}, epoch = epoch + 1, updated_at = ${instantText(now)}
          where id = ${id} and state in ('ready', 'sending', 'unsettled', 'done') returning *`;
          const [entry] = await readEntries(tx, claim);
          return entry === undefined
            ? null
            : { ...entry, state: entry.state === 'sending' ? 'ready' : entry.state };
        },
    },
    fixed: { workers: 2 },
  },
  {
    ...{ id: 'D10', name: 'whoever lost its claim writes all the same', caughtBy: /./ },
    parts: {
      changeEntry: (real) => async (tx, change) => {
        const [row] = await tx.query(sql`select epoch from outbox where id = ${change.id}`);
        return real(tx, { ...change, epoch: Number(row?.['epoch']) });
      },
    },
    fixed: { workers: 2, pauses: 3 },
  },
  {
    ...{ id: 'P16', name: 'what a dead process had in hand stays there', caughtBy: /unsettled|journal/ },
    parts: { recoverEntries: () => () => Promise.resolve() },
  },
  {
    ...{ id: 'D07', name: 'what a dead process was sending is sent again', caughtBy: /doubled/ },
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
    ...{ id: 'D11', name: 'no gate for equal natural keys', caughtBy: /doubled|stranger|lost|needlessly/ },
    parts: { entryBefore: () => () => Promise.resolve(null) },
    // A service that refuses what it has done may give one of two equal entries the other's record, gate or not.
    fixed: { equals: 1, creates: 4, troubles: 0.7, faults: FAULTS.filter((fate) => fate !== '422 after') },
  },
  {
    ...{ id: 'E01', name: 'an update overwrites what its author has not seen', caughtBy: /overwritten/ },
    parts: { merge: (real) => (input) => real({ ...input, base: null }) },
    fixed: { conflicts: 0.5, updates: 3 },
  },
  {
    ...{ id: 'E05', name: 'an update is believed without reading back', caughtBy: /lost/ },
    parts: { readBack: () => () => ({ missed: [], others: [] }) },
    fixed: { updates: 3, troubles: 0.7 },
  },
  {
    ...{ id: 'E08', name: 'our own write has the origin of the service', caughtBy: /events/ },
    parts: { landOwn: (real) => (tx, parts, reading) => real(tx, parts, { ...reading, origin: 'service' }) },
  },
  {
    ...{
      id: 'P30',
      name: 'a write of ours counts as no newer than the pages under way',
      caughtBy: /mirror|events|needlessly/,
    },
    parts: {
      leapTick: () => async (tx, kind) =>
        tickOf(
          await tx.query(sql`update kind_state set tick = tick + 1 where kind = ${kind} returning tick`),
        ),
    },
    fixed: SWEPT,
  },
  {
    ...{ id: 'E10', name: 'a sweep lands rows that are being sent', caughtBy: /mirror|events/ },
    parts: { readSending: () => () => Promise.resolve(new Set()) },
    fixed: SWEPT,
  },
  {
    ...{ id: 'E10b', name: 'a pre-image is newer than the pages under way', caughtBy: /doubled|needlessly/ },
    parts: {
      readTick: () => async (db, kind) =>
        tickOf(await db.query(sql`select tick from kind_state where kind = ${kind}`)),
    },
    fixed: SWEPT,
  },
];

const tickOf = ([row]: readonly Readonly<Record<string, unknown>>[]): number => Number(row?.['tick'] ?? 0);
