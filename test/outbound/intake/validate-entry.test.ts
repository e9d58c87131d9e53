import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { excludeFields } from '../../../src/catalog/exclude.ts';
import { parseJson, type Json } from '../../../src/lib/json/json.ts';
import * as intake from '../../../src/outbound/intake/validate-entry.ts';
import type { EntryDraft, ValidEntry } from '../../../src/outbound/intake/validate-entry.ts';
import type { Kind } from '../../../src/catalog/kind.ts';
import { tries } from '../../support/tiers.ts';

type Validation = ReturnType<typeof intake.validateEntry>;

/** Fields that the mirror has seen, beyond the ones that are documented. */
const SEEN = new Map([['clients', new Set(['vip', 'level'])]]);

const validateEntry = (kinds: readonly Kind[], asked: EntryDraft): Validation =>
  intake.validateEntry(kinds, asked, SEEN);

type Row = Omit<Parameters<typeof intake.validateStored>[1], 'allowsUnknown' | 'allowsDouble'>;

const validateStored = (kinds: readonly Kind[], row: Row, allowsUnknown = false): Validation =>
  intake.validateStored(kinds, { ...row, allowsUnknown, allowsDouble: false }, SEEN);

/** A request as it comes over the command line: its data is the text of JSON. */
const draft = (
  operation: string,
  kind: string,
  data: string,
  more: Partial<EntryDraft> = {},
): EntryDraft => ({
  operation,
  kind,
  data: parseJson(data),
  ...more,
});

const create = (kind: string, data: string, more: Partial<EntryDraft> = {}): Validation =>
  validateEntry(KINDS, draft('create', kind, data, more));

const update = (kind: string, data: string, more: Partial<EntryDraft> = { id: '17' }) =>
  validateEntry(KINDS, draft('update', kind, data, more));

function ok(validation: ReturnType<typeof validateEntry>): ValidEntry {
  if ('ok' in validation) return validation.ok;
  throw new Error(`refused: ${validation.faults.join('; ')}`);
}

function faults(validation: ReturnType<typeof validateEntry>): readonly string[] {
  if ('faults' in validation) return validation.faults;
  throw new Error(`accepted: ${validation.ok.payload}`);
}

const PUNCH = '"user_id":1,"date":"2026-03-01"';

describe('an entry is sent by the names and in the forms of a write', () => {
  test.each([
    ['projects', '{"name":"Pont"}', '{"name":"Pont"}'],
    ['projects', '{"nom":"Pont"}', '{"name":"Pont"}'],
    ['clients', '{"adresse2":"app. 3"}', '{"address2":"app. 3"}'],
    ['clients', '{"adresse2":"app. 3","address2":"app. 3"}', '{"address2":"app. 3"}'],
    ['providers', '{"address2":"app. 3"}', '{"address2":"app. 3"}'],
    ['purchase_products', '{"purchase_id":12,"product_id":7}', '{"purchase_id":"12","product_id":"7"}'],
    ['purchase_products', '{"purchase_id":"12"}', '{"purchase_id":"12"}'],
    ['punches', `{${PUNCH},"start_time":"08:00:00"}`, `{${PUNCH},"start_time":"08:00"}`],
    ['punches', `{${PUNCH},"end_time":"17:30"}`, `{${PUNCH},"end_time":"17:30"}`],
    ['punches', `{${PUNCH},"end_time":""}`, `{${PUNCH},"end_time":""}`],
    ['clients', '{"inactive":true,"term":"30"}', '{"inactive":1,"term":30}'],
    ['clients', '{"inactive":"0","code":null}', '{"inactive":0,"code":null}'],
    ['clients', '{"contacts":[{"nom":"Roy"}]}', '{"contacts":[{"nom":"Roy"}]}'],
    ['purchase_products', '{"produit_projet":44}', '{"produit_projet":44}'],
    ['clients', '{"creation_date":"0000-00-00"}', '{"creation_date":"0000-00-00"}'],
    ['clients', '{ "name" : "Zoé\\u0020B" }', '{"name":"Zoé B"}'],
  ])('%s %s', (kind, data, payload) => {
    expect(ok(update(kind, data))).toMatchObject({ payload, notes: [] });
  });

  test.each([
    '10.10',
    '"10.10"',
    '99999999999999999999.99',
    '"123456789012345678901234567890.12"',
    '1e2',
    '""',
    'null',
  ])('a decimal keeps its digits: %s', (credit) => {
    expect(ok(update('clients', `{"credit":${credit}}`)).payload).toBe(`{"credit":${credit}}`);
  });

  test('a whole number is one however it is written; a broken one is none', () => {
    for (const term of ['30.0', '3e1', '0.3e2']) {
      expect(ok(update('clients', `{"term":${term}}`)).payload).toBe('{"term":30}');
      expect(ok(update('purchase_products', `{"purchase_id":${term}}`)).payload).toBe('{"purchase_id":"30"}');
    }
    expect(faults(update('clients', '{"term":30.5}'))).toHaveLength(1);
  });

  test('an integer beyond the floats keeps its digits, as number and as text', () => {
    expect(ok(update('clients', '{"term":9007199254740993}')).payload).toBe('{"term":9007199254740993}');
    expect(ok(update('clients', '{"term":"9007199254740993"}')).payload).toBe('{"term":9007199254740993}');
    expect(ok(update('purchase_products', '{"purchase_id":9007199254740993}')).payload).toBe(
      '{"purchase_id":"9007199254740993"}',
    );
  });

  test('the name of a field may be one of an object’s own: nothing is lost or inherited', () => {
    const { payload } = ok(
      update('clients', '{"__proto__":1,"constructor":2,"toString":3}', { id: '17', allowUnknown: true }),
    );
    expect(payload).toBe('{"__proto__":1,"constructor":2,"toString":3}');
  });
});

