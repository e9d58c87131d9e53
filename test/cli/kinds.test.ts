import { existsSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { KindDescription } from '../../src/cli/describe-kind.ts';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { saveFields } from '../../src/store/kinds/field-store.ts';
import { openSession } from '../../src/db/open-session.ts';
import { kindNamed } from '../store/temp-mirror.ts';
import { document, run, type Env } from '../support/command-line.ts';
import { FRESH_DATABASES } from '../support/fresh-databases.ts';
import { freshMirror } from '../support/temp-folder.ts';

const KNOWN = KINDS.map(({ name }) => name);

const kindIn = async (env: Env, kind: string): Promise<KindDescription & { mirror: string }> =>
  document(await run(['kinds', kind, '--json'], env)) as KindDescription & { mirror: string };

describe.each(FRESH_DATABASES.slice(0, 1))('kinds in %s', (_name, place) => {
  test('tells of every kind without a mirror, and makes none', async () => {
    const env = { DATABASE_URL: await place() };
    const asJson = await run(['kinds', '--json'], env);
    expect(asJson).toMatchObject({ code: 0, stderr: '' });
    const { kinds, mirror } = document(asJson) as { kinds: KindDescription[]; mirror: string };
    expect([kinds.map(({ kind }) => kind), mirror]).toEqual([KNOWN, 'absent']);
    expect(await kindIn(env, 'clients')).toMatchObject({ kind: 'clients', mirror: 'absent' });
    const { DATABASE_URL: url } = env;
    if (url.startsWith('file:')) {
      expect(existsSync(url.slice('file:'.length))).toBe(false);
      return;
    }
    await using session = await openSession(url);
    expect(await session.query(sql`select 1 as one from pg_namespace where nspname = 'bms_sync'`)).toEqual(
      [],
    );
  });

  test('tells what the mirror has discovered', async () => {
    const env = { DATABASE_URL: await place() };
    await run(['migrate'], env);
    const fields = new Map([['vip', { type: 'date', fitsHint: true, wire: 'string' }]] as const);
    {
      await using session = await openSession(env.DATABASE_URL);
      await session.atomically((tx) => saveFields(tx, kindNamed('clients'), fields, new Date()));
    }
    const clients = await kindIn(env, 'clients');
    expect(clients.mirror).toBe('read');
    expect(clients.fields.at(-1)).toMatchObject({ name: 'vip', known: 'discovered', meaning: 'date' });
    expect((await run(['kinds', 'clients'], env)).stdout).toMatch(/\nvip +date +discovered +vip +as given\n/);
  });
});

describe('kinds', () => {
  const env = () => ({ DATABASE_URL: `file:${freshMirror()}` });

  test('shows a line a kind to a person', async () => {
    const { code, stdout } = await run(['kinds'], env());
    expect(code).toBe(0);
    for (const kind of KNOWN) expect(stdout).toMatch(new RegExp(`^${kind} `, 'm'));
    expect(stdout).toMatch(/^clients +in pages +yes +yes +yes +code +19$/m);
    expect(stdout).toMatch(/^sales_products +no +yes +no +no +all sent fields +/m);
    expect(stdout).toMatch(/^punches +yes +misprinted +yes +yes +user_id \+ date \+ start_time +/m);
  });

  test('shows one kind field by field to a person', async () => {
    const { stdout } = await run(['kinds', 'clients'], env());
    expect(stdout).toContain(
      'List:        /api/clients, read page by page (page, per_page), in the order: code.\n',
    );
    expect(stdout).toContain(
      'Create:      the documentation shows code, name; which fields are required it does not say.\n',
    );
    expect(stdout).toContain('Natural key: code.\n');
    expect(stdout).toMatch(/\nname +text +documented +name +text +shown\n/);
    expect(stdout).toMatch(/\nadresse2 +text +documented +address2 +text\n/);
    expect(stdout).toMatch(/\n {2}contacts\[\]\.nom +text\n/);
    expect(stdout).toMatch(/\nid +whole number +documented\n/);
  });

  test('tells of a kind of the settings', async () => {
    const kinds = { purchases: { list: '/api/purchases', fields: { total: 'decimal(2)' } } };
    const described = await kindIn({ ...env(), BMS__KINDS: JSON.stringify(kinds) }, 'purchases');
    expect(described).toMatchObject({ declaredBy: 'settings', create: null, retrieve: null });
    expect(described.fields[1]).toMatchObject({
      name: 'total',
      meaning: 'amount with 2 places',
      write: null,
    });
  });
});
