import { DatabaseSync } from 'node:sqlite';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';

const CREATES = 100;
/** After every fifth create the answer is lost: a gateway answers 502, or the connection breaks. */
const FAULTS = Array.from({ length: 20 }, (_, n) => ({
  on: { kind: 'clients', method: 'POST' },
  skip: n * 5,
  times: 1,
  do: n % 2 === 0 ? ({ statusAfter: 502 } as const) : ({ drop: 'after' } as const),
}));
const codes = Array.from({ length: CREATES }, (_, n) => `BESIDE-${n}`);

/** Sends a hundred creates; twenty lose their answers; returns how many clients the service then has too many or too few. */
export async function lostAnswers(tool: 'bms-sync' | 'drt', environments: string): Promise<object> {
  await using sandbox = await startSandbox({ size: 100, faults: FAULTS });
  const folder = mkdtempSync(join(tmpdir(), 'beside-'));
  try {
    const waiting =
      tool === 'drt' ? await sendByDrt(sandbox, environments, folder) : await sendByUs(sandbox, folder);
    const { world } = sandbox;
    const sent = world.ids('clients').map((id) => world.get('clients', id)?.['code']);
    const times = codes.map((code) => sent.filter((one) => one === code).length);
    const doubled = times.reduce((sum, count) => sum + Math.max(0, count - 1), 0);
    return { doubled, missing: times.filter((count) => count === 0).length, waiting };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sendByUs(sandbox: Sandbox, folder: string): Promise<number> {
  const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
  const env = {
    PATH: process.env['PATH'],
    BMS_BASE_URL: sandbox.url,
    BMS_TOKEN: sandbox.token,
    BMS_WRITES: 'on',
    DATABASE_URL: `file:${folder}/mirror.db`,
    PORT: '0',
  };
  const ours = (argv: readonly string[]) => spawn(process.execPath, [program, ...argv], { cwd: folder, env });
  await once(ours(['pull', 'clients']), 'close');
  const push = ours(['push', '--batch']);
  for (const code of codes)
    push.stdin.write(
      `${JSON.stringify({ operation: 'create', kind: 'clients', data: { code, name: code } })}\n`,
    );
  push.stdin.end();
  await once(push, 'close');
  const serve = ours(['serve', '--only', 'pulls,outbound']);
  const mirror = new DatabaseSync(`${folder}/mirror.db`, { readOnly: true });
  const count = (states: string): number =>
    Number(mirror.prepare(`select count(*) as n from outbox where state in (${states})`).get()?.['n']);
  while (count(`'ready', 'sending', 'unsettled'`) > 0) await delay(500);
  const waiting = count(`'parked', 'rejected'`);
  mirror.close();
  serve.kill();
  await once(serve, 'close');
  return waiting;
}

async function sendByDrt(sandbox: Sandbox, environments: string, folder: string): Promise<number> {
  const source = new DatabaseSync(`${folder}/source.db`);
  source.exec('create table clients (code text, name text)');
  for (const code of codes) source.prepare('insert into clients values (?, ?)').run(code, code);
  source.close();
  mkdirSync(`${folder}/.drt`);
  mkdirSync(`${folder}/syncs`);
  writeFileSync(`${folder}/.drt/profiles.yml`, `beside:\n  type: sqlite\n  database: ${folder}/source.db\n`);
  writeFileSync(`${folder}/drt_project.yml`, 'name: beside\nversion: "0.1"\nprofile: beside\n');
  writeFileSync(
    `${folder}/syncs/clients.yml`,
    `name: clients
model: ref('clients')
destination:
  type: rest_api
  url: ${sandbox.url}/api/clients
  method: POST
  headers: { Content-Type: application/json, Authorization: Bearer ${sandbox.token} }
  body_template: '{"code": "{{ row.code }}", "name": "{{ row.name }}"}'
sync: { mode: full, batch_size: 100, on_error: skip, rate_limit: { requests_per_second: 50 } }
`,
  );
  const drt = spawn(join(environments, 'drt/bin/drt'), ['run'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, DRT_TELEMETRY: 'off' },
    stdio: 'inherit',
  });
  await once(drt, 'close');
  return 0;
}
