import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idsText, saveSightings, type NewSighting } from '../../../src/store/sightings/page-store.ts';
import { createEarlierSightings } from '../../../src/pull/run/list-sightings.ts';
import { DATABASES, MIRRORS, NOON } from '../steps.ts';

const IDS = Array.from({ length: 12 }, (_, index) => String(index + 1)); // 1 is a part of 10, 11 and 12.

const anyPages = fc.array(
  fc.record({ ids: fc.subarray(IDS), isOfSweep: fc.boolean(), isNewSweep: fc.boolean() }),
  { maxLength: 12 },
);

interface Shown {
  readonly ids: readonly string[];
  readonly isOfSweep: boolean;
  readonly isNewSweep: boolean;
}

/** Responses at the ticks 10, 20 and so on; some belong to sweeps. */
function sightingsOf(kind: string, pages: readonly Shown[]): NewSighting[] {
  let sweep = 1;
  return pages.map(({ ids, isOfSweep, isNewSweep }, index) => {
    const answered = 10 * (index + 1);
    if (isNewSweep) sweep = answered - 2;
    return {
      kind,
      runId: 1,
      sweep: isOfSweep ? sweep : null,
      page: 1,
      sent: answered - 1,
      answered,
      ids: idsText(ids),
      rows: ids.length,
      endRows: null,
      total: null,
      sentAt: new Date(NOON + answered),
    };
  });
}

describe.each(DATABASES)('earlier sightings in %s', (name) => {
  test('of a few records, which are looked up, are the same as those of many, which are loaded', async () => {
    const session = await MIRRORS[name]();
    let kinds = 0;
    await fc.assert(
      fc.asyncProperty(anyPages, fc.nat({ max: 130 }), async (pages, tick) => {
        const kind = `k${kinds++}`;
        await session.atomically((tx) => saveSightings(tx, sightingsOf(kind, pages)));
        const lease = { tick, knownFrom: 3 };
        const many = createEarlierSightings(kind, lease);
        for (const id of [...IDS, ...IDS]) {
          const all = await many.find(session, id);
          expect(await createEarlierSightings(kind, lease).find(session, id)).toEqual(all);
        }
      }),
      { numRuns: 20 },
    );
  });
});

test('a few records do not load all sightings', async () => {
  const session = await MIRRORS.SQLite();
  let rows = 0;
  const counted = {
    query: async (statement: Parameters<typeof session.query>[0]) => {
      const found = await session.query(statement);
      rows += found.length;
      return found;
    },
  };
  const pages = Array.from({ length: 50 }, () => ({ ids: ['7'], isOfSweep: true, isNewSweep: false }));
  await session.atomically((tx) => saveSightings(tx, sightingsOf('clients', pages)));
  const earlier = createEarlierSightings('clients', { tick: 1000, knownFrom: 3 });
  expect(await earlier.find({ ...session, ...counted }, '7')).toMatchObject({ listed: 4 });
  expect(await earlier.find({ ...session, ...counted }, '8')).toBeNull();
  expect(rows).toBeLessThan(5);
});
