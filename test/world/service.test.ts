import { expect, test } from 'vitest';
import { open } from '../source/open-source.ts';
import { bodiesOf, kindOf } from './bodies.ts';
import { serveWorld } from './http-front.ts';
import { NO_SECRETS } from './secrets.ts';
import { createService, type Service } from './service.ts';
import { DOCUMENTED, drawPersonality, peculiarities, type Personality } from './traits.ts';
import { randomFrom } from '../../sandbox/generate/draw.ts';

const clients = kindOf('clients');

function serviceWith(personality: Partial<Personality>): Service {
  const random = randomFrom('test');
  return createService({
    seed: 1,
    personality: { ...DOCUMENTED, ...personality },
    kinds: [clients],
    rows: 5,
    secrets: NO_SECRETS,
    seedRecord: (kind, number) => bodiesOf(kind).create(number, random),
  });
}

const post = (service: Service, body: unknown, atMs = 0) =>
  service.answer({ method: 'POST', target: '/api/clients', body: JSON.stringify(body) }, atMs);

function listOf(
  service: Service,
  query = '',
  atMs = 0,
): { data: { id: number; code: string; name: string }[]; meta?: object } {
  const outcome = service.answer({ method: 'GET', target: `/api/clients${query}`, body: '' }, atMs);
  if (typeof outcome === 'string') throw new Error(outcome);
  return JSON.parse(outcome.body) as ReturnType<typeof listOf>;
}

test('the same seed gives the same personality, and most seeds some that is not the documented one', () => {
  expect(drawPersonality(7)).toEqual(drawPersonality(7));
  const drawn = Array.from({ length: 200 }, (_none, seed) => peculiarities(drawPersonality(seed)).length);
  expect(drawn.filter((count) => count === 0).length).toBeGreaterThan(5);
  expect(Math.max(...drawn)).toBeGreaterThan(5);
});

test.each([
  ['codes', { codes: 'padded' }, { code: '0000000000zz-9' }],
  ['texts', { texts: 'cut at 12' }, { name: 'Atelier du N' }],
  ['accents', { texts: 'without accents' }, { name: 'Atelier du Nord' }],
  ['fields', { fields: 'one ignored' }, { name: '' }],
] as const)('a record is stored in the form of a service with its own %s', (_what, personality, shown) => {
  const service = serviceWith(personality);
  post(service, { code: 'zz-9', name: 'Atelier du Nord' });
  expect(service.records.get('clients')?.at(0).at(-1)?.content).toMatchObject(shown);
});

test('a list has pages of the size of the personality, and tells of them as it says', () => {
  const service = serviceWith({
    pageSize: '2 rows',
    announced: 'meta without total',
    beyond: 'last page again',
  });
  expect(listOf(service, '?page=3&per_page=100').data).toHaveLength(1);
  expect(listOf(service, '?page=9').data).toEqual(listOf(service, '?page=3').data);
  expect(listOf(service).meta).toEqual({ current_page: 1, last_page: 3, per_page: 2 });
});

test('an id is used again after a deletion where ids are the highest one and one more', () => {
  const service = serviceWith({ ids: 'reused' });
  const records = service.records.get('clients');
  const last = records?.at(0).at(-1)?.id ?? '';
  records?.remove(last, 1);
  post(service, { code: 'zz-9', name: 'Zoé' }, 2);
  expect(records?.find(last, 2)?.content['code']).toBe('zz-9');
});

test('a replica shows what the service was a while ago', () => {
  const service = serviceWith({ replica: 'lists lag' });
  post(service, { code: 'zz-9', name: 'Zoé' }, 100_000);
  expect(listOf(service, '', 100_001).data).toHaveLength(5);
  expect(listOf(service, '', 161_000).data).toHaveLength(6);
});

test('a write that is put off is done later, and known as the send that it was', () => {
  const service = serviceWith({ commit: 'minutes later' });
  for (let number = 0; number < 10; number++) post(service, { code: `zz-${number}`, name: 'Zoé' });
  const late = service.sends.filter(({ outcome }) => outcome === 'put off');
  expect(late.length).toBeGreaterThan(0);
  expect(late.every(({ committed }) => committed === null)).toBe(true);
  service.advance(600_000);
  expect(service.sends.every(({ committed }) => committed !== null)).toBe(true);
});

test('the same service answers over HTTP, and a lost answer is a connection that ends', async () => {
  const service = serviceWith({ lost: 'after the commit', pageSize: '2 rows' });
  await using front = await serveWorld(service, () => 0);
  const { source } = open(front.url, { maxAttempts: 1 });
  let count = 0;
  let tick = 0;
  for await (const { rows } of source.sweep(clients, { thorough: true, tick: () => ++tick })) count += rows;
  expect(count).toBeGreaterThanOrEqual(5);
  const answers = new Set<string>();
  for (let number = 0; number < 12; number++) {
    const body = JSON.stringify({ code: `zz-${number}`, name: 'Zoé' });
    answers.add((await source.write({ kind: clients, operation: 'create', id: null, body })).is);
  }
  expect([...answers].sort()).toEqual(['answered', 'lost']);
  expect(service.sends.every(({ committed }) => committed !== null)).toBe(true);
});
