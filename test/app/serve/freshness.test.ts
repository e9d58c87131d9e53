import { expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/time/clock.ts';
import { sandbox } from '../../pull/support.ts';
import { run, settingsFor } from '../../support/command-line.ts';
import { ask } from '../../support/mirror-file.ts';
import { freshMirror } from '../../support/temp-folder.ts';

test(
  'serve sees a change between two sweeps, and says no more of it than that it serves',
  { timeout: 60_000 },
  async () => {
    const [service, path] = [await sandbox({ size: 5 }), freshMirror()];
    const settings = { ...settingsFor(service, path), BMS__SCHEDULES__ALL: 'null' };
    await run(['pull', 'departments', 'clients'], settings);
    const [id = 0] = service.world.ids('departments');
    service.world.update('departments', id, { name: 'Renamed' });
    const stop = new AbortController();
    const env = { ...settings, BMS__FRESHNESS__REQUESTS_PER_MINUTE: '600' };
    const serving = run(['serve', '--only', 'pulls'], env, stop.signal);
    const seen = () => ask(path, 'select record_id, change, run_id from changes');
    while (seen().length === 0) await systemClock.sleep(20);
    stop.abort();
    const { code, stderr } = await serving;

    expect(code).toBe(0);
    expect(seen()).toEqual([{ record_id: String(id), change: 'updated', run_id: null }]);
    expect(ask(path, 'select kind from kind_state where owner is not null')).toEqual([]);
    expect(stderr.trim().split('\n').length).toBeLessThan(6);
  },
);

test.each([
  ['without a budget', ['serve', '--only', 'pulls'], 'null'],
  ['without the role of pulling', ['serve', '--only', 'webhooks'], '600'],
])('serve %s asks for nothing between sweeps', { timeout: 60_000 }, async (_name, argv, budget) => {
  const [service, path] = [await sandbox({ size: 5 }), freshMirror()];
  const settings = { ...settingsFor(service, path), BMS__SCHEDULES__ALL: 'null' };
  await run(['pull', 'departments'], settings);
  const before = service.requests.length;
  const stop = new AbortController();
  const serving = run(argv, { ...settings, BMS__FRESHNESS__REQUESTS_PER_MINUTE: budget }, stop.signal);
  while (ask(path, 'select owner from workers').length === 0) await systemClock.sleep(20);
  stop.abort();
  expect(await serving).toMatchObject({ code: 0 });
  expect(service.requests).toHaveLength(before);
  expect(ask(path, 'select name from request_budgets')).toEqual([]);
});
