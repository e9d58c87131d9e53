import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { isNumber, type Json } from '../../src/lib/json/json.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { document, run, settingsFor } from '../support/command-line.ts';
import { ask, expectEqual } from '../support/mirror-file.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

const DECIMALS = LISTED_KINDS.flatMap((kind) =>
  kind.fields
    .filter(({ type }) => type === 'decimal')
    .map((field) => [kind.name, field.name, field.scale ?? 0] as const),
);

describe('the values of a pulled mirror', () => {
  test('sums of money in SQL are those of the service, to the last digit (C05)', async () => {
    await using sandbox = await startSandbox({ size: 300, seed: 11 });
    const path = await grownMirror();
    await run(['pull'], settingsFor(sandbox, path));

    for (const [kind, field, scale] of DECIMALS) {
      const sent = sandbox.world.ids(kind).map((id) => sandbox.world.get(kind, id)?.[field] ?? null);
      const [row] = ask(
        path,
        `select sum(${field}_e4) as e4, sum(cast(replace(${field}_exact, '.', '') as integer)) as exact from bi_${kind}`,
      );
      const units = sent.reduce((total, value) => total + units10000(value), 0n);
      expect([kind, field, row?.['e4'] ?? 0n]).toEqual([kind, field, units]);
      expect([kind, field, BigInt(String(row?.['exact'] ?? 0)) * 10n ** BigInt(4 - scale)]).toEqual([
        kind,
        field,
        units,
      ]);
    }
    expect(DECIMALS.length).toBeGreaterThan(10);
  });

  test('a credit that comes as a JSON number is exact in the column and untouched in _raw (C05)', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const path = await grownMirror();
    const [first = 0, second = 0, third = 0] = sandbox.world.ids('providers');
    sandbox.world.update('providers', first, { credit: new LosslessNumber('1250.50') });
    sandbox.world.update('providers', second, { credit: new LosslessNumber('12345678901.10') });
    sandbox.world.update('providers', third, { credit: 7 });

    await run(['pull', 'providers'], settingsFor(sandbox, path));

    const rows = ask(path, 'select id, credit, credit_e4, _raw from providers');
    const of = (id: number) => rows.find((row) => row['id'] === BigInt(id));
    expect(of(first)).toMatchObject({ credit: '1250.50', credit_e4: 12505000n });
    expect(of(first)?.['_raw']).toContain('"credit":1250.50');
    expect(of(second)).toMatchObject({ credit: '12345678901.10', credit_e4: 123456789011000n });
    expect(of(second)?.['_raw']).toContain('"credit":12345678901.10');
    expect(of(third)).toMatchObject({ credit: '7.00', credit_e4: 70000n });
    expect(of(third)?.['_raw']).toMatch(/"credit":7[,}]/);
  });

  test('a value that fits no rule costs a null and an issue, never the row (C04, C07)', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const path = await grownMirror();
    const env = settingsFor(sandbox, path);
    const [id = 0] = sandbox.world.ids('clients');
    sandbox.world.update('clients', id, { credit: '1,234.50', creation_date: '2025-02-30' });

    const ended = await run(['pull', '--json'], env);

    expect(ended.code).toBe(0);
    expectEqual(path, sandbox);
    expect(ask(path, `select credit, creation_date from clients where id = ${id}`)).toEqual([
      { credit: null, creation_date: null },
    ]);
    const { issues } = document(await run(['status', '--json'], env)) as { issues: unknown[] };
    expect(issues).toEqual([
      { kind: 'clients', field: 'creation_date', code: 'not_a_date', count: 1 },
      { kind: 'clients', field: 'credit', code: 'not_a_decimal', count: 1 },
    ]);
    expect((await run(['status'], env)).stdout).toMatch(/clients +credit +not_a_decimal +1/);
  });
});

/** A decimal of the service in units of 0.0001, counted apart from the code under test. */
function units10000(value: Json): bigint {
  const text = typeof value === 'string' ? value : isNumber(value) ? String(value) : '';
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '') return 0n;
  const units = BigInt(whole + fraction.padEnd(4, '0'));
  return sign === '-' ? -units : units;
}
