import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { Field, Kind } from '../../../src/catalog/kind.ts';
import { recordDecoder } from '../../../src/diff/decode-record.ts';
import { compactJson, parseObject } from '../../../src/lib/json/json.ts';
import type { Json } from '../../../src/lib/json/json.ts';
import { migrate } from '../../../src/mirror/shape/migrate.ts';
import type { Row } from '../../../src/mirror/session/session.ts';
import { writtenColumns, writtenRow } from '../../../src/mirror/tables/kind-table.ts';
import { freshDatabaseUrl } from '../../support/postgres.ts';
import { NASTY_VALUES } from '../../support/nasty-values.ts';
import { openForTest } from '../postgres-mirror.ts';
import { madeUpKind } from '../temp-mirror.ts';

const TYPED: readonly Field[] = [
  { name: 'integer', type: 'integer' },
  { name: 'flag', type: 'flag' },
  { name: 'money', type: 'decimal', scale: 2 },
  { name: 'found', type: 'decimal' },
  { name: 'date', type: 'date' },
  { name: 'time', type: 'time' },
  { name: 'timestamp', type: 'timestamp' },
  { name: 'text', type: 'text' },
  { name: 'refers', type: 'integer', refersTo: 'clients' },
  { name: 'names', type: 'text', refersTo: 'clients' },
];
const FIELDS: readonly Field[] = [
  ...TYPED,
  ...TYPED.map(({ name }): Field => ({ name: `${name}_lost`, type: 'text', textOf: name })),
  { name: "o'json", type: 'json' },
];

/** The members of a record that all have one value. */
const recordOf = (id: number, value: Json): Json => ({
  id,
  ...Object.fromEntries(FIELDS.filter(({ textOf }) => textOf === undefined).map(({ name }) => [name, value])),
});

test('a record before an event is read by the typed function as landing read it', async () => {
  const [now, then] = [madeUpKind('now', FIELDS), madeUpKind('then', FIELDS)];
  const session = await openForTest(await freshDatabaseUrl());
  await migrate(session, [now, then]);
  const raws = NASTY_VALUES.map((value, index) => compactJson(recordOf(index + 1, value)));
  const rowOf = (kind: Kind, raw: string): readonly (string | number | null)[] => {
    const own = [raw, '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000', null, 1, 1];
    return writtenRow(kind, 'postgres', { values: recordDecoder(kind)(parseObject(raw)).values, own });
  };
  const put = (kind: Kind, texts: readonly string[]): Promise<void> =>
    session.atomically((tx) =>
      tx.putRows({
        ...{ table: kind.name, columns: writtenColumns(kind, 'postgres') },
        rows: texts.map((raw) => rowOf(kind, raw)),
      }),
    );
  await put(now, raws);
  await put(
    then,
    raws.map((_, index) => `{"id":${index + 1}}`),
  );
  const events = ['kind', 'record_id', 'change', 'observed_at', 'before', 'after', 'fields', 'origin'];
  await session.atomically((tx) =>
    tx.append({
      ...{ table: 'changes', columns: events },
      rows: raws.map((raw, index) => [
        ...['then', String(index + 1), 'updated', '2026-01-02 00:00:00.000', raw, '{}', '{}', 'service'],
      ]),
    }),
  );
  const read = async (source: string): Promise<Row[]> =>
    session.query(sql.raw(`select * from ${source} order by id`));

  const typed = await read(`bi_then_as_of('2026-01-01 12:00:00Z')`);

  const landed = await read('bi_now');
  expect(landed).toHaveLength(NASTY_VALUES.length);
  expect(typed).toEqual(landed);
  expect(await read(`bi_then_as_of('2025-12-31 12:00:00Z')`)).toEqual([]);
});
