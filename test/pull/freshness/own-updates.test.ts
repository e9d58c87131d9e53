import { describe, expect, test } from 'vitest';
import { createSinglePageReader } from '../../../src/pull/freshness/read-single-page.ts';
import { opened, update, type Stage } from '../../outbound/stage.ts';
import { ONE_DATABASE, kindsNamed } from '../steps.ts';
import { RULES } from '../support.ts';
import { partsOf } from './reading.ts';

async function readFirst({ service, session, clock }: Stage): Promise<void> {
  const read = createSinglePageReader(partsOf({ service, session, clock }), {
    baseUrl: service.url,
    rules: RULES,
  });
  for (const kind of kindsNamed('clients')) expect(await read(kind, 1)).toMatchObject({ is: 'landed' });
}

describe.each(ONE_DATABASE)('a list that lags behind an update of ours, in %s', (database) => {
  test('makes no event of the older state, and hides no later change', async () => {
    const on = await opened({ database });
    const id = await on.firstId('clients');
    on.service.world.update('clients', Number(id), { city: 'Before' });
    await on.pull('clients');
    const before = await on.events();
    const entry = await on.store(update(id, { city: 'Ours' }));
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done' });
    const own = [...before, `${id} updated outbox:${entry}`];

    on.service.world.update('clients', Number(id), { city: 'Before' }); // As a list shows it that is behind.
    await on.clock.sleep(10_000);
    await readFirst(on);
    expect(await on.events()).toEqual(own);
    on.service.world.update('clients', Number(id), { city: 'Ours' });
    await on.clock.sleep(60_000);
    await readFirst(on);
    expect(await on.events()).toEqual(own);

    on.service.world.update('clients', Number(id), { city: 'Theirs' });
    await readFirst(on);
    expect(await on.events()).toEqual([...own, `${id} updated service`]);
  });
});
