import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { decimalField, jsonField, textField } from '../../../src/catalog/field.ts';
import type { Kind } from '../../../src/catalog/kind.ts';
import type { SeenField } from '../../../src/diff/observe-fields.ts';
import {
  changeFields,
  readMirroredKind,
  readFields,
  readUndiscovered,
  saveColumn,
  saveFields,
} from '../../../src/store/kinds/field-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { NOON, NOON_TEXT, kindNamed, later, tempMirror } from '../temp-mirror.ts';

const CLIENTS = kindNamed('clients');
const PRODUCTS = kindNamed('products');

const shown = (type: SeenField['type'], wire = 'text', fitsHint = false): SeenField => ({
  type,
  wire,
  fitsHint,
});
const known = (field: SeenField) => ({ ...field, vanishedAt: null });

const save = (
  session: Session,
  kind: Kind,
  { fields, now = NOON }: { fields: Record<string, SeenField>; now?: Date },
): Promise<void> => session.atomically((tx) => saveFields(tx, kind, new Map(Object.entries(fields)), now));

test('fields are remembered by kind in the order of first sight, and what is known widens', async () => {
  const session = await tempMirror();
  expect(await readFields(session, 'clients')).toEqual(new Map());

  const nothing = shown('none', '');
  await save(session, CLIENTS, { fields: { nothing, mood: shown('integer', 'number', true) } });
  await save(session, PRODUCTS, { fields: { mood: shown('date') } });
  await save(session, CLIENTS, {
    fields: { aloof: shown('json', 'array'), mood: shown('text', 'number text') },
    now: later(60_000),
  });
  await save(session, CLIENTS, { fields: {} });

  expect([...(await readFields(session, 'clients'))]).toEqual([
    ['nothing', known(nothing)],
    ['mood', known(shown('text', 'number text'))],
    ['aloof', known(shown('json', 'array'))],
  ]);
  expect(await readFields(session, 'products')).toEqual(new Map([['mood', known(shown('date'))]]));
  const [row] = await session.query(
    sql`select first_seen_at, position from fields where kind = 'clients' and field = 'mood'`,
  );
  expect(row).toEqual({ first_seen_at: NOON_TEXT, position: 2 });
});

test('documented fields are marked, and are never undiscovered', async () => {
  const session = await tempMirror();
  await save(session, CLIENTS, { fields: { code: shown('none'), mood: shown('text') } });

  expect(await session.query(sql`select field, documented from fields order by position`)).toEqual([
    { field: 'code', documented: 1 },
    { field: 'mood', documented: 0 },
  ]);
  expect(await readUndiscovered(session, CLIENTS)).toEqual([['mood', shown('text')]]);
});

test('a kind is mirrored with its discovered columns, with the scale and the items that belong to them', async () => {
  const session = await tempMirror();
  const hints = [
    decimalField('price', 2),
    jsonField('items', [textField('nom')]),
    jsonField('turned', [textField('nom')]),
  ];
  const kind: Kind = { ...CLIENTS, hints };
  const names = ['turned', 'price', 'bad', 'items', 'later'];
  await save(session, kind, { fields: Object.fromEntries(names.map((name) => [name, shown('text')])) });
  await session.atomically(async (tx) => {
    await saveColumn(tx, 'clients', decimalField('price', 2));
    await saveColumn(tx, 'clients', jsonField('items', [textField('nom')]));
    await saveColumn(tx, 'clients', textField('turned'));
    await changeFields(tx, 'clients', ['bad'], { columnType: 'unusable' });
  });

  const mirrored = await readMirroredKind(session, kind);
  expect(mirrored.fields.slice(CLIENTS.fields.length)).toEqual([
    textField('turned'),
    decimalField('price', 2),
    jsonField('items', [textField('nom')]),
  ]);
  expect((await readUndiscovered(session, mirrored)).map(([name]) => name)).toEqual(['later']);

  const documentedSince: Kind = { ...kind, fields: [...kind.fields, decimalField('price', 4)] };
  const names2 = (await readMirroredKind(session, documentedSince)).fields.map(({ name }) => name);
  expect(names2.filter((name) => name === 'price')).toHaveLength(1);
});

test('since when a field is missing is kept, and forgotten when it is back', async () => {
  const session = await tempMirror();
  await save(session, CLIENTS, { fields: { mood: shown('text') } });
  const since = async (): Promise<string | null | undefined> =>
    (await readFields(session, 'clients')).get('mood')?.vanishedAt;
  for (const vanishedAt of [NOON_TEXT, null]) {
    await session.atomically((tx) => changeFields(tx, 'clients', ['mood'], { vanishedAt }));
    expect(await since()).toBe(vanishedAt);
  }
});

test('C12, G17: a field may be called anything', async () => {
  const session = await tempMirror();
  // prettier-ignore
  const names = [
    '__proto__', 'constructor', 'toString', `it's "so"; drop table fields; --`, '', '🧾', 'x'.repeat(5000),
  ];
  const fields = new Map(names.map((name) => [name, shown('text')]));
  await session.atomically((tx) => saveFields(tx, CLIENTS, fields, NOON));
  expect(await readFields(session, 'clients')).toEqual(
    new Map(names.map((name) => [name, known(shown('text'))])),
  );
});