describe('an entry tells', () => {
  test('a create by its natural key, however it is spelled; an update by its record', () => {
    const keyOf = (data: string): string | null => ok(create('clients', data)).naturalKey;
    expect(keyOf('{"code":"C-1","name":"Ada"}')).toBe(keyOf('{"name":"Bea","code":"C-1"}'));
    expect(keyOf('{"code":"C-1"}')).not.toBe(keyOf('{"code":"C-2"}'));
    expect(ok(create('clients', '{"code":"C-1"}'))).toMatchObject({
      operation: 'create',
      recordId: null,
      base: null,
      path: '/api/clients',
    });
    expect(ok(update('clients', '{"name":"Ada"}', { id: 17 }))).toMatchObject({
      operation: 'update',
      recordId: '17',
      naturalKey: null,
      path: '/api/clients/:id',
    });
  });

  test('what is undocumented, and sent as it is', () => {
    const { payload, notes } = ok(update('clients', '{"vip":{"a":[1.50]},"level":"gold"}'));
    expect(payload).toBe('{"vip":{"a":[1.50]},"level":"gold"}');
    expect(notes).toEqual([
      'vip is undocumented: it is sent unchanged',
      'level is undocumented: it is sent unchanged',
    ]);
  });

  test('what nobody knows, and is sent all the same where that was asked for', () => {
    const asked = { id: '17', allowUnknown: true };
    expect(ok(update('clients', '{"colour":"red","vip":1}', asked))).toMatchObject({
      payload: '{"colour":"red","vip":1}',
      allowsUnknown: true,
      notes: ['colour is unknown: it is sent unchanged', 'vip is undocumented: it is sent unchanged'],
    });
    expect(ok(update('clients', '{"vip":1}'))).toMatchObject({ allowsUnknown: false });
  });

  test('what does not suit a field that was only seen: a hint refuses nothing', () => {
    expect(ok(update('products', '{"provider_id":"none"}'))).toMatchObject({
      payload: '{"provider_id":"none"}',
      notes: [
        'provider_id is sent as it is, though by what was seen of it: expected a whole number of at most 64 bits, got "none"',
      ],
    });
    expect(ok(update('products', '{"provider_id":"5"}'))).toMatchObject({
      payload: '{"provider_id":5}',
      notes: [],
    });
  });

  test('decimals with more places than are documented', () => {
    expect(ok(update('clients', '{"credit":"1.005"}'))).toMatchObject({
      payload: '{"credit":"1.005"}',
      notes: ['credit has more than the 2 documented places: the service may round it'],
    });
  });

  test('the base by the names of a read, as a mirror has it', () => {
    const base = parseJson('{"address2":"a","name":"n","credit":1.50}');
    expect(ok(update('clients', '{"name":"m"}', { id: '17', base })).base).toBe(
      '{"adresse2":"a","name":"n","credit":1.50}',
    );
    expect(ok(update('projects', '{"name":"m"}', { id: '17', base: { name: 'x' } })).base).toBe(
      '{"nom":"x"}',
    );
    expect(ok(update('clients', '{"name":"m"}', { id: '17', base: null })).base).toBe(null);
  });
});

