import { packageVersion } from '../../src/lib/package-folder.ts';
import type { StatusDocument } from '../../src/checks/status-document.ts';
import type { CheckResult } from '../../src/lib/check-result.ts';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import { saveHeartbeat } from '../../src/store/runs/worker-store.ts';
import { canary } from '../support/canary.ts';
import { document, run, settingsFor } from '../support/command-line.ts';
import { KIND_NAMES } from '../support/mirror-file.ts';
import { send, serve } from '../support/serve.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { freshMirror } from '../support/temp-folder.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

async function pulledMirror() {
  await using sandbox = await startSandbox({ size: 30 });
  const path = await grownMirror();
  const env = settingsFor(sandbox, path);
  await run(['pull'], env);
  return { path, env, world: sandbox.world };
}

describe('status', () => {
  test('tells of each kind how it is, for a program and for a person', async () => {
    const { path, env, world } = await pulledMirror();

    const asJson = await run(['status', '--json'], env);
    expect(asJson).toMatchObject({ code: 0, stderr: '' });
    expect(document(asJson)).toEqual({
      version: packageVersion(),
      database: path,
      needs: [],
      kinds: KIND_NAMES.map((kind) => ({
        kind,
        state: 'certified',
        reason: null,
        rows: world.count(kind),
        singleRows: 0,
        certifiedAt: expect.stringMatching(INSTANT) as string,
        lastSweepAt: expect.stringMatching(INSTANT) as string,
        lastChangeAt: null,
        lagSeconds: expect.any(Number) as number,
        openIssues: 0,
        heldDeletions: 0,
      })),
      uncertified: [],
      holds: [],
      disappeared: [],
      unscheduled: [],
      isServed: false,
      isSending: false,
      schedulesDiffer: false,
      schedules: [expect.objectContaining({ name: 'all', kinds: KIND_NAMES })] as unknown[],
      nextPulls: expect.any(Array) as unknown[],
      failing: [],
      failingEndpoints: [],
      issues: [],
      drift: [],
      outbox: { ready: 0, sending: 0, unsettled: 0, parked: 0, rejected: 0, done: 0, abandoned: 0 },
      blockedKinds: [],
      frozen: null,
      damage: null,
      volatile: null,
    });

    const asText = await run(['status'], env);
    expect(asText).toMatchObject({ code: 0, stderr: '' });
    expect(asText.stdout).toContain(`Mirror: ${path}\n`);
    expect(asText.stdout).toMatch(/\nclients +certified +30 +\d{4}-/);
    expect(asText.stdout).not.toContain('Needs you');
    expect(asText.stdout).not.toContain('Outbox');
    expect(asText.stdout).not.toContain('Not certified');
  });

  test('says of a service that is away why, since when, and when serve tries again', async () => {
    const { path, env } = await pulledMirror();
    await run(['pull', 'clients'], { ...env, BMS__SOURCE__MAX_ATTEMPTS: '1' }); // The sandbox is closed by now.
    const failing = async () => (document(await run(['status', '--json'], env)) as StatusDocument).failing;
    expect(await failing()).toEqual([]); // Nothing will try again.
    await using session = openSqliteSession(path);
    await saveHeartbeat(session, { owner: 'elsewhere:1:a', roles: ['pulls'] });
    const why = 'the service could not be reached';
    const instant = expect.stringMatching(INSTANT) as string;
    expect(await failing()).toEqual([{ kinds: ['clients'], why, since: instant, next: instant }]);
    const { stdout } = await run(['status'], env);
    expect(stdout).toMatch(
      /^clients: the service could not be reached, first 20\d\d-.* UTC\. To be read again: 20\d\d-.* UTC\.$/m,
    );
    expect(stdout).toMatch(/^Not certified:\nclients: .*nothing listens at/m);
    await session.atomically(async (tx) => {
      await tx.query(sql`update runs set finished_at = '2026-03-01 12:00:00.000'`);
      await tx.query(sql`
        update run_kinds set started_at = case state
          when 'aborted' then '2026-03-01 11:59:59.000' else '2026-03-01 11:00:00.000' end`);
      await tx.query(sql`
        insert into mirror_meta (key, value) values ('due.clients', 'all@2026-03-01T11:59:58Z')
        on conflict (key) do update set value = excluded.value`);
    });
    expect((await run(['status'], env)).stdout).toMatch(
      /^clients: .*, first .*\. To be read again: due now\.$[^]*^clients .* due now$/m,
    );
  });

  test('says of what several lists share that it is an example', async () => {
    const { env } = await pulledMirror();
    await run(['pull', 'projects', 'clients'], { ...env, BMS__SOURCE__MAX_ATTEMPTS: '1' });
    const { stdout } = await run(['status'], env);
    expect(stdout).toMatch(/^projects, clients: for example, GET \/api\/\w+ page 1: .*nothing listens at/m);
  });

  test('dates the last change of a kind by its latest event: neither the first reading nor a change without one counts', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const env = {
      ...settingsFor(sandbox, await grownMirror()),
      BMS__DIFF__IGNORE_FIELDS: '{"clients":["fax"]}',
    };
    const lastChange = async (values: Record<string, string>): Promise<string | null> => {
      sandbox.world.update('clients', sandbox.world.ids('clients')[0] ?? 0, values);
      await run(['pull', 'clients'], env);
      const { kinds } = document(await run(['status', '--json'], env)) as {
        kinds: { kind: string; lastChangeAt: string | null }[];
      };
      return kinds.find(({ kind }) => kind === 'clients')?.lastChangeAt ?? null;
    };
    expect(await lastChange({})).toBeNull();
    expect(await lastChange({ fax: '514 555-0100' })).toBeNull();
    const changed = await lastChange({ city: 'Alma' });
    const [event = ''] = (await run(['changes', '--json'], env)).stdout.split('\n');
    expect(JSON.parse(event)).toMatchObject({ kind: 'clients', observedAt: changed });
  });
});

