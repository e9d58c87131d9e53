import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import {
  bindSource,
  boundCompanies,
  boundUrl,
  openSourceBinding,
  hasCompanyField,
  readCompanies,
} from '../../src/pull/source-binding.ts';
import { OtherSourceError } from '../../src/db/session/errors.ts';
import type { Session } from '../../src/db/session/session.ts';
import { NOON_TEXT, kindNamed, putRecords, tempMirror, thrownBy } from '../store/temp-mirror.ts';

const OURS = 'https://ours.example';
const THEIRS = 'https://theirs.example/api';

/** What a run does: it makes its claim, learns the company from a record, and binds with what lands. */
interface Binding {
  readonly acceptNew?: boolean;
  readonly kind?: string;
  readonly company?: string | null;
}

async function bind(
  session: Session,
  baseUrl: string,
  { acceptNew = false, kind = 'departments', company = '42' }: Binding = {},
): Promise<void> {
  const claim = await openSourceBinding(session, baseUrl, acceptNew);
  const companies = await readCompanies(session, kindNamed(kind), acceptNew);
  if (companies.isLearning && company !== null) companies.ids.add(company);
  await session.atomically((tx) => bindSource(tx, claim, companies));
}

const BOUND_KINDS = ['clients', 'departments'];

/** A mirror of our source with two swept kinds. */
async function boundMirror(): Promise<Session> {
  const session = await tempMirror();
  for (const kind of BOUND_KINDS)
    await session.atomically(async (tx) => {
      await putRecords(tx, kind, [{ id: '1' }]);
      await tx.query(sql`
        insert into sightings (kind, answered, sent, run_id, page, ids, rows, seen_at)
        values (${kind}, 2, 1, 1, 1, '[1]', 1, ${NOON_TEXT})`);
      await tx.query(sql`
        insert into kind_state (kind, tick, state, complete_sweeps, epoch) values (${kind}, 2, 'complete', 3, 5)`);
    });
  await bind(session, OURS);
  return session;
}

const factsOf = async (session: Session) => ({
  url: await boundUrl(session),
  companies: Object.fromEntries(await boundCompanies(session)),
  sightings: (await session.query(sql`select kind from sightings order by kind`)).map(({ kind }) => kind),
  state: await session.query(sql`select tick, epoch, complete_sweeps from kind_state order by kind`),
  rows: (await session.query(sql`select 1 from clients`)).length,
});

const [SWEPT, FORGOTTEN] = [3, 0].map((complete_sweeps) => ({ tick: 2, epoch: 5, complete_sweeps }));

describe('whose data the mirror holds', () => {
  test('an address that nothing has landed from binds nothing', async () => {
    const session = await boundMirror();
    await openSourceBinding(session, THEIRS, true);
    expect(await factsOf(session)).toMatchObject({ url: OURS, companies: { departments: ['42'] } });
  });

  test('nobody’s at first; then that of the first source', async () => {
    const session = await tempMirror();
    expect([await boundUrl(session), (await boundCompanies(session)).size]).toEqual([null, 0]);
    await bind(session, OURS);
    expect(await boundUrl(session)).toBe(OURS);
  });

  test('each kind has a company of its own', async () => {
    const session = await boundMirror();
    await bind(session, OURS, { kind: 'clients', company: '43' });
    expect(await factsOf(session)).toMatchObject({ companies: { clients: ['43'], departments: ['42'] } });
  });

  test('the same source again changes nothing', async () => {
    const session = await boundMirror();
    const before = await factsOf(session);
    await bind(session, OURS);
    expect(await factsOf(session)).toEqual(before);
  });

  test('another source is refused by both names, and nothing changes', async () => {
    const session = await boundMirror();
    const before = await factsOf(session);
    const error = await thrownBy(() => bind(session, THEIRS));
    expect(error).toBeInstanceOf(OtherSourceError);
    expect(error).toMatchObject({ code: 'mirror.other_source' });
    expect(String(error)).toContain(OURS);
    expect(String(error)).toContain(THEIRS);
    expect(await factsOf(session)).toEqual(before);
  });

  test('--new-source accepts it: rows and ticks stay, what the old source proved is forgotten', async () => {
    const session = await boundMirror();
    await bind(session, THEIRS, { acceptNew: true, company: null });
    expect(await factsOf(session)).toEqual({
      url: THEIRS,
      companies: {},
      sightings: [],
      state: [FORGOTTEN, FORGOTTEN],
      rows: 1,
    });
    const error = await thrownBy(() => bind(session, OURS));
    expect(error).toBeInstanceOf(OtherSourceError);
  });

  test('--new-source with the same URL accepts another company of that kind, and leaves the others alone', async () => {
    const session = await boundMirror();
    await bind(session, OURS, { kind: 'clients', company: '43' });
    await bind(session, OURS, { acceptNew: true, company: '44' });
    expect(await factsOf(session)).toEqual({
      url: OURS,
      companies: { clients: ['43'], departments: ['44'] },
      sightings: ['clients'],
      state: [SWEPT, FORGOTTEN],
      rows: 1,
    });
  });
});

test('kinds whose records are documented with their company name it', () => {
  const named = KINDS.filter(({ fields }) => fields.some(({ name }) => name === 'system_id'));
  expect(KINDS.filter(hasCompanyField)).toEqual(named);
  expect(named.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['purchase_products', 'punches', 'departments']),
  );
});
