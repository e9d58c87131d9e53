import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { keyText } from '../../src/diff/match.ts';
import { preferredWait } from '../../src/http/limits.ts';
import { insertUser, type UserRole } from '../../src/store/users/user-store.ts';
import { changeEntry } from '../../src/store/outbox/outbox-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { VERDICTS } from '../../src/words/verdicts.ts';
import { jsonOf, serveMirror, TOKEN, type Stage } from '../http/stage.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { NOON, putRecords } from '../store/temp-mirror.ts';
import { byTheClock } from '../support/tiers.ts';

const client = (code: string) => ({ operation: 'create', kind: 'clients', data: { code } });

const push = (stage: Stage, key: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  stage.post('/v1/outbox', client(key), { 'idempotency-key': key, ...headers });

const end = (session: Session, id: number): Promise<boolean> =>
  session.atomically((tx) =>
    changeEntry(tx, { id, epoch: 0, patch: { state: 'done', verdict: 'sent', recordId: '501' }, now: NOON }),
  );

const countEntries = async (session: Session): Promise<number> =>
  Number((await session.query(sql`select count(*) as n from outbox`))[0]?.['n']);

const isStored = (session: Session, count: number) => expect.poll(() => countEntries(session)).toBe(count);

describe.each(ONE_DATABASE)('a push that waits, over a mirror in %s', (_name, open) => {
  test('is answered with the outcome as soon as there is one, a repeated one too', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    const waiting = push(stage, 'C-1', { prefer: 'respond-async, wait=20' });
    await isStored(session, 1);
    await end(session, 1);
    const answer = await waiting;
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([202, 'wait=20']);
    const outcome = { id: 1, key: 'C-1', state: 'done', recordId: '501', verdict: 'sent', result: null };
    expect(await jsonOf(answer)).toMatchObject({ ...outcome, isNew: true, notes: [] });
    const again = await push(stage, 'C-1', { prefer: 'wait=90' });
    expect([again.status, again.headers.get('preference-applied')]).toEqual([200, 'wait=30']);
    expect(await jsonOf(again)).toMatchObject({ ...outcome, isNew: false });
    const plain = await push(stage, 'C-1');
    expect([plain.headers.get('preference-applied'), await jsonOf(plain)]).toEqual([
      null,
      expect.not.objectContaining({ verdict: 'sent' }),
    ]);
  });
});

describe.each(ONE_DATABASE)('pushes that wait, over a mirror in %s', (_name, open) => {
  test('end as they are once the server closes', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    const waiting = push(stage, 'C-1', { prefer: 'wait=30' });
    await isStored(session, 1);
    await stage.app.close();
    const answer = await waiting;
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([202, 'wait=30']);
    const meaning = VERDICTS.writes_off; // The one reason why it waits.
    expect(await jsonOf(answer)).toMatchObject({
      ...{ state: 'ready', verdict: 'writes_off', meaning },
      notes: [`${meaning} (writes_off)`],
    });
  });

  test('are eight of a user; the next is answered at once, and a place is free once a caller has hung up', async () => {
    const session = await open();
    await session.atomically((tx) => insertUser(tx, { name: 'shop', role: 'writer', token: 'of-shop' }));
    const stage = await serveMirror(session);
    const gone = new AbortController();
    const hold = (n: number) =>
      fetch(`${stage.url}/v1/outbox`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          'idempotency-key': `H-${n}`,
          prefer: 'wait=30',
        },
        body: JSON.stringify(client(`H-${n}`)),
        signal: gone.signal,
      }).catch(() => null);
    const held = Array.from({ length: 8 }, (_, n) => hold(n));
    await isStored(session, 8);
    const ninth = await push(stage, 'C-9', { prefer: 'wait=30' });
    expect([ninth.status, ninth.headers.get('preference-applied')]).toEqual([202, null]);
    const other = push(stage, 'C-10', { prefer: 'wait=30', authorization: 'Bearer of-shop' });
    await isStored(session, 10);
    await end(session, 10);
    expect((await other).headers.get('preference-applied')).toBe('wait=30');
    gone.abort();
    await Promise.all(held);
    await end(session, 9);
    await expect
      .poll(async () => (await push(stage, 'C-9', { prefer: 'wait=30' })).headers.get('preference-applied'))
      .toBe('wait=30');
  });
});

