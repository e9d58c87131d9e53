import { expect, test } from 'vitest';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { document, json, run, settingsFor, type Env } from '../support/command-line.ts';
import { KIND_NAMES, ask, expectEqual, expectSound } from '../support/mirror-file.ts';
import { start, type Program } from '../support/program.ts';
import { requestNumber } from '../support/requests.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

type Shown = Readonly<Record<'startedAt' | 'finishedAt', string>>;

interface Scene {
  readonly sandbox: Sandbox;
  readonly path: string;
  readonly env: Env;
  readonly serving: Program;
}

/** A background service at work, on a mirror that it alone has touched; no schedule asks for anything. */
async function scene(): Promise<Scene> {
  const sandbox = await startSandbox({
    size: 60,
    faults: [{ do: { clampPerPage: 10 } }, { do: { latencyMs: 20 } }],
  });
  const path = await grownMirror();
  const env = {
    ...settingsFor(sandbox, path),
    PORT: '0',
    BMS__SHUTDOWN__GRACE_SECONDS: '0.1',
    BMS__SCHEDULES__ALL: 'null',
  };
  const serving = start(['serve', '--only', 'pulls'], { env });
  await expect.poll(() => ownersAtWork(path), { interval: 100 }).toHaveLength(1);
  return { sandbox, path, env, serving };
}

function ownersAtWork(path: string): unknown[] {
  try {
    return ask(path, 'select owner from workers');
  } catch (error) {
    if (error instanceof Error) return []; // The mirror is being made.
    throw error;
  }
}

const processOf = (path: string, runId: number): number =>
  Number(String(ask(path, `select owner from runs where id = ${runId}`)[0]?.['owner']).split(':')[1]);

const certified = KIND_NAMES.map((kind) => expect.objectContaining({ kind, state: 'certified' }) as unknown);

test('a pull beside a background service is worked by that, and reported by the command', async ({
  onTestFinished,
}) => {
  const { sandbox, path, env, serving } = await scene();
  onTestFinished(async () => {
    serving.child.kill('SIGKILL');
    await sandbox.close();
  });

  const ended = await run(['pull', '--json'], env);

  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stderr).toContain('requested it from the background service');
  const { runId, kinds, durationMs, startedAt } = json(ended);
  expect(kinds.map(({ kind }) => kind)).toEqual(KIND_NAMES);
  expect(kinds).toEqual(expect.arrayContaining(certified));
  const shown = document(await run(['runs', 'show', String(runId), '--json'], env)) as Shown;
  expect(startedAt).toBe(shown.startedAt);
  expect(durationMs).toBe(Date.parse(shown.finishedAt) - Date.parse(shown.startedAt));
  expect(processOf(path, runId)).toBe(serving.child.pid);
  expectSound(path);
  expectEqual(path, sandbox);
});

test('where the background service is killed in the midst of it, the command says so, and the next one takes the run up', async ({
  onTestFinished,
}) => {
  const { sandbox, path, env, serving } = await scene();
  onTestFinished(() => sandbox.close());
  const reached = requestNumber(sandbox, 8);
  const pulling = start(['pull', '--json'], { env });
  await reached;
  serving.child.kill('SIGKILL');

  const ended = await pulling.ended;

  expect(ended.code).toBe(3);
  const { runId, kinds } = json(ended);
  expect(kinds.at(-1)).toMatchObject({ state: 'aborted', reason: 'interrupted' });
  expect(kinds.at(-1)?.detail).toMatch(/background service has (ended|broken)/);
  await serving.ended;
  const next = start(['serve', '--only', 'pulls'], { env });
  onTestFinished(() => void next.child.kill('SIGKILL'));
  await expect
    .poll(() => ask(path, "select id, state from runs where command = 'pull'"))
    .toEqual([{ id: BigInt(runId), state: 'done' }]);
  expectSound(path);
  expectEqual(path, sandbox);
});

test('whoever stops waiting is told that the run goes on, and it does', async ({ onTestFinished }) => {
  const { sandbox, path, env, serving } = await scene();
  onTestFinished(async () => {
    serving.child.kill('SIGKILL');
    await sandbox.close();
  });
  const reached = requestNumber(sandbox, 8);
  const pulling = start(['pull', '--json'], { env });
  await reached;
  pulling.child.kill('SIGINT');

  const ended = await pulling.ended;

  expect(ended.code).toBe(3);
  const { runId, kinds } = json(ended);
  expect(kinds.at(-1)).toMatchObject({ state: 'aborted', reason: 'interrupted' });
  expect(kinds.at(-1)?.detail).toContain(`run ${runId} continues`);
  await expect
    .poll(() => ask(path, `select state from runs where id = ${runId}`))
    .toEqual([{ state: 'done' }]);
  expectEqual(path, sandbox);
});
