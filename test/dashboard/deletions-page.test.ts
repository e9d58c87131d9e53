import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { saveAbsences } from '../../src/store/records/deletion-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { AbsenceState } from '../../src/diff/absence.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { NOON, putRecords } from '../store/temp-mirror.ts';
import { serveMirror, type Stage } from '../http/stage.ts';

async function disappear(
  session: Session,
  ids: readonly string[],
  { kind = 'clients', state = 'held' }: { readonly kind?: string; readonly state?: AbsenceState } = {},
): Promise<void> {
  const absence = { sweep: 1, absentSince: NOON, firstGoneAt: null, isCertified: true, lastSeenAt: null };
  const rows = ids.map((id) => ({ id, _raw: JSON.stringify({ id, code: `C-${id}`, name: `Garage ${id}` }) }));
  await session.atomically(async (tx) => {
    await putRecords(tx, kind, rows);
    await saveAbsences(
      tx,
      kind,
      ids.map((id) => ({ ...absence, id, state })),
    );
  });
}

const pageOf = async ({ get }: Stage, path = '/deletions'): Promise<string> => (await get(path)).text();

const namesIn = (page: string): string[] =>
  [...page.matchAll(/href="\/records\/clients\/\d+"\s*>([^<]+)</g)].map(([, name = '']) => name);

const actionsIn = (page: string): (string | undefined)[] =>
  [...page.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action]) => action);

describe.each(ONE_DATABASE)('held deletions of a mirror in %s', (_name, open) => {
  test('are shown by code and name, all of them, a box of 500 after the other', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    const ids = Array.from({ length: 1_200 }, (_, index) => String(index + 1));
    await disappear(session, ids);
    await disappear(session, ['7'], { kind: 'products' });
    const seen: string[] = [];
    for (let path: string | undefined = '/deletions'; path !== undefined;) {
      const page = await pageOf(stage, path);
      seen.push(...namesIn(page));
      path = /rel="next"\s+href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toEqual(ids.map((id) => `C-${id} · Garage ${id}`));
  });
});

describe.each(ONE_DATABASE)('held deletions of a mirror in %s', (_name, open) => {
  test('are approved after one question, which has their number', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await disappear(session, ['1', '2', '3', '4']);
    for (const page of [await pageOf(stage), await pageOf(stage, '/')]) {
      expect(page).toMatch(
        /<details[^]*<summary[^]*Approve…[^]*4 records of clients will be marked as deleted[^]*<button class="main">\s*Approve 4 deletions/,
      );
      expect(actionsIn(page)).toEqual(['/deletions/clients/approve', '/deletions/clients/reject']);
    }
    const overview = await pageOf(stage, '/');
    expect(overview).toContain('C-1 · Garage 1, C-2 · Garage 2, C-3 · Garage 3</span> and 1 other)');
  });

  test('are described on the pages of their kind as status describes them', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await session.atomically((tx) =>
      tx.query(sql`
        insert into kind_state (kind, tick, state, reason, complete_sweeps, epoch)
        values ('clients', 1, 'complete', 'absences_unproven', 1, 0)`),
    );
    await disappear(session, ['1', '2']);
    await disappear(session, ['3'], { state: 'rejected' });
    const why =
      '2 rows have left the list and wait for your decision; 1 row has left the list and stays, as a person decided';
    for (const path of ['/', '/kinds', '/kinds/clients']) expect(await pageOf(stage, path)).toContain(why);
    expect(await pageOf(stage, '/kinds/clients')).toMatch(
      /All rows that the service listed are in the mirror, and 3 rows that have left the list\. Held rows stay until you decide/,
    );
  });

  test('that were decided can be decided otherwise, unless newer ones wait', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await disappear(session, ['1'], { state: 'approved' });
    await disappear(session, ['2'], { state: 'rejected', kind: 'products' });
    expect(actionsIn(await pageOf(stage))).toEqual([
      '/deletions/clients/reject',
      '/deletions/products/approve',
    ]);
    await disappear(session, ['3']);
    expect(actionsIn(await pageOf(stage))).toEqual([
      '/deletions/clients/approve',
      '/deletions/clients/reject',
      '/deletions/products/approve',
    ]);
  });
});
