import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { ONLY_PROGRESS, document, kindIn, run, settingsFor, type Ended } from '../support/command-line.ts';
import { KIND_NAMES, ask, expectSound } from '../support/mirror-file.ts';
import { runProgram, start, type Program } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { byTheClock } from '../support/tiers.ts';

interface Demo {
  readonly database: string;
  readonly kinds: readonly { readonly kind: string; readonly inService: number; readonly inMirror: number }[];
  readonly question: string;
  readonly answer: readonly Record<string, unknown>[];
  readonly events: readonly { readonly change: string; readonly text: string }[];
  readonly lostAnswer: object;
}

/** What a program prints, up to the first line like this. */
async function linesTo({ child }: Program, last: RegExp): Promise<string> {
  if (child.stdout === null) throw new Error('no stdout');
  let lines = '';
  for await (const line of createInterface(child.stdout)) {
    lines += `${line}\n`;
    if (last.test(line)) break;
  }
  return lines;
}

interface Printed {
  /** The address of the dashboard, and its link that signs in. */
  readonly address: string;
  readonly link: string;
  /** The settings that pull from the demo's sandbox. */
  readonly line: string;
}

/** What a demo says before people go on working. */
async function readPrinted({ child: { stderr } }: Program): Promise<Printed> {
  if (stderr === null) throw new Error('no stderr');
  let printed: Printed = { address: '', link: '', line: '' };
  for await (const line of createInterface(stderr)) {
    const address = /^The dashboard: (http:.*)$/.exec(line)?.[1] ?? printed.address;
    const link = /^Sign in by this link, until the demo ends: (http:.*)$/.exec(line)?.[1] ?? printed.link;
    printed = { address, link, line };
    if (line.startsWith('BMS_BASE_URL=')) break;
  }
  return printed;
}

