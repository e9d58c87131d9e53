import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openConfiguredSource } from '../../src/app/open-source.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import { systemClock } from '../../src/lib/time/clock.ts';
import { documentedKind as clients } from '../source/open-source.ts';
import { canary } from '../support/canary.ts';
import { send, serve } from '../support/serve.ts';
import { tempFolder } from '../support/temp-folder.ts';

const FORMER = canary('-the-former-token');
const LATER = canary('-the-later-token');
const CREATE = { kind: clients, operation: 'create', id: null, body: '{"code":"A1"}' } as const;

/** A service that accepts the later token only, and a client of it that began with the former one. */
async function stage(variables: Readonly<Record<string, string>> = {}) {
  const sent: (string | undefined)[] = [];
  const lines: string[] = [];
  const baseUrl = await serve(({ headers: { authorization } }, response) => {
    sent.push(authorization?.replace('Bearer ', ''));
    const isKnown = authorization?.endsWith(LATER) === true;
    send(response, isKnown ? { id: 1, data: [] } : { message: `not ${authorization}` }, isKnown ? 200 : 401);
  });
  const file = join(tempFolder(), 'token');
  writeFileSync(file, FORMER);
  const config = loadConfig({ env: { BMS_BASE_URL: baseUrl, BMS_TOKEN_FILE: file, ...variables } });
  writeFileSync(file, `${LATER}\n`);
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ level: 'debug', secrets: [FORMER], destination });
  const source = openConfiguredSource(config, { clock: systemClock, logger });
  return { source, sent, lines, logger };
}

test('a read that is refused is made again with the token that its file has by now', async () => {
  const { source, sent, lines, logger } = await stage();
  await source.probe(clients);
  await source.probe(clients);
  expect(sent).toEqual([FORMER, LATER, LATER]);
  logger.info(`a line with ${LATER}`);
  expect(lines.join('')).not.toContain(LATER);
  await source.close();
});

test('a write that is refused is sent once; the next one goes with the token of the file', async () => {
  const { source, sent } = await stage();
  expect(await source.write(CREATE)).toMatchObject({ is: 'answered', status: 401 });
  expect(sent).toEqual([FORMER]);
  expect(await source.write(CREATE)).toMatchObject({ is: 'answered', status: 200 });
  expect(sent).toEqual([FORMER, LATER]);
  await source.close();
});

test('a token that was set otherwise is not replaced by that of the file', async () => {
  const { source, sent } = await stage({ BMS__SOURCE__TOKEN: 'another-token' });
  await expect(source.probe(clients)).rejects.toMatchObject({ reason: 'unauthorized' });
  expect(sent).toEqual(['another-token']);
  await source.close();
});
