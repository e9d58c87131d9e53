import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { openMirror } from '../../src/app/open-mirror.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Session } from '../../src/db/session/session.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { run, settingsFor } from '../support/command-line.ts';
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
