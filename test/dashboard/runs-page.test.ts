import { expect, test } from 'vitest';
import { NOON_TEXT, tempMirror } from '../store/temp-mirror.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { serveMirror } from '../http/stage.ts';

// prettier-ignore
const NUMBERS = [
  'duration_ms', 'requests', 'retries', 'pages', 'rows', 'created', 'updated', 'deleted', 'restored',
  'unchanged', 'quarantined',
];

test('a list that goes on says how many rows it has; a backfill shows its extent', async () => {
  const session = await tempMirror(TWO_KINDS);
  await session.atomically((tx) =>
    tx.insertRows({
      table: 'runs',
      columns: ['command', 'kinds', 'request', 'state', 'requested_at'],
      rows: Array.from({ length: 51 }, () => ['backfill', '["clients"]', '--ids 1,5-9', 'done', NOON_TEXT]),
    }),
  );
  const stage = await serveMirror(session);
  const page = await (await stage.get('/runs')).text();
  expect(page).toContain('51 in all');
  expect(page).toContain('--ids 1,5-9');
  expect(await (await stage.get('/runs/1')).text()).toContain('--ids 1,5-9');
});

test('a run says in plain words why a list is not proven, and of a fault what happened', async () => {
  const session = await tempMirror(TWO_KINDS);
  const figures = '200 of 2500 rows seen both before and after the response that proves the end';
  const fault = 'page 3 of clients answered 502';
  await session.atomically(async (tx) => {
    await tx.insertRows({
      table: 'runs',
      columns: ['command', 'kinds', 'state', 'requested_at'],
      rows: [['pull', '["clients","products"]', 'incomplete', NOON_TEXT]],
    });
    const none = NUMBERS.map(() => 0);
    await tx.insertRows({
      table: 'run_kinds',
      columns: ['run_id', 'kind', 'state', 'reason', 'detail', 'started_at', ...NUMBERS],
      rows: [
        [1, 'clients', 'complete', 'rows_unseen', figures, NOON_TEXT, ...none],
        [1, 'products', 'aborted', 'unavailable', fault, NOON_TEXT, ...none],
      ],
    });
  });
  const page = await (await (await serveMirror(session)).get('/runs/1')).text();
  expect(page).toMatch(/<p [^>]*>\s*not yet verified: a row may be missing\s*<\/p>/);
  expect(page).toMatch(/<p [^>]*>\s*page 3 of clients answered 502\s*<\/p>/);
});