test.each([
  [undefined, 0],
  ['', 0],
  ['wait=20', 20],
  ['respond-async, WAIT = "7"; x=1', 7],
  ['wait=5, wait=20', 5],
  ['wait=31', 30],
  ['wait=abc, wait=20', 0],
  ['wait=-1', 0],
  ['x="a, wait=9", y', 0],
  ['await=9', 0],
])('of the preference %j, the push waits %d seconds', (prefer, seconds) => {
  expect(preferredWait(prefer)).toBe(seconds);
});

const NDJSON = 'application/x-ndjson';

const linesOf = (...lines: readonly object[]): string => lines.map((line) => JSON.stringify(line)).join('\n');

const batch = (stage: Stage, body: string | Buffer, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${stage.url}/v1/outbox/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': NDJSON, ...headers },
    body,
  });

const ADA = { ...client('A-1'), key: 'ada' };
const BEA = { ...client('B-1'), key: 'bea' };

describe.each(ONE_DATABASE)('a batch, over a mirror in %s', (_name, open) => {
  test('is stored line by line, once: repeated it has the same entries', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    const text = `${linesOf(ADA)}\r\n\n${linesOf(BEA)}\n`;
    const first = await batch(stage, text);
    expect([first.status, await jsonOf(first)]).toEqual([
      202,
      {
        entries: [
          expect.objectContaining({ id: 1, key: 'ada', isNew: true }),
          expect.objectContaining({ id: 2, key: 'bea', isNew: true }),
        ],
        notes: [expect.stringContaining('(writes_off)')],
      },
    ]);
    expect(stage.wakes()).toBe(1);
    const again = await batch(stage, text);
    expect([again.status, (await jsonOf(again))['entries']]).toEqual([
      200,
      [expect.objectContaining({ id: 1, isNew: false }), expect.objectContaining({ id: 2, isNew: false })],
    ]);
    const more = await batch(stage, linesOf(BEA, { ...client('C-1'), key: 'cleo' }));
    expect([more.status, await countEntries(session)]).toEqual([202, 3]);
  });

  test.each<[string, readonly object[], number, string, string]>([
    ['another body under a known key', [BEA, { ...ADA, data: { code: 'A-2' } }], 409, 'outbox.key_taken', 'line 2: The key "ada" belongs to entry 1'], // prettier-ignore
    ['the key of a plan', [BEA, { ...ADA, key: 'plan:3:2' }], 422, 'outbox.invalid', 'line 2: key: only a row of a plan has the key plan:3:2'], // prettier-ignore
    ['a key twice', [BEA, BEA], 422, 'outbox.invalid', 'line 2: key: line 1 has the same'],
    ['a natural key twice', [BEA, { ...BEA, key: 'bea-2' }], 422, 'outbox.double', 'line 2: line 1 creates a record of clients with the same natural key.'], // prettier-ignore
    ['the natural key of an entry', [BEA, { ...ADA, key: 'ada-2' }], 422, 'outbox.double', 'line 2: Entry 1 of the outbox creates'], // prettier-ignore
    ['the natural key of a record', [BEA, { ...client('R-17'), key: 'r' }], 422, 'outbox.double', 'line 2: Record 17 of clients has'], // prettier-ignore
    [
      'a line without a key',
      [BEA, client('C-1')],
      422,
      'outbox.invalid',
      'line 2: key: expected your own key',
    ],
    ['a faulty line', [BEA, { ...client('C-1'), key: 'c', kind: 'klients' }], 422, 'outbox.invalid', 'line 2: kind: there is no record kind'], // prettier-ignore
    [
      'an unknown member',
      [BEA, { ...client('C-1'), key: 'c', dta: 1 }],
      422,
      'outbox.invalid',
      'line 2: unknown: dta',
    ],
    ['nothing', [], 422, 'outbox.invalid', 'The batch has 0 lines.'],
  ])('with %s stores nothing', async (_case, lines, status, code, detail) => {
    const session = await open();
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [{ id: '17', code: 'R-17', _raw: '{"id":17,"code":"R-17"}' }]),
    );
    const stage = await serveMirror(session);
    expect((await batch(stage, linesOf(ADA))).status).toBe(202);
    const refused = await batch(stage, linesOf(...lines));
    expect([refused.status, await jsonOf(refused)]).toEqual([
      status,
      expect.objectContaining({ code, detail: expect.stringContaining(detail) as string }),
    ]);
    expect(await countEntries(session)).toBe(1);
  });

  test('of a thousand lines keeps neither other writers nor reads waiting', async () => {
    const session = await open();
    await session.atomically((tx) =>
      putRecords(
        tx,
        'clients',
        Array.from({ length: 5_000 }, (_, n) => {
          return {
            id: String(n + 1),
            code: `R-${n}`,
            _key: keyText([`R-${n}`]),
            _raw: JSON.stringify({ id: n + 1, code: `R-${n}`, note: 'x'.repeat(700) }),
          };
        }),
      ),
    );
    const stage = await serveMirror(session);
    await stage.get('/health');
    const lines = Array.from({ length: 1_000 }, (_, n) => {
      return { ...client(`N-${n}`), data: { code: `N-${n}`, name: 'y'.repeat(800) }, key: `n-${n}` };
    });
    const pauses = { health: 0, write: 0 };
    let isOver = false;
    const measure = async (name: keyof typeof pauses, work: () => Promise<unknown>): Promise<void> => {
      while (!isOver) {
        const startMs = performance.now();
        await work();
        pauses[name] = Math.max(pauses[name], performance.now() - startMs);
      }
    };
    const others = [
      measure('health', async () => (await stage.get('/health')).text()),
      measure('write', () =>
        session.atomically((tx) => tx.query(sql`update outbox set owner = null where id = 0`)),
      ),
    ];
    const stored = await batch(stage, linesOf(...lines));
    isOver = true;
    await Promise.all(others);
    expect([stored.status, await countEntries(session)]).toEqual([202, 1_000]);
    expect(Math.max(pauses.health, pauses.write)).toBeLessThan(byTheClock(100));
  });
});

