import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { openMirror } from '../../src/app/open-mirror.ts';
import { claimKind } from '../../src/store/kinds/kind-lease.ts';
import { saveHeartbeat } from '../../src/store/runs/worker-store.ts';
import { ONLY_PROGRESS, document, kindIn, run, settingsFor } from '../support/command-line.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A list of many pages, which one reading does not certify. */
async function longList() {
  const sandbox = await startSandbox({ size: 2_400 });
  onTestFinished(() => sandbox.close());
  const path = await grownMirror();
  const env = { ...settingsFor(sandbox, path), BMS__SWEEP__REPEAT_BELOW_PAGES: '0' };
  return { sandbox, path, env };
}

test('a first pull of a long list reads as a success: what is known, and what the next pull adds', async () => {
  const { env } = await longList();

  const first = await run(['pull', 'clients'], env);

  expect(first).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
  expect(first.stdout).toMatch(/\nclients +read to its end +2400 /);
  expect(first.stdout).toContain(
    'clients: all 2,400 rows that the service listed are in the mirror. The next pull can verify it',
  );
  expect(first.stdout).not.toMatch(/rows_unseen|both before and after/);

  const status = await run(['status'], env);
  expect(status.stdout).toMatch(/\nclients +read to its end +2400 /);
  expect(status.stdout).toContain('The next pull can verify it');
  expect(status.stdout).not.toContain('rows_unseen');
  expect(document(await run(['status', '--json'], env))).toMatchObject({
    uncertified: [
      { kind: 'clients', reason: 'rows_unseen', why: expect.stringContaining('one reading') as string },
    ],
  });

  const second = await run(['pull', 'clients'], env);
  expect(second.stdout).toMatch(/\nclients +certified +2400 /);
  expect(second.stdout).toContain('clients: all 2,400 rows of the list, and no others, are in the mirror.');
});

test('a pull that only found kinds busy ends with 0, and says who is reading them', async () => {
  const { env, sandbox } = await longList();
  await using session = await openMirror(loadConfig({ env }));
  await claimKind(session, 'clients', 'elsewhere:1:abcd');

  const ended = await run(['pull', 'clients'], env);

  expect(ended.code).toBe(0);
  expect(ended.stdout).toMatch(/\nclients +busy +0 /);
  expect(ended.stdout).toMatch(
    /^Another process was reading it\. Not read to the end: clients\.\n {2}clients: .*elsewhere:1:abcd/,
  );
  expect(sandbox.requests).toEqual([]);
  expect(kindIn(await run(['pull', 'clients', '--json'], env), 'clients')).toMatchObject({
    state: 'busy',
    reason: 'busy',
  });
});

test('a pull that the service refuses as a whole gives the cause, and no table of zeros', async () => {
  const { env } = await longList();

  const ended = await run(['pull', 'clients', 'projects'], { ...env, BMS_TOKEN: 'another' });

  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(
    /^The service refused the token\. Not read to the end: clients, projects\.\n {2}.*401.*\n\nRun 1 took/,
  );
});

test('an interrupted first pull says that landed rows stay, and what the next one repeats', async () => {
  const { env, sandbox } = await longList();
  const stop = new AbortController();
  sandbox.setFaults([]);
  const count = (): number => sandbox.requests.length;
  const pulling = run(['pull', 'clients'], env, stop.signal);
  await expect.poll(count, { interval: 1 }).toBeGreaterThan(3);
  stop.abort();

  const ended = await pulling;

  expect(ended.code).toBe(3);
  expect(ended.stdout).toMatch(
    /rows that were read stay in the mirror\. The next pull reads the whole list again/,
  );
});

test('a pull and status show what disappeared and is not proven yet, with its ids', async () => {
  const sandbox = await startSandbox({ size: 40 });
  onTestFinished(() => sandbox.close());
  const env = settingsFor(sandbox, await grownMirror());
  await run(['pull', 'clients'], env);
  const ids = sandbox.world.ids('clients').slice(0, 2);
  for (const id of ids) sandbox.world.remove('clients', id);

  const pulled = await run(['pull', 'clients'], env);

  const pattern = new RegExp(
    `\\nclients +suspected +2 +\\d{4}-.* ${[...ids].sort((a, b) => a - b).join(', ')} +deleted once`,
  );
  expect(pulled.stdout).toContain('No longer listed, and still in the mirror:');
  expect(pulled.stdout).toMatch(pattern);
  expect((await run(['status'], env)).stdout).toMatch(pattern);
  const listed = await run(['deletions'], env);
  expect(listed.stdout).toMatch(/^No deletions are on hold\.\n/);
  expect(listed.stdout).toMatch(pattern);
  for (const command of ['pull', 'status'] as const)
    expect(
      document(await run([command, ...(command === 'pull' ? ['clients'] : []), '--json'], env)),
    ).toMatchObject({
      disappeared: [
        { kind: 'clients', state: 'suspected', records: 2, since: expect.stringMatching(INSTANT) as string },
      ],
    });
  expect(document(await run(['deletions', '--json'], env))).toMatchObject({
    deletions: [],
    suspected: [{ kind: 'clients', records: 2 }],
  });
});

test('rows that have left a list are counted, and described by what keeps them: a decision, or proof', async () => {
  const sandbox = await startSandbox({ size: 40 });
  onTestFinished(() => sandbox.close());
  const env = settingsFor(sandbox, await grownMirror());
  await run(['pull', 'clients'], env);
  for (const id of sandbox.world.ids('clients').slice(0, 20)) sandbox.world.remove('clients', id);
  const listed =
    'clients: all 20 rows that the service listed are in the mirror, and 20 rows that have left the list.';
  const status = async (): Promise<string> => (await run(['status'], env)).stdout;

  const held = await run(['pull', 'clients'], env);
  expect(held.stdout).toContain(`${listed} Held rows stay until you decide: bms-sync deletions.`);
  expect(await status()).toMatch(
    /list known exactly \(UTC\)[^]*20 rows have left the list and wait for your decision/,
  );
  expect(await status()).toContain('Held rows stay until you decide: bms-sync deletions.');

  await run(['deletions', 'reject', 'clients'], env);
  const rejected = await run(['pull', 'clients'], env);
  expect(rejected.stdout).toContain(`${listed}\n`);
  expect(await status()).toContain('20 rows have left the list and stay, as a person decided');
  for (const text of [rejected.stdout, await status()])
    expect(text).not.toMatch(/your decision|you decide:|again/);

  await run(['deletions', 'approve', 'clients'], env);
  expect(await status()).toContain('20 rows have left the list; their deletion is not confirmed yet');
  expect(await status()).toContain('The next pull checks unconfirmed deletions again');
});

test('a pull that is stopped beside a background service does not call its run interrupted', async () => {
  const { env } = await longList();
  await using session = await openMirror(loadConfig({ env }));
  const service = { owner: 'elsewhere:1:abcd', roles: ['pulls'] };
  await saveHeartbeat(session, service);

  const ended = await run(['pull', 'clients', 'projects'], env, AbortSignal.abort());

  expect(ended.code).toBe(3);
  expect(ended.stdout).toMatch(
    /^This command did not see the end of: clients, projects\.\n {2}This command no longer waits; run 1 continues in /,
  );
});
