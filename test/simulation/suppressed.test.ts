import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { forgetRecord } from '../../src/mirror/records/forget-record.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { readTexts } from '../../src/mirror/tables/rows.ts';
import { randomFrom } from '../../src/sandbox/generate/draw.ts';
import { blankMirror } from './blank-mirror.ts';
import { check } from './checkers/check.ts';
import type { Dump } from './dump.ts';
import type { Ledger } from './ledger.ts';
import type { RecordedPull, Recording } from './recording.ts';
import { runSchedule } from './run-schedule.ts';
import { scheduleOf } from './schedule.ts';
import type { Stage } from './stage.ts';

const SEEDS = process.env['BMS_TEST_DEEP'] === undefined ? 40 : 3_000;
const KIND_SHARE = 0.2;

const blank = blankMirror();

/** Suppresses some of the listed records after a pull, as `forget --suppress` does; now and then all that the list has. */
function suppressor(seed: number, suppressed: Map<string, Set<string>>): (stage: Stage) => Promise<void> {
  const random = randomFrom('suppress', seed);
  return async ({ session, served, timeline }) => {
    for (const { world } of served) {
      const own = suppressed.get(world.kind.name) ?? new Set();
      suppressed.set(world.kind.name, own);
      const share = random.chance(0.05) ? 1 : KIND_SHARE;
      const ids = world.listAt(timeline.nowMs()).flatMap(({ id }) => (random.chance(share) ? [id] : []));
      for (const id of random.chance(0.5) ? ids : []) {
        const forgetting = {
          kind: world.kind,
          id,
          suppress: true,
          by: 'simulation',
          now: timeline.clock.now(),
        };
        await session.atomically((tx) => forgetRecord(tx, forgetting));
        own.add(id);
      }
    }
  };
}

type Suppressed = ReadonlyMap<string, ReadonlySet<string>>;

/** The recording of a service and a mirror that never had the suppressed records. */
function withoutThem(recording: Recording, suppressed: Suppressed): Recording {
  const isKept = (kind: string, id: string): boolean => suppressed.get(kind)?.has(id) !== true;
  const ledgerOf = (ledger: Ledger): Ledger => ({
    ...ledger,
    histories: new Map([...ledger.histories].filter(([id]) => isKept(ledger.kind, id))),
  });
  const dumpOf = ({ kinds, lastSeq }: Dump): Dump => ({
    lastSeq,
    kinds: new Map(
      [...kinds].map(([kind, dump]) => [
        kind,
        { ...dump, rows: new Map([...dump.rows].filter(([id]) => isKept(kind, id))) },
      ]),
    ),
  });
  const pullOf = (pull: RecordedPull): RecordedPull => ({ ...pull, after: dumpOf(pull.after) });
  return {
    ...recording,
    ledgers: new Map([...recording.ledgers].map(([kind, ledger]) => [kind, ledgerOf(ledger)])),
    pulls: recording.pulls.map(pullOf),
    changes: recording.changes.filter(({ kind, id }) => isKept(kind, id)),
    lying: recording.lying && pullOf(recording.lying),
  };
}

/** What the mirror holds of suppressed records beside their ids. */
function leftOf({ changes, pulls }: Recording, suppressed: Suppressed): string[] {
  const rows = [...suppressed].flatMap(([kind, ids]) =>
    [...ids].map((id) => ({ id, row: pulls.at(-1)?.after.kinds.get(kind)?.rows.get(id) })),
  );
  const contents = changes.flatMap(({ kind, id, before, after, fields }) =>
    suppressed.get(kind)?.has(id) === true ? [{ id, texts: [before, after, fields] }] : [],
  );
  return [
    ...rows
      .filter(({ id, row }) => row !== undefined && (row.raw !== `{"id":${id}}` || row.deletedAt === null))
      .map(({ id }) => `row ${id}`),
    ...contents
      .filter(({ id, texts }) => texts.some((text) => ![null, '{}', `{"id":${id}}`].includes(text)))
      .map(({ id }) => `event of ${id}`),
  ];
}

const openDeletions = (session: Session, ids: ReadonlySet<string>): Promise<string[]> =>
  readTexts(session, sql`select record_id from deletions where concluded_at is null`).then((open) =>
    open.filter((id) => ids.has(id)),
  );

test(
  `${SEEDS} schedules in which listed records are suppressed: they never land again, and no neighbour is lost`,
  { timeout: 120_000 },
  async () => {
    let [records, certified] = [0, 0];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const suppressed = new Map<string, Set<string>>();
      const session = await blank();
      const afterPull = suppressor(seed, suppressed);
      const recording = await runSchedule(scheduleOf(seed), { session, afterPull });
      expect({ seed, found: check(withoutThem(recording, suppressed)) }).toEqual({ seed, found: [] });
      expect({ seed, left: leftOf(recording, suppressed) }).toEqual({ seed, left: [] });
      const all = new Set([...suppressed.values()].flatMap((ids) => [...ids]));
      expect({ seed, open: await openDeletions(session, all) }).toEqual({ seed, open: [] });
      records += all.size;
      if (all.size > 0 && [...(recording.pulls.at(-1)?.states.values() ?? [])].includes('certified'))
        certified++;
    }
    expect(records).toBeGreaterThan(SEEDS);
    expect(certified).toBeGreaterThan(SEEDS / 4);
  },
);
