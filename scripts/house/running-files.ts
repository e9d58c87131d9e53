import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The sources, not the bundle: V8 counts by file. */
const PROGRAM = ['--import', import.meta.resolve('tsx'), join(import.meta.dirname, '../../src/main.ts')];
const ENTRIES = 20;
/** Clients of the service that is pulled: nothing at the beginning or the end of so long a list runs as often as its pages. */
const CLIENTS = 20_000;

/** The files of `src/` whose functions run for every page of a first pull, every entry that is pushed, and every event that is delivered. */
export interface FilesThatRun {
  readonly page: readonly string[];
  readonly entry: readonly string[];
  readonly event: readonly string[];
}

/** Runs a pull, and a push with a webhook, and counts with V8's coverage. */
export async function filesThatRun(): Promise<FilesThatRun> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-house-'));
  try {
    const page = await pullAll(join(folder, 'pull'), folder);
    return { page, ...(await pushSome(join(folder, 'push'), folder)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function pullAll(coverage: string, folder: string): Promise<string[]> {
  const sandbox = await startSandbox(folder, 'pull', ['--size', String(CLIENTS)]);
  try {
    const report = await run(['pull', '--json'], { folder, coverage, env: sandbox.env });
    const { kinds } = JSON.parse(report) as { readonly kinds: readonly { readonly pages: number }[] };
    const pages = kinds.reduce((sum, { pages }) => sum + pages, 0);
    return filesOver(coverage, pages, /^(?:source|pull|diff|store|db)\//);
  } finally {
    sandbox.stop();
  }
}

/** No sweep runs beside the entries: the pull before them, but after the start of `serve`, is their pre-image. */
async function pushSome(coverage: string, folder: string): Promise<Pick<FilesThatRun, 'entry' | 'event'>> {
  const sandbox = await startSandbox(folder, 'push');
  let received = 0;
  const receiver = createServer((_, response) => {
    received += 1;
    response.end();
    receiver.emit('received');
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const hosts = { BMS__WEBHOOKS__ALLOW_HOSTS: '["127.0.0.1"]' };
  const env = { ...sandbox.env, ...hosts, BMS_WRITES: 'on', PORT: '0' };
  try {
    const lines = Array.from({ length: ENTRIES }, (_, n) =>
      JSON.stringify({ operation: 'create', kind: 'clients', data: { code: `H-${n}`, name: `House ${n}` } }),
    );
    await run(['migrate'], { folder, env });
    const serve = start(['serve', '--only', 'outbound,webhooks'], { folder, env, coverage });
    await once(serve.stderr, 'data');
    await run(['webhooks', 'add', `http://127.0.0.1:${port}`, '--name', 'house'], { folder, env });
    await run(['pull', 'clients'], { folder, env });
    await run(['push', '--batch'], { folder, env, stdin: lines.join('\n') });
    while (received < ENTRIES) await once(receiver, 'received');
    serve.kill('SIGTERM');
    await once(serve, 'exit');
    return {
      entry: filesOver(coverage, ENTRIES, /^(?:source|outbound|runs|diff|store|db)\//),
      event: filesOver(coverage, ENTRIES, /^events\//),
    };
  } finally {
    receiver.close();
    sandbox.stop();
  }
}

interface Running {
  readonly folder: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly coverage?: string;
  readonly stdin?: string;
}

function start(args: readonly string[], { folder, env, coverage }: Running) {
  return spawn(process.execPath, [...PROGRAM, ...args], {
    cwd: folder,
    env: { ...process.env, ...env, ...(coverage !== undefined && { NODE_V8_COVERAGE: coverage }) },
  });
}

async function run(args: readonly string[], running: Running): Promise<string> {
  const child = start(args, running);
  child.stdin.end(running.stdin ?? '');
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`bms-sync ${args.join(' ')} ended with ${code}`);
  return text;
}

async function startSandbox(
  folder: string,
  name: string,
  options: readonly string[] = [],
): Promise<{ readonly env: NodeJS.ProcessEnv; readonly stop: () => void }> {
  const child = start(['sandbox', '--port', '0', '--json', ...options], { folder });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { url, token } = JSON.parse(line.toString()) as { readonly url: string; readonly token: string };
  const env = { BMS_BASE_URL: url, BMS_TOKEN: token, DATABASE_URL: `file:${join(folder, `${name}.db`)}` };
  return { env, stop: () => child.kill() };
}

interface Script {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly count: number }[];
  }[];
}

/** What the compiler adds runs once for each function of a file, as the file is loaded. */
const ADDED = '__name';

/** Project files in which a function ran at least so often. */
function filesOver(coverage: string, least: number, folders: RegExp): string[] {
  const files = new Set<string>();
  for (const name of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as {
      readonly result: readonly Script[];
    };
    for (const { url, functions } of result) {
      const file = url.split('/src/')[1];
      if (file === undefined || !folders.test(file)) continue;
      const own = functions.filter(({ functionName }) => functionName !== ADDED);
      if (own.some(({ ranges }) => (ranges[0]?.count ?? 0) >= least)) files.add(file);
    }
  }
  return [...files].sort();
}
