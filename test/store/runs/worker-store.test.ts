import { describe, expect, test } from 'vitest';
import { listStaleWorkers, removeWorker, saveHeartbeat } from '../../../src/store/runs/worker-store.ts';
import { DATABASES } from '../databases.ts';
import { NOON, later } from '../temp-mirror.ts';

const lives = (): boolean => false;
const DAY = 86_400_000;

describe.each(DATABASES)('workers in %s', (_, open) => {
  test('one that is not seen for 45 s is dead', async () => {
    const session = await open();
    await saveHeartbeat(session, { owner: 'a', roles: ['outbox'] }, NOON);
    await saveHeartbeat(session, { owner: 'b', roles: ['outbox'] }, NOON);
    await saveHeartbeat(session, { owner: 'b', roles: ['outbox'] }, later(30_000));
    expect(await listStaleWorkers(session, { now: later(44_999), isDead: lives })).toEqual([]);
    expect(await listStaleWorkers(session, { now: later(45_000), isDead: lives })).toEqual(['a']);
    expect(await listStaleWorkers(session, { now: later(75_000), isDead: lives })).toEqual(['a', 'b']);
  });

  test('one that is gone for certain is dead at once', async () => {
    const session = await open();
    await saveHeartbeat(session, { owner: 'a', roles: [] }, NOON);
    expect(await listStaleWorkers(session, { now: NOON, isDead: (owner) => owner === 'a' })).toEqual(['a']);
  });

  test('one that has left is not among the dead', async () => {
    const session = await open();
    await saveHeartbeat(session, { owner: 'a', roles: [] }, NOON);
    await removeWorker(session, 'a');
    expect(await listStaleWorkers(session, { now: later(DAY), isDead: lives })).toEqual([]);
  });

  test('the dead are forgotten after a day, and one that wakes then is entered anew', async () => {
    const session = await open();
    await saveHeartbeat(session, { owner: 'a', roles: [] }, NOON);
    await saveHeartbeat(session, { owner: 'b', roles: [] }, later(DAY + 1));
    expect(await listStaleWorkers(session, { now: later(DAY + 1), isDead: lives })).toEqual([]);
    await saveHeartbeat(session, { owner: 'a', roles: [] }, later(DAY + 2));
    expect(
      await listStaleWorkers(session, { now: later(DAY + 2), isDead: (owner) => owner === 'a' }),
    ).toEqual(['a']);
  });
});
