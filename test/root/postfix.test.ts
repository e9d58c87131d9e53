import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { checkMail } from '../../src/features/notify/checks.ts';
import { createMailer } from '../../src/features/notify/mailer.ts';
import { findProgram } from '../support/apt.ts';
import { freePort, isListening } from '../support/redis-server.ts';

// cspell:disable
/** The services that take a letter; `discard` delivers it to nobody. */
const SERVICES = [
  'cleanup unix n - n - 0 cleanup',
  'qmgr unix n - n 300 1 qmgr',
  'tlsmgr unix - - n 1000? 1 tlsmgr',
  'rewrite unix - - n - - trivial-rewrite',
  'bounce unix - - n - 0 bounce',
  'defer unix - - n - 0 bounce',
  'discard unix - - n - - discard',
  'anvil unix - - n - 1 anvil',
  'postlog unix-dgram n - n - 1 postlogd',
];
// cspell:enable

/** Starts Postfix with the certificate that Debian makes for it, as Debian sets it up: TLS if a client wants it, no password. */
async function startPostfix() {
  const names = ['postfix', '../sbin/postfix'];
  const postfix = findProgram({ names, package: 'postfix', what: 'Postfix, and to be root,' });
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'bms-postfix-')); // Its other users reach it here.
  chmodSync(folder, 0o755);
  for (const name of ['queue', 'data']) mkdirSync(join(folder, name));
  chmodSync(join(folder, 'data'), 0o777);
  // cspell:disable
  const settings = [
    'compatibility_level = 3.6',
    `queue_directory = ${folder}/queue`,
    `data_directory = ${folder}/data`,
    `maillog_file = ${folder}/log`,
    `maillog_file_prefixes = ${folder}`,
    'inet_interfaces = 127.0.0.1',
    'inet_protocols = ipv4',
    'myhostname = garage.example',
    'local_recipient_maps =',
    'alias_maps =',
    'smtpd_tls_cert_file = /etc/ssl/certs/ssl-cert-snakeoil.pem',
    'smtpd_tls_key_file = /etc/ssl/private/ssl-cert-snakeoil.key',
    'smtpd_tls_security_level = may',
    'smtpd_tls_loglevel = 1',
    'default_transport = discard',
  ];
  // cspell:enable
  writeFileSync(join(folder, 'main.cf'), `${settings.join('\n')}\n`);
  const server = `127.0.0.1:${port} inet n - n - - smtpd`;
  writeFileSync(join(folder, 'master.cf'), `${[server, ...SERVICES].join('\n')}\n`);
  const child = spawn(postfix, ['-c', folder, 'start-fg'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const log = (): string => readFileSync(join(folder, 'log'), 'utf8');
  const pid = join(folder, 'queue/pid/master.pid');
  onTestFinished(async () => {
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  });
  for (let tries = 0; tries < 500 && child.exitCode === null; tries += 1) {
    if (await isListening(port)) return { url: `smtp://127.0.0.1:${port}`, log };
    await delay(20);
  }
  throw new Error(`Postfix did not start: ${log()}`);
}

test("Postfix on this machine takes a letter over TLS with Debian's own certificate, without a password", async () => {
  const server = await startPostfix();
  expect(await checkMail({ mail: { url: server.url } })).toMatchObject([{ ok: true }]);
  const mailer = createMailer({ url: server.url, from: 'bms@garage.example' }, 20_000);
  const endpoint = { url: 'mailto:anna@example.org' };
  const letter = { endpoint, webhookId: 'x', subject: 'Hello', body: 'Hello' };
  expect(await mailer.send(letter, new AbortController().signal)).toMatchObject({ status: 250 });
  await expect.poll(server.log, { timeout: 20_000 }).toContain('status=sent');
  expect(server.log()).toContain('TLS connection established from localhost');
});
