import { expect, onTestFinished, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { migrate } from '../../../src/views/migrate.ts';
import { sandbox } from '../../pull/support.ts';
import { openForTest } from '../../store/postgres-mirror.ts';
import { canary } from '../../support/canary.ts';
import { startPostgresServer } from '../../support/postgres-server.ts';
import { create, stage } from '../stage.ts';

/** A server that answers a commit before it is on the disk, and writes its log every ten seconds. */
const FORGETFUL = ['synchronous_commit=off', 'wal_writer_delay=10s', 'autovacuum=off'];

test('a database server that crashes between a create and its answer still knows that it was sent', async () => {
  const server = await startPostgresServer({ password: canary('-crashing'), settings: FORGETFUL });
  onTestFinished(server.stop);
  const session = await openForTest(server.url);
  await migrate(session, KINDS);
  const on = stage(await sandbox(), session);
  await on.pull('clients');
  const { write } = on.parts.source;
  const parts = {
    ...on.parts,
    source: {
      ...on.parts.source,
      write: async (...request: Parameters<typeof write>) => {
        const answer = await write(...request);
        await server.crash();
        return answer;
      },
    },
  };
  const crashing = stage(on.service, session, { parts, clock: on.clock });
  const ids = [];
  for (let n = 1; n <= 3; n++) {
    ids.push(await on.store(create({ code: `C-${n}`, name: `C ${n}` })));
    await crashing.work();
  }

  const { world } = on.service;
  const made = world.ids('clients').map((id) => world.get('clients', id)?.['code']);
  expect(made.filter((code) => typeof code === 'string' && code.startsWith('C-'))).toEqual([
    'C-1',
    'C-2',
    'C-3',
  ]);
  for (const id of ids) expect(await on.entry(id)).toMatchObject({ state: 'done', attempts: 1 });
});