async function expectSignsIn(address: string, link: string): Promise<void> {
  expect(link.startsWith(`${address}/login?code=`)).toBe(true);
  await fetch(link, { redirect: 'manual' });
  const { status, headers } = await fetch(link, { redirect: 'manual' });
  expect(status).toBe(303);
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
  const page = await fetch(`${address}/`, { headers: { cookie } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Record kinds')]);
}

describe('demo', () => {
  test('--once prints the truth as one document, in under 15 seconds', async () => {
    // A broken setting is none of the demo's business: it needs none.
    const env = { BMS_BASE_URL: 'nonsense', DATABASE_URL: 'nonsense' };
    const from = performance.now();
    const ended = await runProgram(['demo', '--json', '--once'], { cwd: tempFolder(), env });
    expect(performance.now() - from).toBeLessThan(byTheClock(15_000));
    await expectDocument(ended);
  });

  test('without --once it tells its story, people go on working until Ctrl-C, its dashboard has a link that signs in again and again, and its sandbox can be pulled from', async () => {
    const cwd = tempFolder();
    const demo = start(['demo'], { cwd, env: { PORT: '0' } });
    const story = linesTo(demo, /^ {2}[~+-] products \d+ /);
    const { line: settings, address, link } = await readPrinted(demo);
    await expectSignsIn(address, link);
    const printed = await story;
    const held = rowsIn(join(cwd, 'data/demo.db')); // Before people have changed more.
    const env = Object.fromEntries(
      [...settings.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    ) as Record<string, string>;

    expect(
      await run(['pull', 'clients'], { ...env, DATABASE_URL: `file:${await grownMirror()}` }),
    ).toMatchObject({
      code: 0,
    });
    demo.child.kill('SIGINT');
    expect(await demo.ended).toMatchObject({ code: 0, signal: null });
    expectStory(printed, held);
    expectSound(join(cwd, 'data/demo.db'));
  });

  test('Ctrl-C in the midst of the story ends it: nothing more is queued, and nothing is told of it', async () => {
    const cwd = tempFolder();
    const demo = start(['demo'], { cwd, env: { PORT: '0' } });
    if (demo.child.stdout === null) throw new Error('no stdout');
    let printed = '';
    for await (const line of createInterface(demo.child.stdout)) {
      printed += `${line}\n`;
      if (line.startsWith('3. You create a client')) demo.child.kill('SIGINT');
    }
    expect(await demo.ended).toMatchObject({ code: 3, signal: null, stderr: ONLY_PROGRESS });
    expect(printed).not.toContain('4. People go on');
    expect(printed).not.toContain('the list shows it as');
    const [{ entries } = {}] = ask(join(cwd, 'data/demo.db'), 'select count(*) as entries from outbox');
    expect(Number(entries)).toBeLessThanOrEqual(1);
  });
});

/** The live rows of each kind. */
const rowsIn = (path: string): ReadonlyMap<string, number> =>
  new Map(
    KIND_NAMES.map((kind) => [
      kind,
      Number(ask(path, `select count(*) as rows from bi_${kind}`)[0]?.['rows']),
    ]),
  );

/** Every listed kind with equal counts, a first answer, and what became of what people did. */
function expectStory(stdout: string, held: ReadonlyMap<string, number>): void {
  const lines = stdout.split('\n');
  const header = lines.findIndex((line) => line.startsWith('kind '));
  const rows = lines.slice(header + 2, header + 2 + KIND_NAMES.length).map((line) => line.split(/ +/));
  expect(rows.map(([kind]) => kind)).toEqual(KIND_NAMES);
  for (const [kind, inService, inMirror] of rows) {
    const added = kind === 'clients' ? 1 : 0; // The story adds one, deletes one, and pushes one.
    expect([kind, inService, inMirror]).toEqual([
      kind,
      inMirror,
      String((held.get(kind ?? '') ?? 0) - added),
    ]);
    expect(Number(inService)).toBeGreaterThan(0);
  }
  expect(stdout).toMatch(/\nproduct_name +lines +total\n-+ +-+ +-+\n(.+\n){5}\n2\. /);
  expect(stdout).toMatch(/\n {2}~ clients \d+ updated: phone: ".+" → "\(418\) 555-0199"\n/);
  expect(stdout).toMatch(/\n {2}\+ clients \d+ created: code: "NEW-1", name: "Garage Beaupré inc\."/);
  expect(stdout).toMatch(/\n {2}- clients \d+ deleted: code: ".+", name: ".+"/);
  expect(stdout).toMatch(/\n {2}done: {4}the list shows it as \d+; requests sent: 1\n/);
  expect(stdout).toContain('clients with the code DEMO-1 in the service: 1');
}

async function expectDocument(ended: Ended): Promise<void> {
  const expected = await startSandbox();
  await expected.close();
  expect(ended).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
  const { database, kinds, question, answer, events, lostAnswer } = document(ended) as Demo;
  expect(database).toBe('./data/demo.db');
  expect(kinds).toEqual(
    KIND_NAMES.map((kind) => ({
      kind,
      inService: expected.world.count(kind),
      inMirror: expected.world.count(kind),
    })),
  );
  expect(question).toContain('bi_purchase_products');
  expect(answer).toHaveLength(5);
  expect(answer[0]).toEqual(expectedFirst(expected.world));
  expect(events.map(({ change }) => change)).toEqual(['updated', 'created', 'deleted', 'created']);
  expect(lostAnswer).toMatchObject({ state: 'done', sent: 1, inService: 1 });
}

describe('sandbox', () => {
  test('says where it answers, serves a pull with the faults of its file, and stops at Ctrl-C with 0', async () => {
    const faults = join(tempFolder(), 'faults.yaml');
    writeFileSync(faults, '- on: {kind: providers}\n  do: {html: true}\n');
    const program = start(['sandbox', '--port', '0', '--size', '12', '--faults', faults, '--json']);
    const { url, token } = JSON.parse(await linesTo(program, /^/)) as { url: string; token: string };

    const ended = await run(
      ['pull', 'clients', 'providers', '--json'],
      settingsFor({ url, token }, await grownMirror()),
    );

    expect(ended.code).toBe(3);
    expect(kindIn(ended, 'clients')).toMatchObject({ state: 'certified', rows: 12 });
    expect(kindIn(ended, 'providers')).toMatchObject({ state: 'invalid', reason: 'html' });
    program.child.kill('SIGINT');
    const stopped = await program.ended;
    expect(stopped).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(document(stopped)).toEqual({ url, token });
  });

  test('tells a person what to type', async () => {
    const program = start(['sandbox', '--port', '0', '--size', '3']);
    await linesTo(program, /^/);
    program.child.kill('SIGTERM');

    const { code, stdout } = await program.ended;

    expect(code).toBe(0);
    expect(stdout).toMatch(/^The sandbox answers at http:\/\/127\.0\.0\.1:\d+; Ctrl-C stops it\.\n/);
    expect(stdout).toMatch(/\nTry: BMS_BASE_URL=http:\S+ BMS_TOKEN=sandbox-token .*pull\n$/);
  });

  test('a port that is taken fails it with 1, by name', async () => {
    await using taken = await startSandbox({ size: 3 });
    const port = new URL(taken.url).port;

    const ended = await run(['sandbox', '--port', port]);

    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain(port);
    expect(ended.stderr).not.toContain('This is a bug');
  });

  test('a port that there is not is a usage fault, 2', async () => {
    const ended = await run(['sandbox', '--port', '99999']);

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('99999');
    expect(ended.stderr).not.toContain('This is a bug');
  });
});

/** What was bought most, by the service's own records and exact arithmetic. */
function expectedFirst(world: Awaited<ReturnType<typeof startSandbox>>['world']): object {
  const totals = new Map<string, { lines: number; cents: bigint }>();
  for (const id of world.ids('purchase_products')) {
    const record = world.get('purchase_products', id);
    const name = record?.['product_name'] as string;
    const { lines, cents } = totals.get(name) ?? { lines: 0, cents: 0n };
    const total = BigInt((record?.['produit_total'] as string).replace('.', ''));
    totals.set(name, { lines: lines + 1, cents: cents + total });
  }
  const [first] = [...totals].sort(([, a], [, b]) => (a.cents < b.cents ? 1 : -1));
  if (first === undefined) return {};
  const digits = String(first[1].cents);
  return {
    product_name: first[0],
    lines: first[1].lines,
    total: `${digits.slice(0, -2)}.${digits.slice(-2)}`,
  };
}
