import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { openSession } from '../../src/db/open-session.ts';
import { createCounterReader, createFileCounter } from '../../src/outbound/send-counter.ts';
import { document, run, type Env } from '../support/command-line.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

test('the latest sends are noted in a file of bounded length, beside the number of an older release', async () => {
  const path = join(tempFolder(), 'mirror.db.sends');
  writeFileSync(path, '7\n');
  const counter = createFileCounter(path);
  expect(await counter.read()).toBe(7);
  for (let sends = 8; sends <= 2_500; sends++)
    await counter.write(sends, `send ${sends}, key é\n${'x'.repeat(400)}`);
  counter.close();

  const again = createFileCounter(path);
  expect(await again.read()).toBe(2_500);
  expect(await again.notes?.(2_498)).toEqual([
    expect.stringMatching(/^send 2499, key é\ufffdx+$/),
    expect.stringMatching(/^send 2500, key é\ufffdx+$/),
  ]);
  expect(await again.notes?.(0)).toHaveLength(1_000);
  again.close();
});

test('an entry that was tried again is one send to look for', async () => {
  const counter = createFileCounter(join(tempFolder(), 'mirror.db.sends'));
  const note = (time: string, entry: number): string =>
    `create of clients by entry ${entry}, 2026-03-01 ${time}.000 UTC, key order-${entry}`;
  for (const [sends, time, entry] of [
    [1, '12:00:00', 1],
    [2, '12:00:01', 2],
    [3, '12:00:02', 1],
  ] as const)
    await counter.write(sends, note(time, entry));
  expect(await counter.notes?.(0)).toEqual([note('12:00:02', 1), note('12:00:01', 2)]);
  counter.close();
});

test('status and doctor name the sends that a restored mirror does not know, before any serve, and store nothing', async () => {
  const path = await grownMirror();
  await using session = await openSession(`file:${path}`);
  expect(await createCounterReader(session, null).read()).toBe(0);
  const counter = createFileCounter(`${path}.sends`);
  await counter.write(1, 'create of clients by entry 1, key order-1');
  await counter.write(2, 'update of clients 501 by entry 2, key order-2');
  counter.close();
  await session.atomically((tx) => tx.query(sql`insert into mirror_meta values ('outbox.sends', '1')`));
  const env: Env = { DATABASE_URL: `file:${path}`, BMS_BASE_URL: 'http://127.0.0.1:9', BMS_TOKEN: 'none' };

  expect(document(await run(['status', '--json'], env))).toMatchObject({
    frozen: {
      reason: '2 sends were made from here, and this database knows of 1',
      unknown: ['update of clients 501 by entry 2, key order-2'],
    },
    needs: [{ type: 'outbox.frozen', why: expect.stringContaining('key order-2') as string }],
  });
  const { stdout } = await run(['doctor'], env);
  expect(stdout).toContain('writes.frozen');
  expect(stdout).toContain('Unknown to this database: update of clients 501 by entry 2, key order-2');
  expect(stdout).not.toContain('order-1');
  expect(await session.query(sql`select 1 from mirror_meta where key = 'outbox.frozen'`)).toEqual([]);
});
