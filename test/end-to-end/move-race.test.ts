import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../support/command-line.ts';
import { freshDatabase } from '../support/postgres.ts';
import { start } from '../support/program.ts';
import { openSession } from '../../src/db/open-session.ts';
import { atRest } from './outbound-ledger.ts';
import { creates, push, serveBeside, setScene } from './outbound-scene.ts';

/** How much later the one begins than the other, in ms. */
const DELAYS = [-400, 0, 400, 800];

test.each(DELAYS)(
  'serve on the empty database and a move into it, %s ms apart: one is refused, and each entry is sent once',
  async (delay) => {
    const scene = await setScene(onTestFinished, { size: 20, kinds: ['clients'] });
    const { env, service } = scene;
    await push(scene, creates('clients', 3));
    const { url, drop } = await freshDatabase();
    onTestFinished(drop);
    const target = { ...env, DATABASE_URL: url };
    const begin = (argv: readonly string[], settings: typeof env, later: number) =>
      pause(Math.max(0, later)).then(() => start(argv, { env: settings }));
    const [serving, moving] = await Promise.all([
      begin(['serve'], target, -delay),
      begin(['move', url], env, delay),
    ]);
    const moved = await moving.ended;
    serving.child.kill('SIGTERM');
    const served = await serving.ended;
    const posts = (): number => service.requests.filter(({ method }) => method === 'POST').length;
    if (moved.code === 0)
      expect([0, 1]).toContain(served.code); // 0: it began once the move had ended.
    else {
      expect(moved.stderr).toMatch(/is not empty|is running an older release|is at work/);
      expect(posts()).toBe(0); // A file that is closed has not sent, and the database has nothing to send.
      expect(await run(['move', '--cancel'], env)).toMatchObject({ code: 0 });
    }
    const place = moved.code === 0 ? target : env;
    const { child, ended } = await serveBeside(onTestFinished, place);
    await using session = await openSession(place.DATABASE_URL);
    await atRest({ session });
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0 });
    expect(posts()).toBe(3);
  },
);
