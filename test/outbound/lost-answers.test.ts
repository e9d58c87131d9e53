import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { Entry } from '../../src/store/outbox/outbox-store.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { sized } from '../support/tiers.ts';
import { asked, create, enter, opened, type Stage } from './stage.ts';

const CREATES = sized({ quick: 60, acceptance: 200, deep: 200 });
const LOST = CREATES / 10;
const PATIENCE = [300, 3300, 18_000, 21_600, 43_200];

const NAMES = ['Garage Lévesque', 'Atelier du Nord', "L'Étoile & fils", 'Zoé Tremblay', 'Noël Côté'];
const wish = (number: number) => ({
  code: `ZZ-${1000 + number}`,
  name: `${NAMES[number % 5]} ${1000 + number}`,
});

/** Every tenth answer is lost: of a create that arrived, and of one that did not, in turn. A lost request is no longer counted. */
function faults(): Fault[] {
  return Array.from({ length: LOST }, (_none, lost): Fault => ({
    on: { kind: 'clients', method: 'POST' },
    skip: 5 + 9 * lost,
    times: 1,
    do: { drop: lost % 2 === 0 ? 'after' : 'before' },
  }));
}

/** The service gives its records numbers of its own before the codes, and writes names in capitals. */
function alterKeys({ service: { world } }: Stage): void {
  const insert = world.insert.bind(world);
  let next = 0;
  Object.assign(world, {
    insert: (kind: string, fields: JsonObject) => {
      const code = fields['code'];
      const name = fields['name'];
      if (typeof code !== 'string' || typeof name !== 'string') throw new TypeError('A client has both.');
      return insert(kind, { ...fields, code: `${++next}/${code}`, name: name.toUpperCase() });
    },
  });
}

const endsWith = (value: unknown, text: string): boolean => String(value).endsWith(text);

async function play(on: Stage): Promise<Entry[]> {
  on.service.setFaults(faults());
  const ids: number[] = [];
  for (let number = 0; number < CREATES; number++) ids.push(await on.store(create(wish(number))));
  for (let stranger = 0; stranger < 5; stranger++) {
    enter(on, { code: `S-${stranger}`, name: `Somebody else ${stranger}` });
    await on.work();
    await on.clock.sleep(60_000);
  }
  for (const seconds of PATIENCE) await on.pass(seconds);
  for (const seconds of PATIENCE) await on.pass(seconds);
  return Promise.all(ids.map((id) => on.entry(id)));
}

function tally({ service: { world } }: Stage, entries: readonly Entry[]) {
  const codes = world.ids('clients').map((id) => world.get('clients', id)?.['code']);
  const made = entries.map(
    (_entry, number) => codes.filter((code) => endsWith(code, wish(number).code)).length,
  );
  const counts: Record<string, number> = {};
  for (const { state, verdict } of entries)
    counts[`${state} ${verdict}`] = (counts[`${state} ${verdict}`] ?? 0) + 1;
  return {
    doubled: made.filter((count) => count > 1).length,
    missing: made.filter((count, number) => count === 0 && entries[number]?.state === 'done').length,
    counts,
  };
}

test(`of ${CREATES} creates of which ${LOST} lose their answer none is doubled, beside five records of strangers`, async () => {
  const on = await opened();
  const { doubled, missing, counts } = tally(on, await play(on));
  expect({ doubled, missing }).toEqual({ doubled: 0, missing: 0 });
  expect(counts).toEqual({
    'done sent': CREATES - LOST,
    'done adopted': LOST / 2,
    'done resent': LOST / 2,
  });
  expect(asked(on, 'POST')).toHaveLength(CREATES + LOST / 2);
});

test('of as many at a service that gives its records other keys and names none is doubled either', async () => {
  const on = await opened();
  alterKeys(on);
  const { doubled, missing, counts } = tally(on, await play(on));
  expect({ doubled, missing }).toEqual({ doubled: 0, missing: 0 });
  expect(counts).toEqual({
    'done altered': CREATES - LOST,
    'parked look_alike': LOST / 2,
    'parked alters_keys': LOST / 2,
  });
  expect(asked(on, 'POST')).toHaveLength(CREATES);
});
