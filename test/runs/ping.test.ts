import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { canary } from '../support/canary.ts';
import { run, settingsFor } from '../support/command-line.ts';
import { start } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

const SECRET = canary('-of-the-monitor');

/** A monitor outside, with the methods and paths that it was asked for. */
async function startMonitor(status = 200) {
  const asked: string[] = [];
  const server = createServer(({ method = '', url = '' }, response) => {
    asked.push(`${method} ${url}`);
    response.writeHead(status).end('OK');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { asked, url: `http://127.0.0.1:${port}/${SECRET}` };
}

/** A service whose list of departments cannot be read from its second request on, with a mirror. */
async function scene(monitorUrl: string, failsAfter: number) {
  const faults = [{ on: { kind: 'departments' as const }, skip: failsAfter, do: { html: true as const } }];
  const sandbox = await startSandbox({ size: 5, faults });
  onTestFinished(() => sandbox.close());
  const more = { BMS__MONITOR__PING_URL: monitorUrl, BMS__SCHEDULES__ALL: 'null', PORT: '0' };
  return { env: { ...settingsFor(sandbox, await grownMirror()), ...more } };
}

const GOOD = `GET /${SECRET}`;
const BAD = `${GOOD}/fail`;

test('a pull pings when everything scheduled is read, and after a failure', async () => {
  const monitor = await startMonitor();
  const good = await scene(`${monitor.url}?every=1h`, Infinity);
  await run(['pull'], good.env);
  const bad = await scene(monitor.url, 0);
  await run(['pull', 'departments', 'clients'], bad.env); // One of two.
  await run(['pull', 'clients'], { ...bad.env, BMS__SCHEDULES__ALL: '' }); // Departments are scheduled, and still unread.
  await run(['pull', 'clients'], bad.env);
  await run(['pull', 'clients'], { ...bad.env, BMS_BASE_URL: 'http://127.0.0.1:9' }); // Another source's mirror.
  expect(monitor.asked).toEqual([`${GOOD}?every=1h`, BAD, GOOD, BAD]);
});

test('serve pings after each of its pulls, which a pull beside it hands over', async () => {
  const monitor = await startMonitor();
  const { env } = await scene(monitor.url, Infinity);
  await run(['migrate'], env);
  const serving = start(['serve', '--only', 'pulls'], { env });
  onTestFinished(() => void serving.child.kill('SIGKILL'));
  const isServed = async () => /isServed":\s*true/.test((await run(['status', '--json'], env)).stdout);
  await expect.poll(isServed).toBe(true);
  await run(['pull', 'departments'], { ...env, BMS__MONITOR__PING_URL: 'http://127.0.0.1:2/not-this-one' });
  await expect.poll(() => monitor.asked).toEqual([GOOD]);
});

test.each([
  ['answers otherwise', 500, 'it answered 500'],
  ['is away', null, 'connection refused'],
])('a monitor that %s changes no pull; the log says so without its address', async (_, status, why) => {
  const url = status === null ? `http://127.0.0.1:2/${SECRET}` : (await startMonitor(status)).url;
  const { env } = await scene(url, Infinity);
  const ended = await run(['pull', 'departments'], env);
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain(`"event":"monitor.unreachable"`);
  expect(ended.stderr).toContain(why);
  expect(ended.stderr + ended.stdout).not.toContain(SECRET);
});

test('no other address than one of http or https is a setting', async () => {
  const ended = await run(['status'], { BMS__MONITOR__PING_URL: `ftp://127.0.0.1/${SECRET}` });
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('an http or https URL') as string });
  expect(ended.stderr).not.toContain(SECRET);
});
