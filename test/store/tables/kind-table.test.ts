import fc from 'fast-check';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import type { Kind } from '../../../src/catalog/kind.ts';
import { createRecordDecoder } from '../../../src/diff/decode-record.ts';
import { splitPage } from '../../../src/diff/compare-page.ts';
import { parseJson } from '../../../src/lib/json/json.ts';
import { kindColumns, writtenColumns, rowWriter } from '../../../src/store/tables/kind-table.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { NOON_TEXT, columnsOf, kindNamed, madeUpKind, putRecords, tempMirror } from '../temp-mirror.ts';
import { canonicalDecimal, idText, sentRecord, type SentRecord } from '../wire-records.ts';
import { sized } from '../../support/tiers.ts';

/** The contract, written a second time: the declared type of each type of field. */
const DECLARED: Record<string, string> = {
  integer: 'BIGINT',
  flag: 'INTEGER',
  decimal: 'TEXT',
  date: 'DATE',
  time: 'TEXT',
  timestamp: 'TIMESTAMP',
  text: 'TEXT',
  json: 'TEXT',
};
const OWN = [
  ['_first_seen_at', 'TIMESTAMP'],
  ['_changed_at', 'TIMESTAMP'],
  ['_deleted_at', 'TIMESTAMP'],
  ['_response', 'BIGINT'],
  ['_listed', 'BIGINT'],
  ['_raw', 'TEXT'],
];

/** The kinds whose documented fields have a code, a name, a phone number or an e-mail. */
// prettier-ignore
const FOUND = [
  'projects', 'clients', 'providers', 'purchase_products', 'categories', 'products', 'departments',
];

/** The kinds whose records are created, and that name their natural keys. */
const KEYED = ['clients', 'providers', 'projects', 'categories', 'products', 'punches'];

const named = (kinds: readonly Kind[]) => kinds.map((kind) => [kind.name, kind] as const);

describe('the columns of a kind', () => {
  test.each(named(KINDS))(
    '%s has exactly the fields, our own columns and the derived ones',
    async (_, kind) => {
      const session = await tempMirror();
      const twins = kind.fields.flatMap(({ name, type, recordOf }) => [
        ...(recordOf === undefined ? [] : [[`${name}_id`, 'BIGINT']]),
        ...(type === 'decimal'
          ? [
              [`${name}_real`, 'REAL'],
              [`${name}_e4`, 'BIGINT'],
            ]
          : []),
      ]);
      const declared = [
        ...kind.fields.map(({ name, type, refersTo }) => [
          name,
          DECLARED[refersTo === undefined ? type : 'integer'],
        ]),
        ...twins,
        ...(KEYED.includes(kind.name) ? [['_key', 'TEXT']] : []),
        ...(FOUND.includes(kind.name) ? [['_search', 'TEXT']] : []),
        ...OWN,
      ];
      expect((await columnsOf(session, kind.name)).toSorted()).toEqual(declared.toSorted());
    },
  );

  test('landing writes every column', () => {
    for (const kind of KINDS)
      for (const dialect of ['sqlite', 'postgres'] as const)
        expect(writtenColumns(kind, dialect)).toEqual(kindColumns(kind, dialect).map(({ name }) => name));
  });

  test('no two columns differ only in case, which SQLite would take for one: hints counted, they may become columns', () => {
    for (const kind of KINDS) {
      const all = kindColumns({ ...kind, fields: [...kind.fields, ...kind.hints] }, 'sqlite');
      const names = all.map(({ name }) => name.toLowerCase());
      const shown = new Set(names.concat(all.map(({ name }) => `${name.toLowerCase()}_exact`)));
      expect([kind.name, new Set(names).size]).toEqual([kind.name, names.length]);
      expect([kind.name, shown.size]).toEqual([kind.name, 2 * names.length]);
    }
  });

  test('G17: a decimal whose name has quotes in it has its twins too', async () => {
    const name = `it's a "price" ü`;
    const kind = madeUpKind('oddities', [{ name, type: 'decimal', scale: 2 }]);
    const session = await tempMirror([kind]);
    const columns = writtenColumns(kind, 'sqlite');
    const values = kind.fields.map((field) => (field.name === name ? '12.50' : '1'));
    const row = rowWriter(kind, 'sqlite')(values, [NOON_TEXT, NOON_TEXT, null, 1, 1, '{}']);
    await session.atomically((tx) => tx.upsertRows({ table: kind.name, columns, rows: [row] }));
    const [stored] = await session.query(sql`select ${sql.identifier(`${name}_e4`)} as e4 from oddities`);
    expect(stored).toEqual({ e4: 125_000 });
  });
});