describe('runs', () => {
  test('lists the latest first, as many as asked for', async () => {
    const { env } = await pulledMirror();
    await run(['pull', 'clients'], { ...env, BMS__SOURCE__MAX_ATTEMPTS: '1' }); // The sandbox is closed by now.

    const listed = document(await run(['runs', 'list', '--json'], env)) as { runs: object[] };
    expect(listed.runs).toEqual([
      {
        id: 2,
        command: 'pull',
        kinds: ['clients'],
        state: 'incomplete',
        reason: null,
        startedAt: expect.stringMatching(INSTANT) as string,
        finishedAt: expect.stringMatching(INSTANT) as string,
        extent: null,
        slot: null,
        repeats: [],
      },
      expect.objectContaining({ id: 1, kinds: KIND_NAMES, state: 'done' }) as object,
    ]);
    const one = document(await run(['runs', 'list', '--limit', '1', '--json'], env)) as { runs: object[] };
    expect(one.runs).toEqual(listed.runs.slice(0, 1));

    const { code, stdout } = await run(['runs'], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^run +command +state +started \(UTC\) +finished \(UTC\) +tries +kinds\n/);
    expect(stdout).toMatch(/\n +2 +pull +not read to its end .* clients\n +1 +pull +done /);
    expect(await run(['runs', 'list'], env)).toEqual({ code, stdout, stderr: '' });
  });

  test('show one kind by kind', async () => {
    const { env, world } = await pulledMirror();

    const shown = document(await run(['runs', 'show', '1', '--json'], env)) as {
      reports: { kind: string; rows: number }[];
    };
    expect(shown).toMatchObject({ id: 1, command: 'pull', state: 'done', reason: null });
    expect(Object.fromEntries(shown.reports.map(({ kind, rows }) => [kind, rows]))).toEqual(
      Object.fromEntries(KIND_NAMES.map((kind) => [kind, world.count(kind)])),
    );

    const { code, stdout } = await run(['runs', 'show', '1'], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Run 1: pull, done, from \d{4}-.* to \d{4}-.* UTC\n/);
    expect(stdout).toMatch(/\nkind .* created +updated +deleted +restored +unchanged /);
    expect(stdout).toMatch(/\nclients +certified +30 +30 +0 /);
  });

  test('show a cause of the whole service once', async () => {
    const { env } = await pulledMirror();
    await run(['pull'], { ...env, BMS__SOURCE__MAX_ATTEMPTS: '1' }); // The sandbox is closed by now.
    const { stdout } = await run(['runs', 'show', '2'], env);
    expect(stdout.match(/ECONNREFUSED/g)).toHaveLength(1);
    expect(stdout).toMatch(/\n\w+ and \d+ more: GET .* nothing listens at /);
  });
});

