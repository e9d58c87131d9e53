import { describe, expect, test } from 'vitest';
import { createSinglePageReader } from '../../../src/pull/freshness/read-single-page.ts';
import { ZOE, create, enter, opened, spoil, zoes, type Stage } from '../../outbound/stage.ts';
import { ONE_DATABASE, kindsNamed, newRequests, type MIRRORS } from '../steps.ts';
import { RULES } from '../support.ts';
import { partsOf } from './reading.ts';

/** Half an hour after a create without an answer: the searches so far have found its list exactly known, and without it. */
async function searched(database: keyof typeof MIRRORS): Promise<{ on: Stage; id: number }> {
  const on = await opened({ database });
  spoil(on, 'POST', { drop: 'before' }, { times: 1 });
  const id = await on.store(create());
  await on.work();
  await on.pass(300);
  await on.pass(1500);
  expect(await on.entry(id)).toMatchObject({ state: 'unsettled' });
  return { on, id };
}

/** Reads the pages of the list one by one, then works what is due. */
async function readAll({ service, session, clock, work }: Stage): Promise<void> {
  const read = createSinglePageReader(partsOf({ service, session, clock }), {
    baseUrl: service.url,
    rules: RULES,
  });
  for (const kind of kindsNamed('clients')) {
    const pages = Math.ceil(service.world.ids('clients').length / 100);
    for (let page = 1; page <= pages; page++) expect(await read(kind, page)).toMatchObject({ is: 'landed' });
  }
  await work();
}

describe.each(ONE_DATABASE)(
  'a create of ours that a reading between sweeps may have shown, in %s',
  (database) => {
    test('is adopted at once if it is the record that was seen', async () => {
      const { on, id } = await searched(database);
      const late = enter(on, ZOE);
      await readAll(on);
      expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', recordId: late });
      expect(zoes(on)).toBe(1);
    });

    test('is not decided by any other record: that is for the next search, or a sweep', async () => {
      const { on, id } = await searched(database);
      const { nextAttemptAt } = await on.entry(id);
      const requests = newRequests(on.service);
      for (const code of ['zz-1', 'zz-01']) {
        enter(on, { ...ZOE, code, name: 'ZOE' });
        await readAll(on);
      }
      enter(on, { name: 'Another' });
      await readAll(on);
      expect(await on.entry(id)).toMatchObject({ state: 'unsettled', nextAttemptAt });
      const pages = Math.ceil(on.service.world.ids('clients').length / 100);
      expect(requests()).toHaveLength(3 * pages); // And no sweep was asked for.
      for (const seconds of [1800, 18_000, 21_600, 43_200]) await on.pass(seconds);
      expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'look_alike' });
    });

    test('is looked for when a sweep ends, whatever readings have shown before', async () => {
      const { on, id } = await searched(database);
      enter(on, { ...ZOE, code: 'zz-1', name: 'ZOE' });
      await readAll(on);
      const late = enter(on, ZOE);
      await on.clock.sleep(60_000);
      await on.pull('clients');
      await on.work();
      expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', recordId: late });
    });
  },
);