describe.each(ONE_DATABASE)('a batch, over a mirror in %s', (_name, open) => {
  test('has limits, is NDJSON in UTF-8, and of a writer creates no second record', async () => {
    const session = await open();
    const token = (role: UserRole) => ({ authorization: `Bearer of-${role}` });
    await session.atomically((tx) => insertUser(tx, { name: 'shop', role: 'writer', token: 'of-writer' }));
    const stage = await serveMirror(session);
    const many = linesOf(
      ...Array.from({ length: 1_001 }, (_, n) => ({ ...client(`N-${n}`), key: `n-${n}` })),
    );
    const answers = [
      await batch(stage, many),
      await batch(stage, ' '.repeat(1_048_577)),
      await batch(stage, Buffer.from([0x7b, 0xff, 0x7d])),
      await batch(stage, linesOf(ADA), { 'content-type': 'application/json' }),
      await batch(stage, linesOf(BEA, { ...ADA, allowDouble: true }), token('writer')),
    ];
    expect(
      await Promise.all(answers.map(async (answer) => [answer.status, (await jsonOf(answer))['code']])),
    ).toEqual([
      [413, 'http.body_too_large'],
      [413, 'http.body_too_large'],
      [400, 'http.not_json'],
      [400, 'http.invalid_request'],
      [403, 'http.forbidden'],
    ]);
    expect(await countEntries(session)).toBe(0);
    expect((await batch(stage, linesOf(ADA), token('writer'))).status).toBe(202);
    const again = await batch(stage, linesOf({ ...ADA, key: 'again' }), token('writer'));
    expect((await jsonOf(again))['hint']).toContain('An operator can create a second record');
  });
});
