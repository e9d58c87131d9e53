import { expect, test } from 'vitest';
import { document } from '../support/command-line.ts';
import { ownConnection } from '../support/own-connection.ts';
import { PEAK_MEMORY } from '../support/peak-memory.ts';
import { MAIN, runProgram } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { sized } from '../support/tiers.ts';

const ROWS = sized({ quick: 20_000, acceptance: 1_000_000, deep: 1_000_000 });
const MOST_MEGABYTES: Readonly<Record<string, number>> = { csv: 200, ndjson: 200, xlsx: 350 };

/** Puts so many clients into a mirror. */
function fill(path: string, rows: number): void {
  const mirror = ownConnection(path);
  mirror.exec(`
    pragma synchronous = off;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
    insert into clients (id, code, name, inactive, creation_date, address, city, phone, email, credit, credit_real,
      credit_e4, term, contacts, _raw, _first_seen_at, _changed_at, _response, _listed)
    select i, 'C-' || i, 'Ébénisterie ' || (i * 7919 % 100003), 0, '2020-05-01', i || ', rue du Marché', 'Laval',
      '(450) 555-0123', 'info' || i || '@example.com', (i % 5000) || '.50', (i % 5000) + 0.5,
      (i % 5000) * 10000 + 5000, 30, '[]',
      json_object('id', i, 'code', 'C-' || i, 'name', 'Ébénisterie ' || (i * 7919 % 100003), 'inactive', 0,
        'creation_date', '2020-05-01', 'address', i || ', rue du Marché', 'city', 'Laval', 'phone', '(450) 555-0123',
        'email', 'info' || i || '@example.com', 'credit', (i % 5000) || '.50', 'term', 30, 'contacts', json('[]')),
      '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000', 1, 1 from n`);
  mirror.close();
}

test(`an export of ${ROWS} rows takes little memory`, async () => {
  const path = await grownMirror();
  const folder = tempFolder();
  fill(path, ROWS);
  const exports = [['csv'], ['ndjson'], ['xlsx'], ['csv', '--as-of', new Date().toISOString()]];
  for (const [format = '', ...more] of exports) {
    const argv = [
      'export',
      'clients',
      '--format',
      format,
      ...more,
      '--out',
      `${folder}/clients.${format}`,
      '--json',
    ];

    const ended = await runProgram(argv, {
      env: { DATABASE_URL: `file:${path}` },
      main: ['--import', PEAK_MEMORY, MAIN],
    });

    expect(document(ended)).toMatchObject({ rows: ROWS, format });
    const kilobytes = Number(ended.stderr.trimEnd().split('\n').at(-1));
    expect(kilobytes).toBeGreaterThan(10_000);
    expect(kilobytes, `${format} ${more.join(' ')}`).toBeLessThan((MOST_MEGABYTES[format] ?? 0) * 1024);
  }
});
