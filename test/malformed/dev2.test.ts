import { test } from 'vitest';
import { sql } from 'drizzle-orm';
import { copiedMirror } from './mirror-file.ts';
import { playScenario, fillMirror } from './scenario.ts';
const open = copiedMirror(fillMirror);
test('one', { timeout: 600_000 }, async () => {
  const session = await open();
  const played = await playScenario(136, { session, trace: (l) => { if (/528|^2026/.test(l)) console.log(l.slice(0, 420)); } });
  console.log(played.problems, await session.query(sql`select * from deletions`));
});
