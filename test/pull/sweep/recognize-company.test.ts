import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { LISTED_KINDS, documentedKind } from '../../../src/catalog/kinds/catalog.ts';
import { isListed, type ListedKind } from '../../../src/catalog/kind.ts';
import { OtherSourceError } from '../../../src/db/session/errors.ts';
import type { Session } from '../../../src/db/session/session.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { boundCompanies } from '../../../src/pull/source-binding.ts';
import type { PullReport } from '../../../src/pull/sweep/pull-kinds.ts';
import { kindState, pullOne } from '../steps.ts';
import { contentOf, mirror, pullFrom, sandbox, truthOf } from '../support.ts';
import { companiesOf, judgeCompany } from '../../../src/pull/sweep/recognize-company.ts';

const only = (name: string): readonly ListedKind[] =>
  [documentedKind(name)].filter((kind) => kind !== undefined).filter(isListed);

/** Two companies behind one address, as two tokens of one service would show them. */
async function companies(): Promise<{ ours: Sandbox; theirs: Sandbox; session: Session }> {
  const ours = await sandbox({ systemId: 7 });
  const theirs = await sandbox({ systemId: 8 });
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

  test('A21: is found out by its ids where the records of a kind name no company', async () => {
    const { ours, theirs, session } = await companies();
    await pullFrom(ours, session);

    for (const name of ['clients', 'projects', 'products', 'bookings']) {
      const pulled = pullFrom(theirs, session, { request: { ...sameAddress(ours), kinds: only(name) } });
      await expect(pulled, name).rejects.toThrow(OtherSourceError);
      expect(await contentOf(session), name).toEqual(truthOf(ours));
    }
  });

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
  const service = await sandbox({ size: 20 });
  const session = await mirror();
  await pullFrom(service, session);
  for (const id of [...service.world.ids('clients')]) service.world.remove('clients', id);
  for (let n = 0; n < 20; n++) service.world.insert('clients', { code: `N${n}`, name: 'Nouveau' });

  const report = await pullFrom(service, session);

  expect(report.kinds[1]).toMatchObject({ reason: 'absences_unproven', created: 20 });
});

test('many new records on page 1 are ours as long as another page shows one that is known', async () => {
  const service = await sandbox({ size: 150 });
  const session = await mirror();
  await pullFrom(service, session);
  for (let n = 0; n < 320; n++) service.world.insert('products', { code: `N${n}`, name_fr: 'Nouveau' }); // Newest first.

  const report = await pullFrom(service, session, { request: { kinds: only('products') } });

  // Nothing that is known is missing, so that the list is not read again for a certificate.
  expect(report.kinds).toMatchObject([
    { state: 'complete', reason: 'certified_earlier', created: 320, unchanged: 150 },
  ]);
});

/** The states of the kinds other than one: the ones that go on. */
const others = ({ kinds }: PullReport, but: string) =>
  new Set(kinds.filter(({ kind }) => kind !== but).map(({ state }) => state));
const reportOf = ({ kinds }: PullReport, name: string) => kinds.find(({ kind }) => kind === name);

