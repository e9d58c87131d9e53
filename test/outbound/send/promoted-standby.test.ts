import { expect, onTestFinished, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { resumeSends } from '../../../src/outbound/freeze.ts';
import { readFrozen } from '../../../src/store/outbox/freeze-store.ts';
import { migrate } from '../../../src/views/migrate.ts';
import { sandbox } from '../../pull/support.ts';
import { openForTest } from '../../store/postgres-mirror.ts';
import { canary } from '../../support/canary.ts';
import { behindPgBouncer } from '../../support/pgbouncer.ts';
import { gateTo } from '../../support/gate.ts';
import { startPostgresServer } from '../../support/postgres-server.ts';
import { asked, create, stage } from '../stage.ts';

/** A mirror at an address behind which a standby takes the place of its primary. @param pool Stands before that address. */
async function failingOver(pool: (url: string) => Promise<string> = (url) => Promise.resolve(url)) {
  const server = await startPostgresServer({ password: canary('-promoted'), settings: ['fsync=off'] });
  onTestFinished(server.stop);
  const standby = await server.standby();
  const gate = await gateTo(server.url);
  onTestFinished(() => gate[Symbol.asyncDispose]());
  const url = new URL(server.url);
  url.port = new URL(gate.url).port;
  const session = await openForTest(await pool(url.href));
  await migrate(session, KINDS);
  const on = stage(await sandbox(), session);
  await on.pull('clients', 'purchase_products');
  const leadToStandby = async (): Promise<void> => {
    gate.shut();
    gate.lead(standby.url);
    await gate.open();
  };
  return { on, standby, leadToStandby };
}

test.each<[string, (url: string) => Promise<string>]>([
  ['on connections of its own', (url) => Promise.resolve(url)],
  ['behind PgBouncer, which hides that the server is another one', (url) => behindPgBouncer(url, 3)],
])(
  'creates that a standby has forgotten are not made again after its promotion: a mirror %s',
  async (_how, pool) => {
    const { on, standby, leadToStandby } = await failingOver(pool);
    const idle = stage(on.service, on.session, { clock: on.clock, parts: { owner: 'us:2:b' } });
    await idle.outbox.due(0);
    const line = { purchase_id: '77', product_id: 'P-1' };
    const ids = [
      await on.store(create()),
      await on.store(create({ code: 'ZZ-2', name: 'Zed' })),
      await on.store(create(line, 'purchase_products')),
    ];
    await standby.fallBehind();
    await on.work();
    for (const id of ids) expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(asked(on, 'POST')).toHaveLength(3);

    await standby.promote();
    await leadToStandby();
    for (const id of ids) expect(await on.entry(id)).toMatchObject({ state: 'ready', attempts: 0 });
    await idle.work();
    await on.work();
    expect(asked(on, 'POST')).toHaveLength(3);
    if ((await readFrozen(on.session)) !== null) await resumeSends(on.session, on.parts.sendCounter);
    await idle.work();
    await on.work();
    expect(asked(on, 'POST')).toHaveLength(3);
    for (const id of ids) expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'existed' });
  },
);

test('a standby refuses writes in words, and takes them without a restart once it is promoted', async () => {
  const { on, standby, leadToStandby } = await failingOver();
  await standby.fallBehind();
  await leadToStandby();
  on.service.world.insert('clients', { code: 'NEW-1', name: 'New' });
  await expect(on.pull('clients')).rejects.toMatchObject({ code: 'mirror.not_writable' });
  await standby.promote();
  await on.pull('clients');
  expect((await on.events()).at(-1)).toMatch(/ created service$/);
});
