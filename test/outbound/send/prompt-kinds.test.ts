import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { renewLog } from '../../../src/store/kinds/meta.ts';
import { isPrompt } from '../../../src/store/outbox/prompt-kinds.ts';
import { noteAlteredKeys } from '../../../src/outbound/send/create.ts';
import { explain } from '../../../src/words/verdicts.ts';
import { ONE_DATABASE } from '../../pull/steps.ts';
import { asked, create, opened, spoil, type Stage } from '../stage.ts';

const DAY = 86_400;
const OWN_FAILURE = { status: 503, body: '{"success":false,"message":"Try later."}' };

/** Creates that are answered, day after day, with a complete sweep after each four. */
async function createDaily(on: Stage, { from = 1, to = 5 } = {}): Promise<void> {
  for (let day = from; day <= to; day++) {
    await on.pass(DAY);
    for (let n = 0; n < 4; n++)
      await on.store(create({ code: `D-${day}-${n}`, name: `Day ${day} no. ${n}` }));
    await on.work();
    await on.clock.sleep(1000);
    await on.pull('clients');
  }
}

/** A create that the service did not carry out, whatever it answered. */
async function failedCreate(on: Stage, action: Parameters<typeof spoil>[2] = OWN_FAILURE): Promise<number> {
  spoil(on, 'POST', action, { times: 1 });
  const id = await on.store(create());
  await on.work();
  on.service.setFaults([]);
  return id;
}

describe.each(ONE_DATABASE)('over a mirror in %s', (database) => {
  test('a create whose failure the service itself answered waits a 24th of patience, and tells why', async () => {
    const on = await opened({ database });
    await createDaily(on);
    const id = await failedCreate(on);
    await on.pass(300);
    const waiting = await on.entry(id);
    expect(waiting).toMatchObject({ state: 'unsettled', attempts: 1 });
    expect(explain(waiting).meaning).toMatch(/sent again at .* the service itself answered that it failed/);
    await on.pass(3300);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent', attempts: 2 });
  });

  test('time stands while the latest sweep has certified nothing', async () => {
    const on = await opened({ database });
    await createDaily(on);
    const id = await failedCreate(on);
    on.service.setFaults([{ on: { kind: 'clients', method: 'GET' }, do: { html: true } }]);
    await on.pass(300);
    await on.pass(3 * 3600 - 300);
    on.service.setFaults([]);
    await on.pull('clients');
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
    await on.pass(3600);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent', attempts: 2 });
  });
});

test.each<[string, Parameters<typeof spoil>[2]]>([
  ['its connection was cut', { drop: 'before' }],
  ['a proxy answered', { status: 503, body: '<html></html>' }],
  ['it was answered with 502', { ...OWN_FAILURE, status: 502 }],
  ['it was answered with 504', { ...OWN_FAILURE, status: 504 }],
])('a create waits all of patience where %s', async (_why, action) => {
  const on = await opened();
  await createDaily(on);
  const id = await failedCreate(on, action);
  for (const seconds of [300, 3300, 3600, 72_000]) await on.pass(seconds);
  expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
  expect(asked(on, 'POST')).toHaveLength(21);
});

describe('a kind is not prompt', () => {
  const isPromptNow = (on: Stage): Promise<boolean> => isPrompt(on.session, 'clients');

  test('before the fifth day', async () => {
    const on = await opened();
    await createDaily(on, { to: 4 });
    for (let n = 0; n < 6; n++) await on.store(create({ code: `M-${n}`, name: `More ${n}` }));
    await on.work();
    await on.clock.sleep(1000);
    await on.pull('clients');
    expect(await isPromptNow(on)).toBe(false);
    await createDaily(on, { from: 5 });
    expect(await isPromptNow(on)).toBe(true);
  });

  test('once the next complete sweep lacks a single create', async () => {
    const on = await opened();
    await createDaily(on);
    const late = await on.store(create());
    await on.work();
    on.service.world.remove('clients', Number((await on.entry(late)).recordId));
    await on.clock.sleep(1000);
    await on.pull('clients');
    expect(await isPromptNow(on)).toBe(false);
  });

  test.each<[string, (on: Stage) => Promise<unknown>]>([
    ['in a mirror that was restored', (on) => on.session.atomically(renewLog)],
    [
      'of another source',
      ({ session }) => session.atomically((tx) => tx.query(sql`update kind_state set known_from = tick`)),
    ],
    [
      'where the service alters natural keys',
      ({ session, clock }) => session.atomically((tx) => noteAlteredKeys(tx, 'clients', clock.now())),
    ],
  ])('%s', async (_where, change) => {
    const on = await opened();
    await createDaily(on);
    expect(await isPromptNow(on)).toBe(true);
    await change(on);
    expect(await isPromptNow(on)).toBe(false);
  });

  test('by creates that were lost, and found later', async () => {
    const on = await opened();
    await createDaily(on, { to: 4 });
    await on.pass(DAY);
    for (let n = 0; n < 4; n++) {
      spoil(on, 'POST', { drop: 'after' }, { times: 1 });
      await on.store(create({ code: `L-${n}`, name: `Lost ${n}` }));
      await on.work();
      await on.pass(300);
    }
    await on.clock.sleep(1000);
    await on.pull('clients');
    expect(await on.rows(sql`select 1 from links`)).toHaveLength(20);
    expect(await isPromptNow(on)).toBe(false);
  });
});
