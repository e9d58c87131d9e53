import { sql, type SQL } from 'drizzle-orm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant } from '../../src/lib/time/clock.ts';
import { readMirroredKind } from '../../src/store/kinds/field-store.ts';
import type { Row, Session, SqlValue } from '../../src/db/session/session.ts';
import { readDeclaredColumns } from '../../src/views/views.ts';
import { nestedTables } from '../../src/store/tables/kind-table.ts';
import { rowsAsOf } from '../../src/views/as-of.ts';
import { readAsOf, exportColumns, type ExportColumn } from '../../src/features/export/read-rows.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { clients as CLIENTS } from '../../src/catalog/kinds/clients.ts';
import { DATABASES, DOCUMENTED_MIRRORS, NOON, pullOne } from '../pull/steps.ts';
import { sandbox } from '../pull/support.ts';
import { putRecords } from '../store/temp-mirror.ts';
import { sized } from '../support/tiers.ts';

const kind = 'clients';
const HISTORIES = 2;
const INSTANTS = {
  SQLite: sized({ quick: 200, acceptance: 4_000, deep: 20_000 }),
  PostgreSQL: sized({ quick: 100, acceptance: 2_000, deep: 5_000 }),
};

/** One pull, and what happened at the service before it. */
interface Chapter {
  readonly minutes: number;
  readonly actions: readonly Action[];
}

interface Action {
  readonly is: 'insert' | 'update' | 'remove';
  readonly pick: number;
  readonly city: string;
  readonly credit: number;
}

const action = fc.record<Action>({
  is: fc.constantFrom('insert', 'update', 'update', 'update', 'remove'),
  pick: fc.nat(1000),
  city: fc.constantFrom('Rimouski', 'Gaspé', '', "L'Isle-Verte", '=1+1'),
  credit: fc.nat(1_000_000),
});
const chapters = fc.array(
  fc.record<Chapter>({
    minutes: fc.integer({ min: 1, max: 40 }),
    actions: fc.array(action, { maxLength: 4 }),
  }),
  { minLength: 8, maxLength: 14 },
);

function live({ world }: Sandbox, chapter: Chapter): void {
  for (const { is, pick, city, credit } of chapter.actions) {
    const ids = world.ids(kind);
    const id = ids[pick % ids.length] ?? 0;
    const contacts = Array.from({ length: pick % 4 }, () => ({ nom: city, email: `${credit}@example.com` }));
    const fields = { city, credit: (credit / 100).toFixed(2), of_its_own: pick, contacts };
    if (is === 'insert') world.insert(kind, { code: `N${pick}`, name: 'Neuf', ...fields });
    else if (is === 'update') world.update(kind, id, fields);
    else if (ids.length > 5) world.remove(kind, id);
  }
}

/** The state of a mirror after a pull, as the present view showed it then. */
interface Noted {
  readonly atMs: number;
  readonly rows: readonly Row[];
  readonly contacts: readonly Row[];
  /** The service's own records at that time, by id. */
  readonly texts: ReadonlyMap<string, string>;
}

async function note(service: Sandbox, session: Session, minute: number): Promise<Noted> {
  const ids = service.world.ids(kind);
  const texts = ids.map((id) => [String(id), JSON.stringify(service.world.get(kind, id))] as const);
  const rows = await session.query(sql`select * from bi_clients order by id`);
  const contacts = await session.query(sql`select * from bi_clients_contacts order by parent_id, position`);
  return { atMs: NOON + minute * 60_000, rows, contacts, texts: new Map(texts) };
}

async function lived(
  service: Sandbox,
  session: Session,
  story: readonly Chapter[],
): Promise<readonly Noted[]> {
  const noted: Noted[] = [];
  let minute = 0;
  for (const chapter of story) {
    minute += chapter.minutes;
    live(service, chapter);
    await pullOne(service, session, { kind, minute });
    noted.push(await note(service, session, minute));
  }
  return noted;
}

/** Every fifth instant is that of a pull. */
function drawInstant(noted: readonly Noted[], drawn: number, n: number): number {
  const first = noted.at(0)?.atMs ?? 0;
  const last = noted.at(-1)?.atMs ?? 0;
  return n % 5 === 0
    ? (noted[n % noted.length]?.atMs ?? first)
    : first + Math.floor(drawn * (last - first + 60_000));
}