describe('decimals', () => {
  const VALUES = sized({ quick: 15_000, acceptance: 200_000, deep: 200_000 });

  /** Stores texts in a decimal column, one row each, and reads it and its twins. */
  async function derivedFrom(session: Session, texts: readonly string[]) {
    const kind = kindNamed('punches');
    const rows = texts.map((text, index) => {
      const decimals = new Map<string, string | number>([
        ['id', index + 1],
        ['ptotal', text],
      ]);
      const values = kind.fields.map(({ name }) => decimals.get(name) ?? null);
      return rowWriter(kind, 'sqlite')(values, [NOON_TEXT, NOON_TEXT, null, 1, 1, '{}']);
    });
    const columns = writtenColumns(kind, 'sqlite');
    await session.atomically((tx) => tx.upsertRows({ table: 'punches', columns, rows }));
    return session.query(sql`
      select ptotal as exact, cast(ptotal_e4 as text) as e4, ptotal_real as real, typeof(ptotal) as type
      from punches order by id limit ${texts.length}`);
  }

  const partsOf = (text: string) => {
    const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(text) ?? [];
    return { sign, whole, fraction };
  };

  /** Units of 0.0001 by BigInt; null beyond 4 places or 14 digits before the point. */
  function unitsOf(text: string): string | null {
    const { sign, whole, fraction } = partsOf(text);
    if (fraction.length > 4 || whole.length > 14) return null;
    const units = BigInt(whole + fraction.padEnd(4, '0'));
    return String(sign === '-' ? -units : units);
  }

  const drawn = fc
    .tuple(
      fc.integer({ min: -1, max: 1 }),
      fc.nat(17),
      fc.bigInt(0n, 10n ** 17n - 1n),
      fc.nat(6),
      fc.nat(999_999),
    )
    .map(([sign, digits, whole, places, fraction]) =>
      canonicalDecimal(
        {
          sign: sign < 0 ? '-' : '',
          whole: String(whole % 10n ** BigInt(digits)),
          fraction: String(fraction).padStart(6, '0').slice(0, places),
        },
        places,
      ),
    );

  test(`C05: _e4 and _real are right for ${VALUES} random values`, async () => {
    const session = await tempMirror();
    const texts = fc.sample(drawn, { numRuns: VALUES, seed: 20260301 });
    const wrong = (await derivedFrom(session, texts)).filter(({ exact, e4, real }, index) => {
      const text = texts[index] ?? '';
      return exact !== text || e4 !== unitsOf(text) || !isClose(Number(real), text);
    });
    expect(wrong.slice(0, 5)).toEqual([]);
    const digitsBefore = new Set(texts.map((text) => partsOf(text).whole.length));
    expect([...digitsBefore].sort((a, b) => a - b)).toEqual(
      Array.from({ length: 17 }, (_, index) => index + 1),
    );
  });

  /** The nearest float; with more than 17 digits SQLite may give the one beside it. */
  function isClose(real: number, text: string): boolean {
    const float = Number(text);
    if (text.replace(/\D/g, '').length <= 17) return real === float;
    return Math.abs(real - float) <= Math.abs(float) * Number.EPSILON;
  }

  test.each([
    ['0', '0'],
    ['0.00', '0'],
    ['-0.5', '-5000'],
    ['0.0001', '1'],
    ['-0.0001', '-1'],
    ['99999999999999.9999', '999999999999999999'],
    ['-99999999999999.9999', '-999999999999999999'],
    ['100000000000000', null],
    ['-100000000000000.00', null],
    ['0.00001', null],
    ['1.00000', null],
    ['12.34', '123400'],
  ])('the _e4 of %s is %s', async (text, units) => {
    const [row] = await derivedFrom(await tempMirror(), [text]);
    expect(row?.['e4']).toBe(units);
  });

  test('C05: sums of _e4 are exact where sums of floats are not', async () => {
    const session = await tempMirror();
    await derivedFrom(
      session,
      Array.from({ length: 10_000 }, () => '0.10'),
    );
    const [row] = await session.query(
      sql`select sum(ptotal_e4) as e4, sum(ptotal_real) = 1000.0 as isFloatExact from punches`,
    );
    expect(row?.['e4']).toBe(10_000_000);
  });
});

