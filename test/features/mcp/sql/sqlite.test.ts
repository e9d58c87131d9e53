import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSqlite } from '../../../../src/features/mcp/sql/sqlite.ts';
import { readOwnViews } from '../../../../src/views/views.ts';
import { askableMirror } from '../stage.ts';

const CROSS = Array.from('abc', (name) => `bi_calendar ${name}`).join(', ');

/** The processes which this one started. */
const childrenOf = (): string[] =>
  readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );

/** The bytes of deleted files that they have open. */
function temporaryBytes(): number {
  const children = childrenOf();
  const sizeOf = (pid: string): number => {
    const files = readdirSync(`/proc/${pid}/fd`).map((name) => `/proc/${pid}/fd/${name}`);
    const deleted = files.filter((file) => readlinkSync(file).endsWith('(deleted)'));
    return deleted.reduce((sum, file) => sum + statSync(file).size, 0);
  };
  try {
    return children.reduce((sum, pid) => sum + sizeOf(pid), 0);
  } catch {
    return 0; // It has ended.
  }
}

test('a question that sorts on disk is ended once its files are too large', async () => {
  const { url, context } = await askableMirror('sqlite');
  const views = (await readOwnViews(context.session, context.kinds)).map((view) => view.name);
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, temporaryBytes())), 20);
  const sql = `select printf('%90000d', a.day_number) as text from ${CROSS} order by b.date || c.date desc`;
  const question = { sql, limit: 1, timeoutMs: 300_000, views };
  const answer = readSqlite(url.replace('file:', ''), question, new AbortController().signal);
  await expect(answer).rejects.toMatchObject({ code: 'mcp.too_large' });
  clearInterval(timer);
  expect(most).toBeLessThan(600_000_000);
});

// Only an ordinary user is refused a look at it: root's tests pass either way, those of a newcomer do not.
test('a question whose process has ended, unseen by a busy program, is answered', async () => {
  const { url, context } = await askableMirror('sqlite');
  const views = (await readOwnViews(context.session, context.kinds)).map((view) => view.name);
  const question = { sql: 'select 1 as one', limit: 1, timeoutMs: 300_000, views };
  const others = childrenOf();
  const answer = readSqlite(url.replace('file:', ''), question, new AbortController().signal);
  const [child = ''] = childrenOf().filter((pid) => !others.includes(pid));
  const stateOf = (): string => /\) (\w)/.exec(readFileSync(`/proc/${child}/stat`, 'utf8'))?.[1] ?? '';
  while (stateOf() !== 'Z'); // It has ended, and this program could not learn so yet.
  expect(await answer).toMatchObject({ rows: [['1']] });
});

test.each([
  'explain select 1',
  'explain query plan select 1;',
  '/* 1 */ explain with x as (select 1) select * from x',
])('%s is refused', async (sql) => {
  const { ask } = await askableMirror('sqlite');
  await expect(ask('query', { sql })).rejects.toMatchObject({ code: 'mcp.refused' });
});