describe('migrate', () => {
  test('makes the mirror, and says so once', async () => {
    const path = freshMirror();
    const env = { DATABASE_URL: `file:${path}` };

    expect(document(await run(['migrate', '--json'], env))).toEqual({ database: path, migrated: true });
    expect(document(await run(['migrate', '--json'], env))).toEqual({ database: path, migrated: false });
    expect(await run(['migrate'], env)).toEqual({ code: 0, stdout: `${path} is up to date.\n`, stderr: '' });
  });
});

interface Examination {
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
}

describe('doctor', () => {
  test('finds all well where it is', async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const path = await grownMirror();
    const env = settingsFor(sandbox, path);
    await run(['migrate'], env);

    const ended = await run(['doctor', '--json'], env);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { ok, checks } = document(ended) as Examination;
    expect(ok).toBe(true);
    expect(checks.map(({ name }) => name)).toEqual([
      'settings',
      'secrets',
      'database',
      'database.space',
      'database.integrity',
      'serve',
      'writes',
      ...checks.map(({ name }) => name).filter((name) => name.startsWith('schedules')),
      'service',
      'header',
      'clock',
      ...KIND_NAMES.map((name) => `kinds.${name}`),
    ]);
    expect(checks.every((check) => check.ok)).toBe(true);
    expect(checks.find(({ name }) => name === 'header')?.detail).toMatch(
      /Authorization, Authentication, Authentification/,
    );

    const asText = await run(['doctor'], env);
    expect(asText.code).toBe(0);
    expect(asText.stdout).toMatch(/^ok +settings: valid\n/);
    expect(asText.stdout).not.toContain('BAD');
    await run(['pull', 'departments'], env);
    expect((await run(['doctor'], env)).stdout).toContain(`it holds ${sandbox.url}, company 7`);
  });

  test.each(['Authorization', 'Authentication', 'Authentification'])(
    'finds that a service reads only %s',
    async (spelling) => {
      const url = await serviceThatReads(spelling);
      const env = settingsFor({ url, token: canary('-token') }, await grownMirror());
      const others = ['Authorization', 'Authentication', 'Authentification'].filter(
        (name) => name !== spelling,
      );

      const all = await run(['doctor', '--json'], env);
      expect(all.code).toBe(0);
      const { checks } = document(all) as Examination;
      expect(checks.find(({ name }) => name === 'header')?.detail).toBe(
        `the service accepts the token under ${spelling}`,
      );

      const right = await run(['doctor', '--json'], {
        ...env,
        BMS__SOURCE__AUTH_HEADERS: JSON.stringify([spelling]),
      });
      expect(right.code).toBe(0);

      const wrong = await run(['doctor', '--json'], {
        ...env,
        BMS__SOURCE__AUTH_HEADERS: JSON.stringify(others),
      });
      expect(wrong.code).toBe(1);
      expect((document(wrong) as Examination).checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(
        ['service'],
      );
    },
  );
});

describe('help and version', () => {
  test('a command that is loaded alone is the one that stands under its name in the list of all', async () => {
    const { stdout: list } = await run(['help']);
    const names = [...list.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(15);
    for (const name of names.filter((one) => one !== 'help'))
      expect(await run([name, '--help'])).toEqual({ ...(await run(['help', name])), stderr: '' });
  });

  test('--version is that of the package', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${packageVersion()}\n`, stderr: '' });
  });
});

/** A service with one empty list, which hears the token under one header only. */
function serviceThatReads(spelling: string): Promise<string> {
  return serve(({ headers }, response) => {
    const isHeard = headers[spelling.toLowerCase()] === `Bearer ${canary('-token')}`;
    send(response, isHeard ? { data: [] } : { message: 'Unauthenticated.' }, isHeard ? 200 : 401);
  });
}