describe('a record that is decoded, stored and read back', () => {
  test('C03: ids from 1 to 2^63-1 come back to the digit and stay apart', async () => {
    const session = await tempMirror();
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(idText, { minLength: 1, maxLength: 50 }), async (ids) => {
        const stored = await session.atomically(async (tx) => {
          await tx.query(sql`delete from departments`);
          await putRecords(
            tx,
            'departments',
            ids.map((id) => ({ id, _raw: `{"id":${id}}` })),
          );
          const found = await tx.readRowsById('departments', ['_raw'], ids);
          const rows = await tx.query(
            sql`select cast(id as text) as id, typeof(id) as type from departments order by departments.id`,
          );
          return { found: [...found].map(([id, [raw]]) => [id, raw]), rows };
        });
        expect(stored.found).toEqual(ids.map((id) => [id, `{"id":${id}}`]));
        const sorted = ids.map(BigInt).sort((a, b) => (a < b ? -1 : 1));
        expect(stored.rows).toEqual(sorted.map((id) => ({ id: String(id), type: 'integer' })));
      }),
    );
  });

  /** Stores a record as landing does and reads its columns back as text. */
  async function throughTheMirror(session: Session, kind: Kind, { raw }: SentRecord) {
    const [incoming] = splitPage([parseJson(raw)]).incoming;
    if (!incoming) throw new Error(`no record in ${raw}`);
    const { values } = createRecordDecoder(kind)(incoming.record);
    const own = [NOON_TEXT, NOON_TEXT, null, 7, 3, incoming.raw];
    const row = rowWriter(kind, 'sqlite')(values, own);
    await session.atomically((tx) =>
      tx.upsertRows({ table: kind.name, columns: writtenColumns(kind, 'sqlite'), rows: [row] }),
    );
    const columns = sql.join(
      writtenColumns(kind, 'sqlite').map(
        (name) => sql`cast(${sql.identifier(name)} as text) as ${sql.identifier(name)}`,
      ),
      sql`, `,
    );
    const [stored] = await session.query(
      sql`select ${columns} from ${sql.identifier(kind.name)} where id = ${incoming.id}`,
    );
    return stored ?? {};
  }

  const everyType = madeUpKind('every_type', [
    ...kindNamed('bookings').hints,
    { name: 'at', type: 'timestamp' },
    { name: 'hour', type: 'time' },
    { name: 'rate', type: 'decimal', scale: 4 },
    { name: 'whole', type: 'decimal', scale: 0 },
    { name: 'free', type: 'decimal' },
  ]);

  test.each(named([...KINDS, everyType]))('%s: equals what was sent, _raw to the digit', async (_, kind) => {
    const session = await tempMirror([...KINDS, everyType]);
    await fc.assert(
      fc.asyncProperty(sentRecord(kind), async (sent) => {
        const stored = await throughTheMirror(session, kind, sent);
        expect(stored['_raw']).toBe(sent.raw);
        for (const [name, expected] of Object.entries(sent.columns)) {
          const value = stored[name] ?? null;
          if (expected === null || typeof expected === 'string')
            expect([name, value]).toEqual([name, expected]);
          else expect(JSON.parse(String(value))).toEqual(JSON.parse(expected.json));
        }
      }),
      { numRuns: 150 },
    );
  });
});
