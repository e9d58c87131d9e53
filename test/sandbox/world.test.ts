import { expect, test } from 'vitest';
import { compactJson } from '../../src/lib/json/json.ts';
import { SERVED_KINDS } from '../../sandbox/served-kinds.ts';
import { createWorld, type World } from '../../sandbox/world.ts';
import { textOf } from './text-of.ts';

const worldOf = (options: Partial<Parameters<typeof createWorld>[0]> = {}): World =>
  createWorld({ size: 40, seed: 1, systemId: 7, ...options });

const recordsOf = (world: World, kind: string) => world.ids(kind).map((id) => world.get(kind, id) ?? {});
const everything = (world: World) =>
  SERVED_KINDS.map(({ name }) => compactJson(recordsOf(world, name))).join('\n');

test('the same seed makes the same company', () => {
  expect(everything(worldOf())).toBe(everything(worldOf()));
});

test('another seed makes other records under the same ids', () => {
  const one = worldOf();
  const other = worldOf({ seed: 2 });
  expect(other.ids('projects')).toEqual(one.ids('projects'));
  expect(everything(other)).not.toBe(everything(one));
});

test('its records end on the day that it is given', () => {
  const world = worldOf({ today: new Date('2031-05-17T21:00:00Z') });
  const days = recordsOf(world, 'punches')
    .map(({ date }) => textOf(date))
    .toSorted();
  expect(days.at(-1)).toBe('2031-05-17');
  expect(textOf(world.insert('clients', {})['creation_date'])).toBe('2031-05-17');
});

test('another company shares no id', () => {
  const one = worldOf();
  const other = worldOf({ systemId: 8 });
  for (const { name } of SERVED_KINDS) {
    const ids = new Set(one.ids(name));
    expect(other.ids(name).filter((id) => ids.has(id))).toEqual([]);
  }
});

test('a record does not depend on whether others were asked for', () => {
  const one = worldOf();
  const other = worldOf();
  const id = one.ids('clients')[9] ?? 0;
  recordsOf(one, 'clients');
  expect(one.get('clients', id)).toEqual(other.get('clients', id));
});

test.each([1, 2, 3, 7, 10, 40, 501])('every id is listed once at size %i', (size) => {
  const world = worldOf({ size });
  for (const { name } of SERVED_KINDS) {
    expect(new Set(world.ids(name)).size).toBe(world.count(name));
    expect(recordsOf(world, name).map((record) => record['id'])).toEqual(world.ids(name));
  }
});

test.each([2, 40, 5000])('lists are sorted as documented at size %i', (size) => {
  const world = worldOf({ size });
  const sorted = (ids: readonly number[]) => [...ids].sort((a, b) => a - b);
  for (const kind of ['projects', 'punches', 'purchase_products', 'categories'])
    expect(world.ids(kind)).toEqual(sorted(world.ids(kind)));
  expect(world.ids('products')).toEqual(sorted(world.ids('products')).reverse());
  for (const kind of ['clients', 'providers']) {
    const codes = recordsOf(world, kind).map(({ code }) => textOf(code));
    expect(codes).toEqual([...codes].sort());
  }
  const pickups = recordsOf(world, 'bookings').map(
    ({ pickup_date: day, id }) => `${textOf(day)} ${textOf(id)}`,
  );
  expect(pickups).toEqual([...pickups].sort().reverse());
});

test('clients and bookings are not listed in the order of their creation', () => {
  const rises = (ids: readonly number[]) => ids.every((id, at) => id > (ids[at - 1] ?? 0));
  expect(rises(worldOf().ids('clients'))).toBe(false);
  expect(rises([...worldOf().ids('bookings')].reverse())).toBe(false);
});

test('a new record takes its place in the order', () => {
  const world = worldOf();
  const last = Math.max(...world.ids('clients'));
  expect(world.insert('clients', { code: '000000' })['id']).toBe(last + 1);
  expect(world.ids('clients')[0]).toBe(last + 1);
  world.insert('clients', { code: 'ZZZZ' });
  expect(world.ids('clients').at(-1)).toBe(last + 2);
});

test('an inserted record is complete and keeps the id that it brings', () => {
  const world = worldOf();
  expect(world.insert('providers', { id: 5, name: 'Acier' })).toMatchObject({
    id: 5,
    name: 'Acier',
    credit: null,
  });
  expect(() => world.insert('providers', { id: 5 })).toThrow('already has providers with id 5');
});

test('a changed code moves the record, any other change leaves it', () => {
  const world = worldOf();
  const [first = 0, ...others] = world.ids('clients');
  world.update('clients', first, { city: 'Matane' });
  expect(world.ids('clients')).toEqual([first, ...others]);
  world.update('clients', first, { code: 'ZZZZ' });
  expect(world.ids('clients')).toEqual([...others, first]);
  expect(world.get('clients', first)).toMatchObject({ city: 'Matane', code: 'ZZZZ' });
});

test('a changed pickup date moves a booking', () => {
  const world = worldOf();
  const oldest = world.ids('bookings').at(-1) ?? 0;
  world.update('bookings', oldest, { pickup_date: '2030-01-01' });
  expect(world.ids('bookings')[0]).toBe(oldest);
});

test('a removed record is gone, and its id is never given again', () => {
  const world = worldOf();
  const last = world.ids('projects').at(-1) ?? 0;
  const before = world.count('projects');
  world.remove('projects', last);
  expect(world.get('projects', last)).toBeUndefined();
  expect(world.count('projects')).toBe(before - 1);
  expect(world.insert('projects', {})['id']).toBe(last + 1);
  expect(() => {
    world.remove('projects', last);
  }).toThrow('no projects with id');
});

test('any run of changes leaves every list sorted and whole', () => {
  const world = worldOf({ size: 200 });
  for (let turn = 0; turn < 300; turn++) {
    const ids = world.ids('clients');
    const id = ids[(turn * 37) % ids.length] ?? 0;
    if (turn % 3 === 0) world.insert('clients', { code: `M${(turn * 7919) % 1000}` });
    else if (turn % 3 === 1) world.update('clients', id, { code: `K${(turn * 31) % 50}` });
    else world.remove('clients', id);
  }
  const places = recordsOf(world, 'clients').map(({ code, id }) => `${textOf(code)} ${textOf(id)}`);
  expect(places).toEqual([...places].sort());
  expect(world.count('clients')).toBe(200);
});

test('a kind that is not served is refused', () => {
  expect(() => worldOf().count('unicorns')).toThrow('no kind named unicorns');
});