describe('refused is', () => {
  test.each([
    ['departments', 'create', 'departments has no create: the service documents no create for it'],
    ['departments', 'update', 'departments has no update'],
    ['bookings', 'create', 'bookings has no create'],
    ['sales_products', 'update', 'sales_products has no update'],
    [
      'klients',
      'create',
      'no record kind "klients"; did you mean clients? Those that can be written are projects, clients,',
    ],
  ])('a write of %s: %s', (kind, operation, words) => {
    const found = faults(
      validateEntry(KINDS, draft(operation, kind, '{"code":"1"}', operation === 'update' ? { id: '1' } : {})),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(words);
  });

  test('a write of a further kind, which is only read', () => {
    const kinds = KINDS.map((kind) => ({ ...kind, name: `my_${kind.name}`, create: null, update: null }));
    expect(faults(validateEntry(kinds, draft('create', 'my_clients', '{"code":"1"}')))).toEqual([
      'kind: my_clients has no create: a kind of the settings is read, never written',
    ]);
  });

  test.each([
    ['{"term":1.5}', 'term: expected a whole number'],
    ['{"term":9223372036854775808}', 'term: expected a whole number'],
    ['{"term":""}', 'term: expected a whole number'],
    ['{"term":"07"}', 'term: expected a whole number'],
    ['{"term":[1]}', 'term: expected a whole number'],
    ['{"inactive":2}', 'inactive: expected 0 or 1, got 2'],
    ['{"credit":"1,50"}', 'credit: expected a decimal'],
    ['{"credit":"0000-00-00"}', 'credit: expected a decimal'],
    ['{"credit":"1e2"}', 'credit: expected a decimal'],
    [
      '{"creation_date":"2025-02-30"}',
      'creation_date: expected a date that exists, "YYYY-MM-DD", got "2025-02-30"',
    ],
    ['{"creation_date":20250201}', 'creation_date: expected a date'],
    ['{"creation_date":"2025-02-01 10:00:00"}', 'creation_date: expected a date'],
    ['{"name":true}', 'name: expected a text, got true'],
    ['{"name":["Ada"]}', 'name: expected a text, got ["Ada"]'],
    ['{"name":"a\\u0000b"}', 'name: the text holds a character that no database keeps'],
    ['{"name":"\\ud800"}', 'name: the text holds a character that no database keeps'],
    ['{"contacts":"Roy"}', 'contacts: expected an array or an object'],
    ['{"contacts":[{"nom":"\\u0000"}]}', 'contacts: the text holds a character'],
    ['{"vip":"\\u0000"}', 'vip: the text holds a character'],
    ['{"\\u0000":"x"}', 'this cannot be the name of a field'],
    ['{"":"x"}', ': this cannot be the name of a field'],
    ['{"id":17,"name":"x"}', 'id: the number of a record cannot be written'],
    [
      '{"adresse2":"a","address2":"b"}',
      'adresse2 and address2 are one field and have two values: "a" and "b"',
    ],
    [`{"vip":${'['.repeat(65)}${']'.repeat(65)}}`, 'vip: nested deeper than 64 levels'],
  ])('%s', (data, words) => {
    const found = faults(update('clients', data));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(words);
  });

  test.each([
    ['"08:00:30"', 'without seconds'],
    ['"24:00"', 'expected a time of day'],
    ['"8:00"', 'expected a time of day'],
    ['"08:00:00.000"', 'expected a time of day'],
    ['800', 'expected a time of day'],
    ['"0000-00-00"', 'expected a time of day'],
  ])('a punch that starts at %s', (time, words) => {
    expect(faults(create('punches', `{${PUNCH},"start_time":${time}}`))).toEqual([
      expect.stringContaining(words) as string,
    ]);
  });

  test.each(['[]', '"x"', '5', 'null'])('data that is no object: %s', (data) => {
    expect(faults(create('clients', data))).toEqual([`data: expected a JSON object, got ${data}`]);
  });

  test('data that is not there, or without a field', () => {
    expect(faults(validateEntry(KINDS, { operation: 'create', kind: 'clients', data: undefined }))).toEqual([
      'data: expected a JSON object, got nothing',
    ]);
    expect(faults(create('clients', '{}'))).toEqual(['data: no field to write']);
  });

  test.each([0, -1, '07', 'x', '', 1.5, '9223372036854775808', '99999999999999999999', true, ['1']])(
    'an update of record %j',
    (id) => {
      expect(faults(update('clients', '{"name":"x"}', { id: parseJson(JSON.stringify(id)) }))).toEqual([
        expect.stringMatching(/^id: expected a whole number from 1 to 9223372036854775807, got /) as string,
      ]);
    },
  );

  test('an update without a record, a create with one', () => {
    expect(faults(update('clients', '{"name":"x"}', {}))).toEqual([
      'id: an update needs the id of its record',
    ]);
    expect(faults(validateEntry(KINDS, draft('create', 'clients', '{"name":"x"}', { id: '5' })))).toEqual([
      'id: the service numbers a new record by itself',
    ]);
    expect(ok(update('clients', '{"name":"x"}', { id: '9223372036854775807' })).recordId).toBe(
      '9223372036854775807',
    );
  });

  test('a base that is none, contradicts itself, or stands before a create', () => {
    const withBase = (operation: string, base: Json) =>
      faults(
        validateEntry(
          KINDS,
          draft(operation, 'clients', '{"name":"x"}', operation === 'update' ? { id: '1', base } : { base }),
        ),
      );
    expect(withBase('update', [])).toEqual(['base: expected a JSON object, got []']);
    expect(withBase('update', { adresse2: 'a', address2: 'b' })).toEqual([
      'base: adresse2 and address2 are one field and have two values: "a" and "b"',
    ]);
    expect(withBase('create', {})).toEqual(['base: a create has no base']);
  });

  test.each([
    ['clients', '{"nmae":"Ada"}', 'nmae: clients has no such field: it is neither documented', 'name'],
    ['clients', '{"Address2":"x"}', 'Address2: clients has no such field', 'address2'],
    ['clients', '{"vipp":1}', 'nor was ever seen;', 'vip'],
    ['products', '{"dimension_width":1}', 'the mirror has not read this kind yet;', 'dimensions_width'],
    ['projects', '{"nam":"Pont"}', 'nam: projects has no such field', 'name'],
  ])('a field of %s that nobody knows: %s', (kind, data, words, meant) => {
    const [found = '', ...others] = faults(update(kind, data));
    expect(others).toEqual([]);
    expect(found).toContain(words);
    expect(found).toContain(`; did you mean ${meant}? (To send it anyway: --allow-unknown`);
    expect(found).toContain(`bms-sync kinds ${kind} lists its fields`);
  });

  test('a field that is like no other, without a guess; the id is never the guess', () => {
    for (const name of ['favourite_colour', 'idd', 'x'.repeat(100_000)])
      expect(faults(update('clients', JSON.stringify({ [name]: 1 })))[0]).toMatch(
        /nor was ever seen \(To send it/,
      );
  });

  test('a choice that is neither true nor false', () => {
    for (const allowUnknown of [null, 1, 'true'])
      expect(faults(update('clients', '{"name":"x"}', { id: '17', allowUnknown }))).toEqual([
        `allowUnknown: expected true or false, got ${JSON.stringify(allowUnknown)}`,
      ]);
  });

  test('everything that is wrong, at once', () => {
    expect(
      faults(
        validateEntry(KINDS, {
          operation: 'update',
          kind: 'clients',
          id: 'x',
          base: 5,
          data: parseJson('{"id":1,"term":"many","credit":"","inactive":7}'),
        }),
      ).map((fault) => fault.split(':')[0]),
    ).toEqual(['id', 'id', 'term', 'inactive', 'base']);
    expect(faults(validateEntry(KINDS, { operation: 'delete', kind: 5, data: [] }))).toEqual([
      'operation: expected create or update, got "delete"',
      expect.stringContaining('kind: there is no record kind 5') as string,
      'data: expected a JSON object, got []',
    ]);
  });

  test('a value nested without end, wherever it is, without following it down', () => {
    const deep = parseJson(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    const found = faults(
      validateEntry(KINDS, { operation: deep, kind: deep, id: deep, data: deep, base: deep }),
    );
    expect(found).toHaveLength(3);
    expect(
      faults(
        validateEntry(KINDS, {
          operation: 'update',
          kind: 'clients',
          id: deep,
          data: { name: deep },
          base: { name: deep },
        }),
      ),
    ).toHaveLength(3);
  });
});

describe('a row that an application has inserted', () => {
  const row = {
    operation: 'create',
    kind: 'clients',
    recordId: null,
    payload: '{"adresse2":"x"}',
    base: null,
  } as const;

  test('is checked like a request', () => {
    expect(ok(validateStored(KINDS, row)).payload).toBe('{"address2":"x"}');
    expect(
      ok(validateStored(KINDS, { ...row, operation: 'update', recordId: '5', base: '{"name":"n"}' })),
    ).toMatchObject({
      recordId: '5',
      base: '{"name":"n"}',
    });
  });

  test('is refused where it names a field that nobody knows, unless the row allows it', () => {
    const unknown = { ...row, payload: '{"colour":"red"}' };
    expect(faults(validateStored(KINDS, unknown))).toEqual([
      expect.stringContaining('colour: clients has no such field') as string,
    ]);
    expect(ok(validateStored(KINDS, unknown, true)).payload).toBe('{"colour":"red"}');
  });

  test('is refused where its texts are no JSON', () => {
    expect(faults(validateStored(KINDS, { ...row, payload: '{', base: 'x' }))).toEqual([
      'payload: expected the text of a JSON object',
      'base: expected the text of a JSON object',
    ]);
    expect(faults(validateStored(KINDS, { ...row, payload: '[]' }))).toEqual([
      'data: expected a JSON object, got []',
    ]);
  });
});

describe('of any data', () => {
  const WRITABLE = KINDS.filter(({ create: endpoint }) => endpoint !== null);
  const anyKind = fc.constantFrom(...WRITABLE);
  const anyName = anyKind.chain((kind) =>
    fc.tuple(
      fc.constant(kind.name),
      fc.dictionary(
        fc.oneof(
          fc.constantFrom(
            ...[...kind.fields, ...kind.hints].flatMap((field) => [
              field.name,
              field.write?.name ?? field.name,
            ]),
          ),
          fc.string(),
        ),
        fc.oneof(
          fc.jsonValue(),
          fc.constantFrom(
            '0000-00-00',
            '2026-03-01',
            '08:00',
            '08:00:00',
            '1.5',
            '12',
            0,
            1,
            12,
            1.25,
            true,
            '',
            null,
          ),
        ),
        { maxKeys: 6 },
      ),
    ),
  );

  test('it is refused with reasons, or becomes a payload that is accepted again as it is', () => {
    let accepted = 0;
    fc.assert(
      fc.property(anyName, ([kind, data]) => {
        const first = create(kind, JSON.stringify(data), { allowUnknown: true });
        if ('faults' in first) {
          expect(first.faults.length).toBeGreaterThan(0);
          for (const fault of first.faults) expect(fault).not.toBe('');
          return;
        }
        accepted++;
        const { payload, naturalKey } = first.ok;
        const again = ok(
          validateStored(KINDS, { operation: 'create', kind, recordId: null, payload, base: null }, true),
        );
        expect(again).toMatchObject({ payload, naturalKey });
      }),
      { numRuns: tries(2000) },
    );
    expect(accepted).toBeGreaterThan(tries(2000) / 20);
  });
});

test('an excluded field can be pushed by neither of its names, nor be part of a base', () => {
  const kinds = KINDS.map((kind) =>
    kind.name === 'clients' ? excludeFields(kind, ['adresse2', 'vip']) : kind,
  );
  for (const name of ['adresse2', 'address2', 'vip']) {
    const data = parseJson(`{"code":"A","${name}":"x"}`);
    const faults = [`${name}: privacy.exclude excludes this field, so it cannot be pushed`];
    expect(validateEntry(kinds, { operation: 'create', kind: 'clients', data })).toEqual({ faults });
    const forced = { operation: 'create', kind: 'clients', data, allowUnknown: true };
    expect(validateEntry(kinds, forced)).toEqual({ faults });
  }
  const base = parseJson('{"adresse2":"old"}');
  const asked = { operation: 'update', kind: 'clients', id: '7', data: parseJson('{"city":"Alma"}'), base };
  expect(validateEntry(kinds, asked)).toMatchObject({
    faults: [expect.stringContaining('base: adresse2: privacy')],
  });
});
