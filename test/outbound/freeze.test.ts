import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { readMeta, writeMeta } from '../../src/store/kinds/meta.ts';
import { readFrozen } from '../../src/store/outbox/freeze-store.ts';
import { freezeIfRestored, resumeSends } from '../../src/outbound/freeze.ts';
import { logger } from '../pull/support.ts';
import { asked, create, opened, type Stage } from './stage.ts';

const start = (on: Stage): Promise<void> =>
  freezeIfRestored(on.session, on.parts.sendCounter, on.clock.now(), logger);

/** As if this were a copy: the database says that another one sends. */
const moveElsewhere = (on: Stage): Promise<void> =>
  on.session.atomically((tx) => writeMeta(tx, 'outbox.place', 'elsewhere'));

describe('D21: a start', () => {
  test('freezes all sends where more was sent than the database knows of, until a person resumes', async () => {
    const on = await opened();
    on.mark.sends = 3;
    await start(on);
    expect((await readFrozen(on.session))?.reason).toContain('3 sends');
    const id = await on.send(create());
    expect(asked(on, 'POST')).toEqual([]);
    const log = await readMeta(on.session, 'log');
    expect((await resumeSends(on.session, on.parts.sendCounter))?.reason).toContain('3 sends');
    const renewed = await readMeta(on.session, 'log'); // Its numbers come a second time.
    expect(renewed).not.toBe(log);
    await resumeSends(on.session, on.parts.sendCounter);
    expect(await readMeta(on.session, 'log')).toBe(renewed);
    await start(on);
    expect(await readFrozen(on.session)).toBeNull();
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done' });
    expect(on.mark.sends).toBe(4);
  });

  test('freezes where the database is a copy of the one that sends, until a person resumes', async () => {
    const on = await opened();
    await start(on);
    const id = await on.store(create());
    await moveElsewhere(on);
    await start(on);
    expect((await readFrozen(on.session))?.reason).toContain('copy of another');
    await on.work();
    expect(asked(on, 'POST')).toEqual([]);
    await resumeSends(on.session, on.parts.sendCounter);
    await start(on);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done' });
  });

  test('goes on where the database knows of more than the mark: a crash came between the two', async () => {
    const on = await opened();
    await on.send(create());
    on.mark.sends = 0;
    await start(on);
    expect(await readFrozen(on.session)).toBeNull();
  });

  test('goes on in a copy that has no entry', async () => {
    const on = await opened();
    await start(on);
    await moveElsewhere(on);
    await start(on);
    await on.store(create());
    await start(on);
    expect(await readFrozen(on.session)).toBeNull();
  });

  test('freezes where the mirror knows of creations that the outbox does not', async () => {
    const on = await opened();
    const foreign = sql`insert into links values ('clients', '5', 99, '2026-03-01 12:00:00.000')`;
    await on.session.atomically((tx) => tx.query(foreign));
    await start(on);
    expect((await readFrozen(on.session))?.reason).toContain('creates that are not in its outbox');
  });
});

test('the first reason stays', async () => {
  const on = await opened();
  on.mark.sends = 3;
  await start(on);
  on.mark.sends = 9;
  await start(on);
  expect((await readFrozen(on.session))?.reason).toContain('3 sends');
});
