import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { ONLY_PROGRESS, json, kindIn, run, settingsFor } from '../support/command-line.ts';
import { KIND_NAMES, ask, expectEqual, expectSound } from '../support/mirror-file.ts';
import { start } from '../support/program.ts';
import { requestNumber } from '../support/requests.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

const AN_HOUR_MS = 3_600_000;

describe('a pull that is asked to stop', () => {
  test('by SIGTERM finishes the page at hand, reports with 3, and the next pull brings the rest (H05)', async () => {
    await using sandbox = await startSandbox({
      size: 60,
      faults: [{ do: { clampPerPage: 10 } }, { do: { latencyMs: 10 } }],
    });
    const path = await grownMirror();
    const env = settingsFor(sandbox, path);
    const reached = requestNumber(sandbox, 12);
    const { child, ended } = start(['pull', '--json'], { env });
    await reached;

    child.kill('SIGTERM');

    const stopped = await ended;
    expect(stopped).toMatchObject({ code: 3, signal: null, stderr: ONLY_PROGRESS });
    const { kinds } = json(stopped);
    expect(kinds.map(({ kind }) => kind)).toEqual(KIND_NAMES);
    const interrupted = kinds.filter(({ reason }) => reason === 'interrupted');
    expect(interrupted.length).toBeGreaterThan(0);
    for (const { state } of interrupted) expect(state).toBe('aborted');
    for (const { state, reason } of kinds) expect(state === 'certified').toBe(reason === null);
    expect(ask(path, 'select state from runs')).toEqual([{ state: 'interrupted' }]);
    expectSound(path);

    sandbox.setFaults([]);
    expect(await run(['pull'], env)).toMatchObject({ code: 0 });
    expectEqual(path, sandbox);
  });

  test('does not wait for a service that keeps silent', async () => {
    await using sandbox = await startSandbox({
      size: 10,
      faults: [{ on: { kind: 'clients' }, do: { latencyMs: AN_HOUR_MS } }],
    });
    const env = { ...settingsFor(sandbox, await grownMirror()), BMS__SOURCE__TIMEOUT_SECONDS: '3600' };
    const reached = requestNumber(sandbox, 1);
    const { child, ended } = start(['pull', 'clients', '--json'], { env });
    await reached;

    child.kill('SIGINT');

    const stopped = await ended;
    expect(stopped).toMatchObject({ code: 3, signal: null });
    expect(kindIn(stopped, 'clients')).toMatchObject({ state: 'aborted', reason: 'interrupted', rows: 0 });
  });

  test('does not wait until the service wants to be asked again', async () => {
    await using sandbox = await startSandbox({
      size: 10,
      faults: [{ do: { status: 429, retryAfter: '900' } }],
    });
    const reached = requestNumber(sandbox, 1);
    const { child, ended } = start(['pull', 'clients', '--json'], {
      env: settingsFor(sandbox, await grownMirror()),
    });
    await reached;

    child.kill('SIGINT');

    expect(await ended).toMatchObject({ code: 3, signal: null });
  });
});
