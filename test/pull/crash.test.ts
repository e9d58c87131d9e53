import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/catalog.ts';
import type { Session } from '../../src/mirror/session.ts';
import { Crash, contentOf, dyingAt, mirror, pullFrom, rowsOf, sandbox, truthOf } from './support.ts';

test(
  'A24: whatever operation a pull dies at, pages are whole and the next pull heals it',
  { timeout: 60_000 },
  async () => {
    const service = await sandbox({ size: 130 });
    const truth = truthOf(service);
    const kinds = LISTED_KINDS.filter(({ name }) => ['clients', 'punches'].includes(name));
    let died = 0;
    for (let n = 1; ; n++) {
      const session = await mirror();
      // Each step is a process of its own, so that the dead one's lease is free at once.
      const owner = (name: string) => ({ name, isDead: (other: string) => other !== name });
      const dying = await pullFrom(service, dyingAt(session, n), {
        parts: { owner: owner('first') },
        request: { kinds },
      }).then(
        () => false,
        (error: unknown) => error instanceof Crash,
      );
      if (!dying) break;
      died++;

      for (const { ids, rows } of await sightedPages(session))
        expect(rows).toEqual(expect.arrayContaining([...ids]));
      const report = await pullFrom(service, session, {
        parts: { owner: owner('second') },
        request: { kinds },
      });

      expect(report.kinds.map(({ state }) => state)).toEqual(['certified', 'certified']);
      const content = await contentOf(session);
      for (const { name } of kinds) expect(content[name]).toEqual(truth[name]);
    }
    expect(died).toBeGreaterThan(40);
  },
);

/** The ids that each landed response showed, beside the ids that its kind's table holds. */
async function sightedPages(
  session: Session,
): Promise<{ ids: readonly string[]; rows: readonly string[] }[]> {
  const sightings = await rowsOfSightings(session);
  return await Promise.all(
    sightings.map(async ({ kind, ids }) => ({
      ids: ids
        .slice(1, -1)
        .split(',')
        .filter((id) => id !== ''),
      rows: (await rowsOf(session, kind)).map((row) => String(row['id'])),
    })),
  );
}

async function rowsOfSightings(session: Session): Promise<{ kind: string; ids: string }[]> {
  const rows = await session.query(sql`select kind, ids from sightings`);
  return rows.map((row) => ({ kind: String(row['kind']), ids: String(row['ids']) }));
}
