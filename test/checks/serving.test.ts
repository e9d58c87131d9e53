import { expect, onTestFinished, test } from 'vitest';
import type { StatusDocument } from '../../src/checks/status-document.ts';
import type { CheckResult } from '../../src/lib/check-result.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { document, run, settingsFor } from '../support/command-line.ts';
import { start } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

test('status and doctor show who serves a mirror, and by which schedules, whatever their own settings are', async () => {
  const sandbox = await startSandbox({ size: 10 });
  onTestFinished(() => sandbox.close());
  const path = await grownMirror();
  const env = settingsFor(sandbox, path);
  const of = { ...env, BMS__SCHEDULES: '{"clients":"7 3 * * *"}' };
  const serving = start(['serve', '--only', 'pulls,outbound'], { env: of });
  onTestFinished(() => void serving.child.kill('SIGKILL'));
  const status = async (settings = env): Promise<StatusDocument> =>
    document(await run(['status', '--json'], settings)) as StatusDocument;
  const serveChecks = async (): Promise<readonly string[]> => {
    const { checks } = document(await run(['doctor', '--json'], env)) as { checks: CheckResult[] };
    return checks.flatMap(({ name, detail }) => (/^(?:serve|schedules)/.test(name) ? [detail] : []));
  };
  await run(['migrate'], env);
  await expect.poll(async () => (await status()).isServed).toBe(true);

  expect(await status()).toMatchObject({ schedules: [{ name: 'clients' }], schedulesDiffer: true });
  expect(await status(of)).toMatchObject({ schedules: [{ name: 'clients' }], schedulesDiffer: false });
  const { stdout } = await run(['status'], env);
  expect(stdout).toContain('These settings have others');
  expect(stdout).toMatch(/^No schedule pulls projects, providers, .*bookings\.$/m);
  expect(await serveChecks()).toEqual([
    expect.stringMatching(
      new RegExp(`running on this mirror: process ${serving.child.pid} on .*\\(pulls\\)$`),
    ),
    expect.stringContaining('These settings have others'),
    expect.stringContaining('serve pulls clients by "7 3 * * *"'),
    expect.stringMatching(/^no schedule pulls projects, providers, .*bookings$/),
  ]);

  serving.child.kill('SIGTERM');
  const [begun] = (await serving.ended).stderr.split('\n').filter((line) => line.includes('serve.started'));
  const log = JSON.parse(begun ?? '') as Record<string, unknown>;
  const words = /^serving pulls as process .*; writes are off/; // So it is no `outbound` for others.
  expect(log).toMatchObject({ roles: ['pulls'], msg: expect.stringMatching(words) as string });
  expect(await status()).toMatchObject({
    schedules: [{ name: 'all' }],
    isServed: false,
    schedulesDiffer: false,
  });
  expect((await serveChecks())[0]).toBe('no background service is registered in this mirror');
});
