import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { run, settingsFor, type Ended } from '../support/command-line.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

/** Clears the screen, colours, turns the reading direction, and starts lines of its own. */
const EVIL = '\u001b[2J\u009b31m\u202e\u2066\u200f\u2028\u2029\u0085\u007f\r\nFORGED';
const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

/** No character of what was printed steers a terminal, and no line is one that a value has started. */
function expectPlain({ stdout, stderr }: Ended): void {
  for (const line of (stdout + stderr).split('\n')) {
    expect(line).not.toMatch(STEERING);
    expect(line).not.toMatch(/^FORGED/);
  }
}

/** Each line of the answer is JSON, and what it says is not changed. */
function expectJson(ended: Ended): void {
  expectPlain(ended);
  for (const line of ended.stdout.trimEnd().split('\n'))
    expect(() => JSON.parse(line) as unknown).not.toThrow();
}

test('no text of the service or of a user steers a terminal, whatever shows it', async () => {
  await using sandbox = await startSandbox({ size: 12 });
  const env = settingsFor(sandbox, await grownMirror());
  await run(['pull', 'clients', 'categories'], env);
  const [id = 0] = sandbox.world.ids('clients');
  sandbox.world.update('clients', id, { name: EVIL, [`field ${EVIL}`]: EVIL, due_date: EVIL });
  sandbox.world.insert('categories', { code: EVIL, name_fr: EVIL });
  sandbox.setFaults([
    {
      on: { kind: 'providers' },
      do: { status: 200, body: JSON.stringify({ success: false, message: EVIL }) },
    },
    { on: { kind: 'products' }, do: { status: 418, body: EVIL } },
  ]);
  const tries = { ...env, BMS__SOURCE__MAX_ATTEMPTS: '1', LOG_LEVEL: 'debug' };
  const data = JSON.stringify({ code: EVIL, name_fr: EVIL });

  const commands = [
    ['pull', 'clients', 'categories', 'providers', 'products'],
    ['status'],
    ['changes'],
    ['runs', 'list'],
    ['runs', 'show', '2'],
    ['verify', 'clients', 'providers'],
    ['push', 'create', 'categories', '--data', data, '--key', EVIL, '--dry-run'],
    ['push', 'create', 'categories', '--data', data, '--key', EVIL],
    ['push', 'create', 'categories', '--data', JSON.stringify({ [EVIL]: 1 })],
    ['push', 'update', 'categories', EVIL, '--data', data],
    ['outbox'],
    ['outbox', 'show', '1'],
    ['backfill', 'clients', '--all'],
    ['pull', EVIL],
    [EVIL],
    ['status', '--config', `/nowhere/${EVIL}`],
  ];
  for (const command of commands) {
    expectPlain(await run(command, tries));
    expectJson(await run([...command, '--json'], tries));
  }
  const events = await run(['changes', '--json', '--kind', 'categories'], env);
  expect(events.stdout).toContain('FORGED');
  const created = events.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { after: object });
  expect(created[0]?.after).toMatchObject({ code: EVIL });
});
