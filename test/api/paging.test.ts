import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { NOON_TEXT } from '../store/temp-mirror.ts';
import { jsonOf, serveMirror, type Stage } from '../http/stage.ts';

const ROWS = 2_500;
const STATES = ['parked', 'ready', 'done', 'rejected', 'unsettled'] as const;

async function addEntries(session: Session, count: number, prefix: string): Promise<void> {
  await session.atomically((tx) =>
    tx.insertRows({
      table: 'outbox',
      columns: ['idempotency_key', 'kind', 'operation', 'payload', 'state'],
      rows: Array.from({ length: count }, (_, n) => [
        `${prefix}-${n}`,
        'clients',
        'create',
        '{}',
        STATES[n % STATES.length] ?? 'ready',
      ]),
    }),
  );
}

async function addRuns(session: Session, count: number): Promise<void> {
  await session.atomically((tx) =>
    tx.insertRows({
      table: 'runs',
      columns: ['command', 'kinds', 'state', 'requested_at'],
      rows: Array.from({ length: count }, () => ['pull', '["clients"]', 'done', NOON_TEXT]),
    }),
  );
}

interface Page {
  readonly ids: readonly number[];
  readonly next: number;
}

async function pageOf({ get }: Stage, path: string): Promise<Page> {
  const { entries, runs, next } = await jsonOf(await get(path));
  const rows = (entries ?? runs) as readonly { readonly id: number }[];
  return { ids: rows.map(({ id }) => id), next: next as number };
}

/** Follows `next` until a page is empty. */
async function walk(
  stage: Stage,
  path: string,
  meanwhile: (n: number) => Promise<void> = () => Promise.resolve(),
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let after = 0; ;) {
    const page = await pageOf(stage, `${path}&after=${after}`);
    if (page.ids.length === 0) {
      expect(page.next).toBe(after);
      return pages;
    }
    pages.push(page);
    after = page.next;
    await meanwhile(pages.length);
  }
}

const idsIn = (pages: readonly Page[]): number[] => pages.flatMap(({ ids }) => ids);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1);

describe.each(ONE_DATABASE)('lists over a mirror in %s', (_name, open) => {
  test('of the outbox are walked page by page, each entry once, whatever becomes of it meanwhile', async () => {
    const session = await open();
    await addEntries(session, ROWS, 'first');
    const stage = await serveMirror(session);
    const pages = await walk(stage, '/v1/outbox?limit=1000');
    expect(pages.map(({ ids, next }) => [ids.length, next])).toEqual([
      [1000, 1000],
      [1000, 2000],
      [500, 2500], // prettier-ignore
    ]);
    expect(idsIn(pages)).toEqual(upTo(ROWS));
    const moved = await walk(stage, '/v1/outbox?limit=999', async (n) => {
      if (n < 3) await addEntries(session, 2, `later-${n}`);
      await session.atomically((tx) => tx.query(sql`update outbox set state = ${STATES[n] ?? 'done'}`));
    });
    expect(idsIn(moved)).toEqual(upTo(ROWS + 4));
  });
});

describe.each(ONE_DATABASE)('lists over a mirror in %s', (_name, open) => {
  test('of runs are walked page by page, each run once, those that begin meanwhile at the end', async () => {
    const session = await open();
    await addRuns(session, ROWS);
    const stage = await serveMirror(session);
    const pages = await walk(stage, '/v1/runs?limit=1000');
    expect(pages.map(({ ids }) => ids.length)).toEqual([1000, 1000, 500]);
    expect(idsIn(pages)).toEqual(upTo(ROWS));
    const further = await walk(stage, '/v1/runs?limit=700', (n) => addRuns(session, n < 3 ? 5 : 0));
    expect(idsIn(further)).toEqual(upTo(ROWS + 10));
    const latest = await jsonOf(await stage.get('/v1/runs?limit=2'));
    expect(latest).toMatchObject({ runs: [{ id: ROWS + 10 }, { id: ROWS + 9 }] });
    expect(latest).not.toHaveProperty('next');
  });

  test('of some states are walked alike', async () => {
    const session = await open();
    await addEntries(session, ROWS, 'first');
    const stage = await serveMirror(session);
    const parked = upTo(ROWS).filter((id) => id % STATES.length === 1);
    expect(idsIn(await walk(stage, '/v1/outbox?state=parked&limit=120'))).toEqual(parked);
    const open_ = upTo(ROWS).filter((id) => id % STATES.length !== 3);
    expect(idsIn(await walk(stage, '/v1/outbox?state=open&limit=1000'))).toEqual(open_);
    const first = await pageOf(stage, '/v1/outbox?limit=1000');
    expect(first.next).toBeUndefined();
    expect(first.ids.slice(0, parked.length)).toEqual(parked.toReversed()); // What needs a person comes first.
  });
});