async function collected<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
}

const textsIn = (values: readonly SqlValue[]): (string | null)[] =>
  values.map((value) => (value === null ? null : String(value)));

describe.each(DATABASES)('%s', (database) => {
  async function play(story: readonly Chapter[], random: Iterator<number>): Promise<void> {
    const service = await sandbox({ size: 12 });
    const session = await DOCUMENTED_MIRRORS[database]();
    const noted = await lived(service, session, [{ minutes: 0, actions: [] }, ...story]);
    const mirrored = await readMirroredKind(session, CLIENTS);
    const [contacts = null] = nestedTables(mirrored);
    const declared = await readDeclaredColumns(session, `bi_${kind}`);
    const columns = exportColumns(declared);
    const contactColumns = exportColumns(await readDeclaredColumns(session, 'bi_clients_contacts'));

    for (let n = 0; n < INSTANTS[database] / HISTORIES; n++) {
      const atMs = drawInstant(noted, Number(random.next().value), n);
      const instant = formatInstant(new Date(atMs));
      const expected = noted.filter((each) => each.atMs <= atMs).at(-1);
      if (expected === undefined) throw new Error(`nothing was noted before ${instant}`);

      const rows = await collected(rowsAsOf(session, { kind: mirrored, nested: null, instant }));
      const raws = new Map(rows.map((row) => [String(row['id']), row['_raw']]));
      for (const [id, text] of expected.texts) expect(raws.get(id), `${id} at ${instant}`).toBe(text);

      const valueIn = (row: Row, { name, type }: ExportColumn): SqlValue =>
        row[type === 'decimal' ? `${name}_exact` : name] ?? null;
      const tables = [
        { nested: null, columns, rows: expected.rows },
        { nested: contacts, columns: contactColumns, rows: expected.contacts },
      ];
      for (const { nested, columns: shown, rows: then } of tables) {
        const past = { kind: mirrored, nested, instant };
        const exported = await collected(readAsOf(session, past, shown));
        const expectedRows = then.map((row) => textsIn(shown.map((column) => valueIn(row, column))));
        expect(exported.map(textsIn)).toEqual(expectedRows);
        const [one] = then;
        const ids = [String(one?.['parent_id'] ?? one?.['id'] ?? 1)];
        const chosen = await collected(readAsOf(session, { ...past, ids }, shown));
        expect(chosen.map(textsIn)).toEqual(expectedRows.filter(([id]) => id === ids[0]));
      }
    }
  }

  test('as of random instants, a kind is as it was noted then', async () => {
    const draws = fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true }));
    await fc.assert(fc.asyncProperty(chapters, draws, play), { numRuns: HISTORIES });
  });
});

/** The plan of what is asked of a mirror as of an instant, for records by their ids. */
async function planOf(session: Session): Promise<string> {
  const asked: SQL[] = [];
  const watched = {
    dialect: session.dialect,
    query: (statement: SQL) => {
      asked.push(statement);
      return session.query(statement);
    },
  };
  const past = { kind: CLIENTS, nested: null, instant: '2026-03-02 00:00:00.000', ids: ['7', '8', '9'] };
  expect((await collected(rowsAsOf(watched, past))).map(({ id }) => id)).toEqual(past.ids);
  const explain = sql.raw(session.dialect === 'sqlite' ? 'explain query plan' : 'explain');
  return JSON.stringify(await session.query(sql`${explain} ${asked[0]}`));
}

test.each([
  ['SQLite', /SEARCH k USING (?:INDEX|PRIMARY KEY)[^"]*\(id=\?\)/],
  ['PostgreSQL', /clients_pkey/],
] as const)('%s finds records by their ids without reading others', async (database, byIndex) => {
  const session = await DOCUMENTED_MIRRORS[database]();
  const records = Array.from({ length: 20_000 }, (_, index) => ({
    id: String(index + 1),
    _raw: `{"id":${index + 1}}`,
  }));
  await session.atomically((tx) => putRecords(tx, kind, records));
  await session.atomically((tx) => tx.execute('analyze'));

  expect(await planOf(session)).toMatch(byIndex);
});
