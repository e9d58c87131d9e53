import fc from 'fast-check';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { isMatch, matchNewChanges, type AlertRule } from '../../../src/features/notify/alerts.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { addEndpoint } from '../../../src/events/webhooks/endpoints.ts';
import { DATABASES, mirrorIn, putChanges } from '../../events/support.ts';

const record = (credit: unknown): string => JSON.stringify({ id: 7, code: 'C-7', credit });

const update = (before: unknown, after: unknown) => ({
  change: 'updated' as const,
  before: record(before),
  after: record(after),
  fields: JSON.stringify({ credit: [before, after] }),
});

const ABOVE: AlertRule = { kind: 'clients', field: 'credit', above: '5000' };

test('a value that rises above the limit is told, whatever rises or falls beyond it is not', () => {
  const units = fc
    .bigInt({ min: 0n, max: 10n ** 24n })
    .chain((far) => fc.constantFrom(far, 49_999_999n, 50_000_000n, 50_000_001n));
  const text = (value: bigint): string => `${value / 10_000n}.${String(value % 10_000n).padStart(4, '0')}`;
  const limit = 50_000_000n;
  const below: AlertRule = { kind: 'clients', field: 'credit', below: '5000' };
  fc.assert(
    fc.property(units, units, (before, after) => {
      const event = update(text(before), text(after));
      expect(isMatch(ABOVE, event)).toBe(after > limit && before <= limit);
      expect(isMatch(below, event)).toBe(after < limit && before >= limit);
    }),
  );
});

test.each([
  [
    'a new record beyond the limit',
    { change: 'created', before: null, after: record('5000.01'), fields: '{}' },
    true,
  ],
  [
    'a record that returns beyond it',
    { change: 'restored', before: null, after: record(6000), fields: '{}' },
    true,
  ],
  ['a record that goes', { change: 'deleted', before: record('5000.01'), after: null, fields: '{}' }, false],
  ['a value that is no number any more', update('9000', 'many'), false],
  ['a number that was none before', update(null, '9000'), true],
  ['the limit itself', update('0', '5000.0000'), false],
] as const)('%s: %o is told: %s', (_, event, isReported) => {
  expect(isMatch(ABOVE, event)).toBe(isReported);
});

test('a field that changed is told of updates alone', () => {
  const rule: AlertRule = { kind: 'clients', field: 'credit', changed: true };
  expect(isMatch(rule, update('1', '2'))).toBe(true);
  expect(isMatch(rule, { ...update('1', '2'), fields: '{"nom":["a","b"]}' })).toBe(false);
  expect(isMatch(rule, { ...update('1', '2'), change: 'created' })).toBe(false);
});

const ERP = {
  name: 'erp',
  url: 'http://127.0.0.1/',
  kinds: null,
  changes: null,
  fields: null,
  format: 'json',
} as const;
const START = new Date('2026-03-01T12:00:00Z');
const after = (minutes: number): Date => new Date(START.getTime() + minutes * 60_000);

async function notifiedSeqs(session: Session): Promise<unknown[]> {
  const rows = await session.query(sql`select body from webhook_deliveries order by id`);
  return rows.map(
    ({ body }) => (JSON.parse(String(body)) as { readonly data: { readonly seqs: unknown } }).data.seqs,
  );
}

describe.each(DATABASES)('on %s', (database) => {
  test('a rule tells at once, then at most every ten minutes, of every change once, and of none before it was set', async () => {
    const { session } = await mirrorIn(database);
    await addEndpoint(session, ERP, { allowHosts: ['127.0.0.1'], now: START });
    const rise = (id: string) => ({
      ...update('1', '9000'),
      record_id: id,
      observed_at: '2026-03-01 12:00:00.000',
    });
    await putChanges(session, rise('1'));
    await matchNewChanges(session, ABOVE, START);
    await putChanges(session, rise('2'), { ...rise('3'), kind: 'providers' });
    await matchNewChanges(session, ABOVE, after(1));
    await putChanges(session, rise('4'));
    await matchNewChanges(session, ABOVE, after(2));
    await putChanges(session, rise('5'), { ...rise('6'), ...update('9000', '9001') });
    await matchNewChanges(session, ABOVE, after(10.9));
    expect(await notifiedSeqs(session)).toEqual([[2]]);
    await matchNewChanges(session, ABOVE, after(11));
    await matchNewChanges(session, ABOVE, after(30));
    expect(await notifiedSeqs(session)).toEqual([[2], [4, 5]]);
  });

  test('of two processes that judge the same changes, one tells them', async () => {
    const { session } = await mirrorIn(database);
    await addEndpoint(session, ERP, { allowHosts: ['127.0.0.1'], now: START });
    await matchNewChanges(session, ABOVE, START);
    await putChanges(session, {
      ...update('1', '9000'),
      record_id: '1',
      observed_at: '2026-03-01 12:00:00.000',
    });
    await Promise.all([
      matchNewChanges(session, ABOVE, after(1)),
      matchNewChanges(session, ABOVE, after(1.01)),
    ]);
    expect(await notifiedSeqs(session)).toEqual([[1]]);
  });
});
