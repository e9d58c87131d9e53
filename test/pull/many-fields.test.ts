import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { isListed } from '../../src/catalog/kind.ts';
import { clients } from '../../src/catalog/kinds/clients.ts';
import { MAX_FIELDS } from '../../src/diff/observe-fields.ts';
import type { Session } from '../../src/db/session/session.ts';
import { THIS_PROCESS } from '../../src/lib/owner.ts';
import { pullKinds } from '../../src/pull/sweep/pull-kinds.ts';
import type { HttpClient } from '../../src/source/http/http.ts';
import { openSource } from '../../src/source/source.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { SOURCE_SETTINGS } from '../support/source-settings.ts';
import { sized } from '../support/tiers.ts';
import { DOCUMENTED_MIRRORS } from './steps.ts';
import { logger, RULES } from './support.ts';

const ROWS = 60;
/** Readings of the list after the first: from the second of them on nothing may grow. */
const ROUNDS = sized({ quick: 2, acceptance: 4, deep: 4 });
const KINDS = [clients].filter(isListed);

/** A list whose records have some further fields each; `round` makes the values of each reading others. */
function listOf(round: number, further: (row: number) => readonly string[]): Buffer {
  const data = Array.from({ length: ROWS }, (_, row) => ({
    id: row + 1,
    code: `C${row}`,
    system_id: 1,
    ...Object.fromEntries(further(row).map((name) => [name, round])),
  }));
  const meta = { current_page: 1, last_page: 1, per_page: 100, total: ROWS };
  return Buffer.from(JSON.stringify({ success: true, data, meta }));
}

async function pullOnce(session: Session, bytes: Buffer) {
  const http: HttpClient = {
    get: () => Promise.resolve({ status: 200, headers: {}, bytes }),
    send: () => Promise.reject(new Error('no writes')),
    destroy: () => Promise.resolve(),
  };
  const clock = fakeClock();
  const settings = { ...SOURCE_SETTINGS, baseUrl: 'http://service', token: 'token' };
  await using source = openSource(settings, { clock, logger, openHttp: () => http });
  const pulling = { session, source, clock, logger, owner: THIS_PROCESS };
  const { kinds } = await pullKinds(pulling, {
    kinds: KINDS,
    baseUrl: 'http://service',
    acceptNewSource: false,
    ...RULES,
  });
  return kinds[0];
}

/** The most CPU time that one turn of the event loop takes, in milliseconds: other processes have no part in it. */
function watchTurns(): () => number {
  let worst = 0;
  let last = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(last);
    worst = Math.max(worst, (user + system) / 1000);
    last = process.cpuUsage();
  }, 1);
  return () => {
    clearInterval(timer);
    return worst;
  };
}

const count = async (session: Session, table: string): Promise<number> =>
  Number((await session.query(sql`select count(*) as n from ${sql.identifier(table)}`))[0]?.['n']);

describe.each(Object.entries(DOCUMENTED_MIRRORS))(
  '%s: a service that sends data as names of fields',
  (_name, open) => {
    test.each([
      ['20,000 names', (row: number) => Array.from({ length: 334 }, (_, n) => `extra_${row * 334 + n}`)],
      [
        'one record of 100,000 fields',
        (row: number) => Array.from({ length: row === 7 ? 1e5 : 0 }, (_, n) => `x${n}`),
      ],
    ])('%s: bounded columns and notes, whole records, and a free event loop', async (_, further) => {
      const session = await open();
      await pullOnce(
        session,
        listOf(0, () => []),
      );
      const stop = watchTurns();
      for (let round = 1; round <= ROUNDS; round++) {
        const report = await pullOnce(session, listOf(round, further));
        expect(report).toMatchObject({ state: 'certified', rows: ROWS });
      }
      expect(stop()).toBeLessThan(1000); // Hundreds, where others load the machine; it was a minute.

      expect(await count(session, 'fields')).toBe(MAX_FIELDS);
      const notes = await session.query(sql`select detail from drift where code = 'untracked_fields'`);
      expect(notes).toEqual([
        {
          detail: expect.stringMatching(
            /^\d+ further names were sent at once, such as \w+, \w+, \w+; 1000 /,
          ) as string,
        },
      ]);
      expect(await count(session, 'drift')).toBeLessThan(3 * MAX_FIELDS);
      const [row] = await session.query(sql`select _raw from clients where id = 8`);
      const stored = JSON.parse(String(row?.['_raw'])) as Record<string, unknown>;
      expect(Object.keys(stored)).toEqual(['id', 'code', 'system_id', ...further(7)]);
    });

    test('a name that no index can hold stays in its record, and the pull goes on', async () => {
      const session = await open();
      const name = Array.from({ length: 6000 }, (_, n) => (n * n * 7919).toString(36)).join('');
      expect(
        await pullOnce(
          session,
          listOf(1, () => [name]),
        ),
      ).toMatchObject({ state: 'certified', rows: ROWS });
      const [row] = await session.query(sql`select _raw from clients where id = 8`);
      expect(Object.keys(JSON.parse(String(row?.['_raw'])) as object)).toContain(name);
    });
  },
);
