import { expect, test } from 'vitest';
import * as z from 'zod';
import { documentOf, instant, objectNamed } from '../../../src/lib/json/document.ts';

const STORED = '2026-11-29 00:54:06.966';
const SHOWN = '2026-11-29T00:54:06.966Z';

test('an instant is in RFC 3339 where the schema names one, and a text that looks like one stays', () => {
  const schema = z.object({
    at: instant,
    since: instant.nullable().describe('null = never'),
    until: instant.optional(),
    rows: z.array(z.object({ at: instant, note: z.string() })),
    stop: z.object({ since: instant }).nullable(),
    record: objectNamed('Record'),
  });
  const row = { at: STORED, note: STORED };
  const record = { at: STORED };
  expect(
    documentOf(schema, { at: STORED, since: null, rows: [row], stop: { since: STORED }, record }),
  ).toEqual({
    at: SHOWN,
    since: null,
    rows: [{ at: SHOWN, note: STORED }],
    stop: { since: SHOWN },
    record,
  });
});

test('an instant that is in RFC 3339 already stays as it is', () => {
  expect(documentOf(z.object({ at: instant }), { at: SHOWN })).toEqual({ at: SHOWN });
});

test('members come in the order of the schema, others are left out unless it is loose', () => {
  const row = { later: 'x', kind: 'clients', at: STORED };
  const shape = { at: instant, kind: z.string() };
  expect(JSON.stringify(documentOf(z.object(shape), row))).toBe(`{"at":"${SHOWN}","kind":"clients"}`);
  expect(documentOf(z.looseObject(shape), row)).toEqual({ ...row, at: SHOWN });
});

test('a value that its schema does not expect is shown as it is', () => {
  const schema = z.object({ state: z.enum(['ready']), rows: z.array(z.object({ at: instant })) });
  const row: unknown = { state: 'nonsense', rows: 'none' };
  expect(documentOf(schema, row as { state: 'ready'; rows: [] })).toEqual(row);
});

test('a fault of a schema says what it expects, in words of ours', () => {
  const schema = z.strictObject({
    reason: z.string(),
    changes: z.array(z.string()),
    by: z.enum(['you', 'me']),
  });
  const faults = (input: unknown) => schema.safeParse(input).error?.issues.map(({ message }) => message);
  expect(faults({ changes: {}, by: 'yu' })).toEqual([
    'expected a string',
    'expected an array',
    'expected one of you, me; did you mean you?',
  ]);
  expect(faults({ reason: '', changes: [], by: 'me', also: 1 })).toEqual([
    'unknown: also; expected reason, changes, by',
  ]);
});
