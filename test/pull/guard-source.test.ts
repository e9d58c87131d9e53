import { describe, expect, test } from 'vitest';
import { LISTED_KINDS, kindNamed } from '../../src/catalog/catalog.ts';
import { isListed } from '../../src/catalog/kind.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import { OtherSourceError } from '../../src/mirror/errors.ts';
import type { Session } from '../../src/mirror/session.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { contentOf, mirror, pullFrom, rowsOf, sandbox, truthOf } from './support.ts';

const only = (name: string): readonly ListedKind[] =>
  [kindNamed(name)].filter((kind) => kind !== undefined).filter(isListed);

/** Two companies behind one address, as two tokens of one service would show them. */
async function companies(): Promise<{ ours: Sandbox; theirs: Sandbox; session: Session }> {
  const [ours, theirs] = [await sandbox({ systemId: 7 }), await sandbox({ systemId: 8 })];
  return { ours, theirs, session: await mirror() };
}

/** The other company's data behind the address that the mirror is bound to. */
const sameAddress = (ours: Sandbox) => ({ baseUrl: ours.url });

describe("another company's token", () => {
  test('A21: is found out by system_id, before anything lands', async () => {
    const { ours, theirs, session } = await companies();
    await pullFrom(ours, session);

    const pulled = pullFrom(theirs, session, { request: sameAddress(ours) });

    await expect(pulled).rejects.toThrow(OtherSourceError);
    await expect(pulled).rejects.toThrow(/company 8.*company 7/);
    expect(await contentOf(session)).toEqual(truthOf(ours));
  });

  test.each(['clients', 'projects', 'products', 'bookings'])(
    'A21: is found out by its ids where %s names no company',
    async (name) => {
      const { ours, theirs, session } = await companies();
      await pullFrom(ours, session);

      const pulled = pullFrom(theirs, session, { request: { ...sameAddress(ours), kinds: only(name) } });

      await expect(pulled).rejects.toThrow(OtherSourceError);
      expect(await contentOf(session)).toEqual(truthOf(ours));
    },
  );

  test('is let in by --new-source, which binds the mirror to it', async () => {
    const { ours, theirs, session } = await companies();
    await pullFrom(ours, session);

    const report = await pullFrom(theirs, session, { request: { acceptNewSource: true } });
    await pullFrom(theirs, session);

    expect(report.kinds.every(({ certifiedAt }) => certifiedAt !== null)).toBe(true);
    await expect(pullFrom(ours, session)).rejects.toThrow(OtherSourceError);
  });
});

test('a mirror of another address is refused without a request', async () => {
  const { ours, theirs, session } = await companies();
  await pullFrom(ours, session);

  await expect(pullFrom(theirs, session)).rejects.toThrow(/holds the data of http/);

  expect(theirs.requests).toEqual([]);
});

test('few rows may all have been replaced', async () => {
  const [service, session] = [await sandbox({ size: 20 }), await mirror()];
  await pullFrom(service, session);
  for (const id of [...service.world.ids('clients')]) service.world.remove('clients', id);
  for (let n = 0; n < 20; n++) service.world.insert('clients', { code: `N${n}`, name: 'Nouveau' });

  const report = await pullFrom(service, session);

  expect(report.kinds[1]).toMatchObject({ reason: 'absences_unproven', created: 20 });
});

test('many new records on page 1 are ours as long as another page shows one that is known', async () => {
  const [service, session] = [await sandbox({ size: 150 }), await mirror()];
  await pullFrom(service, session);
  for (let n = 0; n < 320; n++) service.world.insert('products', { code: `N${n}`, name_fr: 'Nouveau' }); // Newest first.

  const report = await pullFrom(service, session, { request: { kinds: only('products') } });

  // Nothing that is known is missing, so that the list is not read again for a certificate.
  expect(report.kinds).toMatchObject([
    { state: 'complete', reason: 'certified_earlier', created: 320, unchanged: 150 },
  ]);
});

test('A20: an emptied list is a reading like any other', async () => {
  const [service, session] = [await sandbox(), await mirror()];
  await pullFrom(service, session);
  for (const id of [...service.world.ids('clients')]) service.world.remove('clients', id);

  const report = await pullFrom(service, session);

  expect(report.kinds[1]).toMatchObject({
    kind: 'clients',
    reason: 'absences_unproven',
    rows: 0,
    deleted: 0,
  });
  expect(await rowsOf(session, 'clients')).toHaveLength(60);
  expect(LISTED_KINDS).toHaveLength(10);
});
