import { expect, test } from 'vitest';
import { spansOf, unseenSince } from '../../../src/diff/spans.ts';
import { idsText, saveSightings } from '../../../src/mirror/sightings/page-store.ts';
import { readSightings } from '../../../src/mirror/sightings/sighting-store.ts';
import type { NewSighting } from '../../../src/mirror/sightings/page-store.ts';
import { thinReadings } from '../../../src/mirror/sightings/watched-store.ts';
import type { Session } from '../../../src/mirror/session/session.ts';
import { DATABASES } from '../databases.ts';
import { later } from '../temp-mirror.ts';

const MINUTE = 60_000;
const PAGES = 3;

/** A reading each minute, of one page after the other; record 999 was on the first of them only. */
const readings = (count: number): NewSighting[] =>
  Array.from({ length: count }, (_, index) => {
    const page = 1 + (index % PAGES);
    const ids = [page * 10, page * 10 + 1, ...(index === 0 ? [999] : [])].map(String);
    return {
      ...{ kind: 'clients', runId: 0, sweep: null, page, ids: idsText(ids), rows: ids.length, total: 6 },
      ...{ sent: 2 * index + 1, answered: 2 * index + 2, endRows: null, sentAt: later(index * MINUTE) },
    };
  });

async function read(open: () => Promise<Session>, count: number): Promise<Session> {
  const session = await open();
  await session.atomically((tx) => saveSightings(tx, readings(count)));
  return session;
}

test.each(DATABASES)(
  'of very many old readings those stay that show a record last, in %s',
  async (_name, open) => {
    const session = await read(open, 3000);
    const before = spansOf(await readSightings(session, 'clients'), []);
    await thinReadings(session, 'clients', later(2900 * MINUTE));
    const left = await readSightings(session, 'clients');
    expect(left).toHaveLength(1 + 100);
    const after = spansOf(left, []);
    for (const tick of [0, 1, 1000, 5900])
      expect(unseenSince(after, tick).ids()).toEqual(unseenSince(before, tick).ids());
  },
);

test('few readings stay as they are', async () => {
  const [, open] = DATABASES[0] ?? [];
  if (open === undefined) throw new Error('there is SQLite');
  const session = await read(open, 300);
  await thinReadings(session, 'clients', later(300 * MINUTE));
  expect(await readSightings(session, 'clients')).toHaveLength(300);
});
