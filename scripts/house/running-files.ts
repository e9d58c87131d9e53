import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The sources, not the bundle: V8 counts by file. */
const PROGRAM = ['--import', import.meta.resolve('tsx'), join(import.meta.dirname, '../../src/main.ts')];
const ENTRIES = 20;
/** Clients of the service that is pulled: nothing at the beginning or the end of so long a list runs as often as its pages. */
const CLIENTS = 20_000;

/** The files whose functions run for every page of a first pull, and for every entry that is pushed, by V8's counts. */
export async function filesThatRun(): Promise<{ readonly page: string[]; readonly entry: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-house-'));
  try {
    const page = await pullAll(join(folder, 'pull'), folder);
    return { page, entry: await pushSome(join(folder, 'push'), folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function pullAll(coverage: string, folder: string): Promise<string[]> {
  const sandbox = await startSandbox(folder, 'pull', ['--size', String(CLIENTS)]);
  try {
    const report = await run(['pull', '--json'], { folder, coverage, env: sandbox.env });
    const { kinds } = JSON.parse(report) as { readonly kinds: readonly { readonly pages: number }[] };
    return filesOver(
      coverage,
      kinds.reduce((sum, { pages }) => sum + pages, 0),
      /^(?:source|pull|diff|mirror)\//,
    );
  } finally {
    sandbox.stop();
  }
}

async function pushSome(coverage: string, folder: string): Promise<string[]> {
  const sandbox = await startSandbox(folder, 'push');
  const env = { ...sandbox.env, BMS_WRITES: 'on', PORT: '0' };
  try {
    const lines = Array.from({ length: ENTRIES }, (_, n) =>
      JSON.stringify({ operation: 'create', kind: 'clients', data: { code: `H-${n}`, name: `House ${n}` } }),
    );
    await run(['pull', 'clients'], { folder, env });
    await run(['push', '--batch'], { folder, env, stdin: lines.join('\n') });
    const serve = start(['serve', '--only', 'pulls,outbound'], { folder, env, coverage });
    while (!(await isDone(folder, env))) await once(serve.stderr, 'data');
    serve.kill('SIGTERM');
    await once(serve, 'exit');
    return filesOver(coverage, ENTRIES, /^(?:source|outbound|jobs|mirror|diff)\//);
  } finally {
    sandbox.stop();
  }
}

async function isDone(folder: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { outbox } = JSON.parse(await run(['status', '--json'], { folder, env })) as {
    readonly outbox: { readonly done: number };
  };
  return outbox.done >= ENTRIES;
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
  readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
}

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
      if (functions.some(({ ranges }) => (ranges[0]?.count ?? 0) >= least)) files.add(file);
    }
  }
  return [...files].sort();
}