describe('kinds of several companies', () => {
  const PUBLISHED = { departments: 99217, punches: 999999, purchase_products: 999999 };

  /** A mirror of the service's own published examples, and what the service shows next at the same address. */
  async function published(next: Partial<typeof PUBLISHED>) {
    const service = await sandbox({ companies: PUBLISHED });
    const session = await mirror();
    const first = await pullFrom(service, session);
    const changed = await sandbox({ companies: { ...PUBLISHED, ...next } });
    const again = (request = {}) =>
      pullFrom(changed, session, { request: { ...sameAddress(service), ...request } });
    return { service, session, first, changed, again };
  }

  test('all land at the first pull, and each keeps its own', async () => {
    const { service, session, first } = await published({});
    expect(first.kinds.every(({ state }) => state === 'certified')).toBe(true);
    expect(await contentOf(session)).toEqual(truthOf(service));
    expect(Object.fromEntries(await boundCompanies(session))).toMatchObject({
      departments: ['99217'],
      punches: ['999999'],
      purchase_products: ['999999'],
    });
    expect(others(await pullFrom(service, session), '')).toEqual(new Set(['certified']));
  });

  test('a kind whose own company has changed is refused, and the others go on', async () => {
    const { service, session, again } = await published({ departments: 5 });

    const report = await again();

    expect(reportOf(report, 'departments')).toMatchObject({
      state: 'invalid',
      reason: 'other_source',
      rows: 0,
      detail: expect.stringMatching(/company 5 .*company 99217.*--new-source/) as string,
    });
    expect(others(report, 'departments')).toEqual(new Set(['certified']));
    expect(await contentOf(session)).toEqual(truthOf(service));
    expect(await kindState(session, 'departments')).toMatchObject({
      owner: null,
      state: 'invalid',
      reason: 'other_source',
    });
    expect(
      await session.query(sql`select reason from run_kinds where run_id = 2 and state = 'invalid'`),
    ).toEqual([{ reason: 'other_source' }]);
  });

  test('--new-source accepts the company of the kinds that are pulled by it, and no other', async () => {
    const { session, changed, again } = await published({ departments: 5, punches: 6 });

    await again({ kinds: only('departments'), acceptNewSource: true });

    const report = await again();
    expect(reportOf(report, 'departments')).toMatchObject({ state: 'certified' });
    expect(reportOf(report, 'punches')).toMatchObject({ state: 'invalid', reason: 'other_source' });
    await again({ acceptNewSource: true });
    expect(await contentOf(session)).toEqual(truthOf(changed));
    expect(await again()).toMatchObject({ kinds: LISTED_KINDS.map(() => ({ state: 'certified' })) });
  });

  test('--new-source for one kind leaves the proofs of the others alone', async () => {
    const { session, again } = await published({ departments: 5 });
    const before = await kindState(session, 'clients');
    await again({ kinds: only('departments'), acceptNewSource: true });
    expect(await kindState(session, 'clients')).toEqual(before);
  });

  test('a kind whose known ids are gone is refused, and the others go on', async () => {
    const service = await sandbox();
    const session = await mirror();
    await pullFrom(service, session);
    const before = await contentOf(session);
    for (const id of [...service.world.ids('clients')]) service.world.remove('clients', id);
    for (let n = 0; n < 60; n++) service.world.insert('clients', { code: `N${n}`, name: 'Nouveau' });

    const report = await pullFrom(service, session);

    expect(reportOf(report, 'clients')).toMatchObject({
      state: 'invalid',
      reason: 'other_source',
      detail: expect.stringMatching(/shows 60 ids.*none of them.*more than 20/) as string,
    });
    expect(others(report, 'clients')).toEqual(new Set(['certified']));
    expect(await contentOf(session)).toEqual(before);
  });

  test('of a list that names two companies, both are its own; a third may name a few of its records', async () => {
    const service = await sandbox({ size: 150 });
    const session = await mirror();
    const kind = 'purchase_products';
    const ids = service.world.ids(kind);
    for (const id of ids.slice(0, 100)) service.world.update(kind, id, { system_id: 8 });
    expect(await pullOne(service, session, { kind })).toMatchObject({ state: 'certified', rows: 300 });
    expect((await boundCompanies(session)).get(kind)?.toSorted()).toEqual(['7', '8']);

    service.world.update(kind, ids[0] ?? 0, { system_id: 9 });
    expect(await pullOne(service, session, { kind })).toMatchObject({ state: 'certified', updated: 1 });

    for (const id of ids) service.world.update(kind, id, { system_id: 9 });
    await expect(pullOne(service, session, { kind })).rejects.toThrow(/company 9 .*company [78], [78]/);
  });
});

test('a kind that cannot tell goes by another kind that can, though a third is refused', async () => {
  const service = await sandbox({ size: 5 });
  const session = await mirror();
  await pullFrom(service, session);
  const changed = await sandbox({ size: 5, companies: { departments: 5 } });

  const report = await pullFrom(changed, session, {
    request: { ...sameAddress(service), kinds: [...only('departments'), ...only('categories')] },
  });

  expect(report.kinds.map(({ kind, state }) => [kind, state])).toEqual([
    ['departments', 'invalid'],
    ['categories', 'certified'],
  ]);
});

test('an emptied list of another company is not believed', async () => {
  const { ours, theirs, session } = await companies();
  await pullFrom(ours, session);
  for (const id of [...theirs.world.ids('clients')]) theirs.world.remove('clients', id);

  const pulled = pullFrom(theirs, session, { request: { ...sameAddress(ours), kinds: only('clients') } });

  await expect(pulled).rejects.toThrow(/company 8.*company 7/);
});

const KNOWN = new Set(['7', '9']);
const records = (companies: readonly (number | string | null)[]) =>
  companies.map((system_id, id) => ({ id, system_id }));
const judge = (companies: readonly (number | string | null)[]) =>
  judgeCompany(companiesOf(records(companies)), KNOWN);

describe('the company that records name', () => {
  test.each([
    { companies: [], judged: null },
    { companies: [null, null], judged: null },
    { companies: [7, null], judged: 'own' },
    { companies: ['7', 9], judged: 'own' },
    { companies: [8, null], judged: 'other' },
    { companies: [7, 8], judged: 'own' },
    { companies: [7, 8, 10], judged: 'other' },
  ] as const)('records of $companies are $judged where 7 and 9 are known', ({ companies, judged }) => {
    expect(judge(companies)).toBe(judged);
  });

  test('what most records name decides, in whatever order', () => {
    const company = fc.constantFrom(7, 9, 8, 10, null);
    fc.assert(
      fc.property(fc.array(company), (companies) => {
        const own = companies.filter((one) => one === 7 || one === 9).length;
        const named = companies.filter((one) => one !== null).length;
        const expected = named === 0 ? null : own >= named - own ? 'own' : 'other';
        expect(judge(companies)).toBe(expected);
        expect(judge(companies.toReversed())).toBe(expected);
      }),
    );
  });
});
