import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { expect, onTestFinished, test } from 'vitest';
import { resumeSends } from '../../src/outbound/freeze.ts';
import { createOwnSends } from '../../src/outbound/own-sends.ts';
import { readFrozen } from '../../src/store/outbox/freeze-store.ts';
import { saveHeartbeat } from '../../src/store/runs/worker-store.ts';
import { DATABASES } from '../pull/steps.ts';
import { sandbox } from '../pull/support.ts';
import { openForTest } from '../store/postgres-mirror.ts';
import { bystander, sharedPostgres } from '../support/postgres.ts';
import { asked, create, opened, stage, type Stage } from './stage.ts';

const register = (on: Stage): Promise<void> =>
  saveHeartbeat(on.session, { owner: on.parts.owner, roles: ['outbound'] });

const named = (code: string) => create({ code, name: code });

/** A mirror in a database of its own, and how to put an earlier copy in its place, under the connections of whoever uses it. */
async function restorableMirror() {
  const { url: server } = await sharedPostgres('template_grown');
  const admin = await bystander(server);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const copyTo = async (template: string, copy: string): Promise<void> => {
    const end = `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${template}'`;
    await admin.query(end);
    await admin.query(`create database ${copy} template ${template} strategy file_copy`);
    await admin.query(`comment on database ${copy} is 'of the tests'`);
  };
  await copyTo('template_grown', name);
  onTestFinished(async () => {
    await admin.query(`drop database ${name} with (force)`);
  });
  const url = new URL(server);
  url.pathname = name;
  return {
    url: url.href,
    keep: () => copyTo(name, `${name}_kept`),
    restore: async () => {
      await admin.query(`drop database ${name} with (force)`);
      await admin.query(`alter database ${name}_kept rename to ${name}`);
    },
  };
}

test('a database that goes back under two services pauses sends, also if the one that sent is idle', async () => {
  const { url, keep, restore } = await restorableMirror();
  const session = await openForTest(url);
  const on = stage(await sandbox(), session);
  const parts = { owner: 'us:2:b', ownSends: createOwnSends() };
  const other = stage(on.service, await openForTest(url), { parts, clock: on.clock });
  for (const each of [on, other]) await register(each);
  await on.pull('clients');
  await on.store(named('B-1'));
  await other.work();
  const sentAgain = await on.store(named('A-1'));
  await keep();
  await on.work();
  await restore();

  await register(on); // Its heartbeat comes first, and changes nothing about its sends.
  expect(await on.outbox.due(10)).toEqual([]);
  expect((await readFrozen(session))?.reason).toBe(
    '1 sends were made from here, and this database knows of 0',
  );
  await other.work();
  expect(asked(on, 'POST')).toHaveLength(2);

  await on.session.atomically((tx) =>
    tx.query(sql`update outbox set state = 'abandoned' where id = ${sentAgain}`),
  );
  await resumeSends(session, on.parts.sendCounter);
  const next = await on.store(named('A-2'));
  await on.work();
  await other.work();
  expect(await readFrozen(session)).toBeNull();
  expect(await on.entry(next)).toMatchObject({ state: 'done' });
});

test.each(DATABASES)('on %s, a database that went back twice is found twice', async (database) => {
  const on = await opened({ database });
  await register(on);
  await on.store(named('A-1'));
  await on.work();
  for (let times = 1; times <= 2; times++) {
    await on.session.atomically(async (tx) => {
      await tx.query(sql`delete from workers`);
      await tx.query(sql`delete from mirror_meta where key = 'outbox.frozen'`);
    });
    await on.store(named(`A-${times + 1}`));
    await on.work();
    expect(await readFrozen(on.session)).not.toBeNull();
    expect(asked(on, 'POST')).toHaveLength(1);
  }
});
