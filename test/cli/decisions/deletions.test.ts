import { describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../../sandbox/sandbox.ts';
import { document, kindIn, run, settingsFor, type Env } from '../../support/command-line.ts';
import { ask } from '../../support/mirror-file.ts';
import { grownMirror } from '../../support/sqlite-templates.ts';

const GONE = 8;
const NO_WAIT = { BMS__DELETIONS__GRACE_SECONDS: '0' };

/** A mirror that has lost more clients at once than may go without a person. */
async function massDisappearance(gone = GONE) {
  const sandbox = await startSandbox({ size: 40 });
  onTestFinished(() => sandbox.close());
  const path = await grownMirror();
  const env = { ...settingsFor(sandbox, path), ...NO_WAIT };
  await run(['pull', 'clients', 'products'], env);
  const ids = [...sandbox.world.ids('clients').slice(0, gone)].sort((a, b) => a - b);
  for (const id of ids) sandbox.world.remove('clients', id);
  const second = await run(['pull', 'clients', '--json'], env);
  return { sandbox, path, env, second, ids: ids.map(String) };
}

const liveClients = (path: string): string[] =>
  ask(path, 'select id from bi_clients order by id').map(({ id }) => String(id));

const holds = async (env: Env): Promise<object[]> =>
  (document(await run(['deletions', '--json'], env)) as { deletions: object[] }).deletions;

describe('deletions', () => {
  test('list shows what is held, to a person and to a program; the pull that held it ends with 0', async () => {
    const { path, env, second, ids } = await massDisappearance();
    expect(second.code).toBe(0);
    expect(kindIn(second, 'clients')).toMatchObject({
      state: 'complete',
      reason: 'absences_unproven',
      rows: 32,
      deleted: 0,
    });
    expect(liveClients(path)).toHaveLength(40);
    const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
    expect(await holds(env)).toEqual([
      {
        ...{ kind: 'clients', state: 'held', records: GONE, since, ids },
        ...{ check: expect.any(String) as string, why: 'rows:5' },
      },
    ]);

    const { code, stdout, stderr } = await run(['deletions'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^kind +state +records +the first since \(UTC\) +ids\n/);
    expect(stdout).toMatch(new RegExp(`\\nclients +held +${GONE} +\\d{4}-.* ${ids.join(', ')}\\n`));
    expect(stdout).toContain('bms-sync deletions approve|reject KIND');
    expect(stdout).toContain(
      'clients: more than 5 records left the list at once, the limit in the settings.',
    );
    expect(await run(['deletions', 'list'], env)).toEqual({ code, stdout, stderr });
    expect(document(await run(['deletions', 'list', '--json'], env))).toEqual({
      deletions: await holds(env),
      suspected: [],
    });
  });

  test('name an empty answer of the service as the cause, whatever the number of records', async () => {
    const { env } = await massDisappearance(40);
    expect((await run(['deletions'], env)).stdout).toContain('clients: the service returned an empty list.');
  });

  test('is what status says needs you', async () => {
    const { env } = await massDisappearance();
    const { kinds } = document(await run(['status', '--json'], env)) as { kinds: { kind: string }[] };
    expect(kinds.find(({ kind }) => kind === 'clients')).toMatchObject({ heldDeletions: GONE, rows: 40 });
    expect((await run(['status'], env)).stdout).toMatch(/Needs you:.*clients/);
  });

  test('approve lets the next pull ask for proof, and mark as deleted what is gone', async () => {
    const { sandbox, path, env, ids } = await massDisappearance();
    const approved = await run(['deletions', 'approve', 'clients', '--json'], env);
    expect(approved).toMatchObject({ code: 0, stderr: '' });
    expect(document(approved)).toEqual({ kind: 'clients', decision: 'approved', records: GONE });
    expect(await holds(env)).toMatchObject([{ kind: 'clients', state: 'approved', records: GONE }]);
    expect((await run(['deletions'], env)).stdout).not.toContain('approve|reject');
    expect(liveClients(path)).toHaveLength(40);

    const third = await run(['pull', 'clients', '--json'], env);

    expect(kindIn(third, 'clients')).toMatchObject({ deleted: GONE });
    for (const id of ids) expect(liveClients(path)).not.toContain(id);
    const asked = new Set(sandbox.requests.map((request) => request.path));
    for (const id of ids) expect(asked).toContain(`/api/clients/${id}`);
    const events = ask(path, `select record_id from bi_changes where change = 'deleted' order by seq`);
    expect(events.map((event) => String(event['record_id'])).sort()).toEqual([...ids].sort());
    expect(await holds(env)).toEqual([]);
  });

  test('approve is of the records that the last list showed, or of those of a check', async () => {
    const { sandbox, path, env } = await massDisappearance();
    const approve = (...more: string[]) => run(['deletions', 'approve', 'clients', '--json', ...more], env);
    const [shown] = (await holds(env)) as { check: string }[];
    expect((await run(['deletions'], env)).stdout).toContain(`approve clients --only ${shown?.check ?? ''}`);
    for (const id of sandbox.world.ids('clients').slice(0, 5)) sandbox.world.remove('clients', id);
    await run(['pull', 'clients'], env);

    const stale = await approve('--only', '13-0123456789');
    expect(stale.code).toBe(1);
    const message = 'The check 13-0123456789 does not belong to the records of clients that are on hold now.';
    expect(document(stale)).toMatchObject({ error: { code: 'deletions.changed', message } });
    expect(document(await approve())).toEqual({
      kind: 'clients',
      decision: 'approved',
      records: GONE,
      newer: 5,
    });
    await run(['pull', 'clients'], env);
    expect(liveClients(path)).toHaveLength(40 - GONE);
    expect((await approve()).code).toBe(1); // Nobody was shown the five.
    const [later] = (await holds(env)) as { check: string }[];
    expect(document(await approve('--only', later?.check ?? ''))).toMatchObject({ records: 5 });
    await run(['pull', 'clients'], env);
    expect(liveClients(path)).toHaveLength(40 - GONE - 5);
  });

  test('reject keeps them live; approve takes it back', async () => {
    const { path, env } = await massDisappearance();
    const rejected = await run(['deletions', 'reject', 'clients'], env);
    expect(rejected).toMatchObject({ code: 0, stderr: '' });
    expect(rejected.stdout).toMatch(/^Rejected: the records stay live/);

    for (let pull = 0; pull < 2; pull++) {
      expect(kindIn(await run(['pull', 'clients', '--json'], env), 'clients')).toMatchObject({ deleted: 0 });
      expect(liveClients(path)).toHaveLength(40);
      expect(await holds(env)).toMatchObject([{ state: 'rejected', records: GONE }]);
    }

    expect((await run(['deletions', 'approve', 'clients'], env)).stdout).toMatch(/^Approved: /);
    await run(['pull', 'clients'], env);
    expect(liveClients(path)).toHaveLength(40 - GONE);
  });

  test('shows twenty ids of a large one', async () => {
    const { env, ids } = await massDisappearance(30);
    expect(await holds(env)).toMatchObject([{ records: 30, ids: ids.slice(0, 20) }]);
    expect((await run(['deletions'], env)).stdout).toContain(`${ids.slice(0, 20).join(', ')} and 10 more`);
    expect((await run(['deletions'], env)).stdout).toContain('the table deletions have all ids');
  });
});

describe('a decision that cannot be', () => {
  test.each(['approve', 'reject'])('%s of a kind that there is not is usage, exit 2', async (decision) => {
    const { env } = await massDisappearance(0);
    const ended = await run(['deletions', decision, 'klients', '--json'], env);
    expect(ended.code).toBe(2);
    expect(document(ended)).toMatchObject({ error: { code: 'record.unknown_kind' } });
    expect(ended.stderr).toContain('did you mean clients?');
    expect(await run(['deletions', decision], env)).toMatchObject({ code: 2, stdout: '' });
  });

  test.each(['approve', 'reject'])('%s where nothing is held fails with 1', async (decision) => {
    const { env } = await massDisappearance();
    const ended = await run(['deletions', decision, 'products', '--json'], env);
    expect(ended.code).toBe(1);
    expect(document(ended)).toMatchObject({ error: { code: 'deletions.none' } });
    expect(await holds(env)).toMatchObject([{ kind: 'clients', state: 'held', records: GONE }]);
  });
});
