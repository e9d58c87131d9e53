import { describe, expect, onTestFinished, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { compactJson, type JsonObject } from '../../src/lib/json/json.ts';
import type { FaultAction } from '../../sandbox/faults.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.ts';
import { writtenRecord, type WriteAnswer } from '../../src/source/http/write-answer.ts';
import { holdNextSleep } from '../support/held-sleep.ts';
import { requestNumber } from '../support/requests.ts';
import { deadlinesAfter, documentedKind, open } from './open-source.ts';

const WRITABLE = KINDS.filter(({ create, update }) => create !== null && update !== null);
const CREATE = { kind: documentedKind, operation: 'create', id: null, body: '{"code":"A1"}' } as const;

async function openSandbox(options: SandboxOptions) {
  const sandbox = await startSandbox({ size: 20, ...options });
  onTestFinished(() => sandbox.close());
  return { sandbox, source: open(sandbox.url, { token: sandbox.token }).source };
}

function recordIn(answer: WriteAnswer): JsonObject | null {
  expect(answer).toMatchObject({ is: 'answered', status: 200 });
  return answer.is === 'answered' ? writtenRecord(answer.body ?? null) : null;
}

describe.each(['documented', 'wild'] as const)('with %s envelopes', (envelopes) => {
  test.each(WRITABLE)('one of $name is created, then updated', async (kind) => {
    const { sandbox, source } = await openSandbox({ envelopes });
    const before = sandbox.world.count(kind.name);
    const body = '{"code":"É-1","custom_price":10.50}';
    const created = recordIn(await source.write({ kind, operation: 'create', id: null, body }));
    const id = Number(created?.['id']);
    expect(sandbox.world.count(kind.name)).toBe(before + 1);
    expect(compactJson(created)).toBe(compactJson(sandbox.world.get(kind.name, id) ?? null));
    expect(compactJson(created)).toContain('"custom_price":10.50');

    const update = { kind, operation: 'update', id: String(id), body: '{"custom_price":11}' } as const;
    expect(recordIn(await source.write(update))).toEqual({ ...created, custom_price: 11 });
    expect(sandbox.requests).toHaveLength(2);
  });
});

describe('when things go wrong', () => {
  const CLIENTS = 20;
  const writeWith = async (action: FaultAction, endsAfter?: (sandbox: Sandbox) => Promise<unknown>) => {
    const { sandbox, source } = await openSandbox({ faults: [{ do: action }] });
    if (endsAfter) deadlinesAfter(endsAfter(sandbox));
    const answer = await source.write(CREATE);
    expect(sandbox.requests).toHaveLength(1);
    return { sandbox, answer };
  };
  const countOf = ({ world }: Sandbox): number => world.count('clients');

  test.each<[string, FaultAction, number]>([
    ['D03: dropped after the work', { drop: 'after' }, CLIENTS + 1],
    ['dropped before it', { drop: 'before' }, CLIENTS],
    ['D04: cut in its answer', { truncate: 5 }, CLIENTS + 1],
  ])('%s, a write is lost', async (_, action, count) => {
    const { sandbox, answer } = await writeWith(action);
    expect(answer).toMatchObject({ is: 'lost' });
    expect(countOf(sandbox)).toBe(count);
  });

  test.each<[string, FaultAction, object, number]>([
    ['D02: 500 after the work', { statusAfter: 500 }, { status: 500 }, CLIENTS + 1],
    ['422', { status: 422, body: '{"message":"code"}' }, { body: { message: 'code' } }, CLIENTS],
    ['429', { status: 429, retryAfter: '3' }, { status: 429, retryAfterMs: 3000 }, CLIENTS],
    ['a login page', { html: true }, { status: 200, body: undefined }, CLIENTS],
    ['a cut body', { cut: 5 }, { status: 200, body: undefined }, CLIENTS + 1],
  ])('%s is an answer', async (_, action, expected, count) => {
    const { sandbox, answer } = await writeWith(action);
    expect(answer).toMatchObject({ is: 'answered', ...expected });
    expect(countOf(sandbox)).toBe(count);
  });

  test('D01: a write whose answer is held back is lost, and done', async () => {
    const isDone = (sandbox: Sandbox) => expect.poll(() => countOf(sandbox)).toBe(CLIENTS + 1);
    const { sandbox, answer } = await writeWith({ holdMs: 3_600_000 }, isDone);
    expect(answer).toEqual({ is: 'lost', why: 'timeout' });
    expect(countOf(sandbox)).toBe(CLIENTS + 1);
  });

  test('D05: a write that is lost may be done later', async () => {
    const goOn = holdNextSleep();
    const { sandbox, answer } = await writeWith({ commitAfterMs: 1 }, (service) => requestNumber(service, 1));
    expect(answer).toEqual({ is: 'lost', why: 'timeout' });
    expect(countOf(sandbox)).toBe(CLIENTS);
    goOn();
    await expect.poll(() => countOf(sandbox)).toBe(CLIENTS + 1);
  });
});
