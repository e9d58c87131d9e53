import { existsSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { expect, onTestFinished, test } from 'vitest';
import { openMirror } from '../../src/app/open-mirror.ts';
import { openSession } from '../../src/db/open-session.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Session } from '../../src/db/session/session.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { document, run, settingsFor } from '../support/command-line.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { freshMirror } from '../support/temp-folder.ts';

const NORMAL = 1;
const FULL = 2;

const open = (url: string): Promise<Session> => openMirror(loadConfig({ env: { DATABASE_URL: url } }));

/** How the connection that writes syncs. */
async function synchronous(session: Session): Promise<unknown> {
  const [row] = await session.atomically((tx) => tx.query(sql`pragma synchronous`));
  return row?.['synchronous'];
}

test('G02: a mirror is opened for speed until a kind has its baseline, and for keeps from then on', async () => {
  await using sandbox = await startSandbox({ size: 10 });
  const path = freshMirror();
  {
    await using fresh = await open(`file:${path}`);
    expect(await synchronous(fresh)).toBe(NORMAL);
  }
  {
    await using again = await open(`file:${path}`);
    expect(await synchronous(again)).toBe(NORMAL);
  }
  await run(['pull', 'departments'], settingsFor(sandbox, path));

  for (let opening = 0; opening < 2; opening++) {
    await using session = await open(`file:${path}`);
    expect(await synchronous(session)).toBe(FULL);
  }
});

test('G02: a first pull that certified nothing leaves no baseline', async () => {
  await using sandbox = await startSandbox({
    size: 10,
    faults: [{ on: { kind: 'departments' }, do: { html: true } }],
  });
  const path = freshMirror();
  await run(['pull', 'departments'], settingsFor(sandbox, path));

  await using session = await open(`file:${path}`);

  expect(await synchronous(session)).toBe(NORMAL);
});

test('PostgreSQL: a mirror with a baseline is opened like any other', async () => {
  const url = await freshDatabaseUrl();
  {
    await using fresh = await open(url);
    await fresh.atomically((tx) =>
      tx.query(sql`
        insert into kind_state (kind, tick, state, complete_sweeps, epoch, baseline_at)
        values ('clients', 9, 'certified', 1, 1, '2026-03-01 12:00:00.000')`),
    );
  }
  await using session = await open(url);
  expect(await session.query(sql`select kind from bi_sync_status where state = 'certified'`)).toEqual([
    { kind: 'clients' },
  ]);
});

const READS: readonly (readonly string[])[] = [
  ['status'],
  ['changes'],
  ['record', 'clients', '1'],
  ['runs'],
  ['runs', 'show', '1'],
  ['outbox'],
  ['outbox', 'show', '1'],
  ['outbox', 'resume'],
  ['deletions'],
  ['deletions', 'approve', 'clients'],
  ['deletions', 'reject', 'clients'],
  ['webhooks'],
  ['outbox', 'retry', '1'],
];

const codeOf = async (argv: readonly string[], url: string): Promise<unknown> => {
  const ended = await run([...argv, '--json'], { DATABASE_URL: url });
  return (document(ended) as { readonly error?: { readonly code: string } }).error?.code;
};

test('what only reads or decides leaves the mirror of an older release as it is, and says who brings it to this one', async () => {
  const url = `file:${freshMirror()}`;
  await run(['migrate'], { DATABASE_URL: url });
  const session = await openSession(url);
  onTestFinished(() => session.close());
  await session.atomically((tx) => tx.query(sql`update mirror_meta set value = '0' where key = 'version'`));
  await session.atomically((tx) => tx.execute('drop view bi_clients'));
  for (const argv of READS) expect([argv, await codeOf(argv, url)]).toEqual([argv, 'mirror.older']);
  const doctor = await run(['doctor'], { DATABASE_URL: url });
  expect(doctor.stdout).toContain('of an older release: back it up, then run bms-sync migrate');
  const version = sql`select value from mirror_meta where key = 'version'`;
  expect(await session.query(version)).toEqual([{ value: '0' }]);
  expect((await session.atomically((tx) => tx.listColumns('bi_clients'))).size).toBe(0);

  expect((await run(['migrate'], { DATABASE_URL: url })).code).toBe(0);
  expect(await codeOf(['status'], url)).toBeUndefined();
});

test.each([
  ['SQLite', () => Promise.resolve(`file:${freshMirror()}`)],
  ['PostgreSQL', () => freshDatabaseUrl()],
])('what only reads or decides makes no mirror where there is none, on %s', async (name, urlOf) => {
  const url = await urlOf();
  for (const argv of READS) expect([argv, await codeOf(argv, url)]).toEqual([argv, 'mirror.absent']);
  if (name === 'SQLite') {
    const path = url.replace('file:', '');
    expect(existsSync(path)).toBe(false);
    const refusal = {
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`There is no mirror at ${path}`) as string,
    };
    expect(await run(['status'], { DATABASE_URL: url })).toMatchObject(refusal);
    return;
  }
  await using session = await openSession(url);
  expect((await session.atomically((tx) => tx.listColumns('mirror_meta'))).size).toBe(0);
});
