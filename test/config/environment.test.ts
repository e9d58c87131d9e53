import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { unknownVariables, withEnvFile } from '../../src/config/environment.ts';
import { canary } from '../support/canary.ts';
import { refusal, tempFile } from './support.ts';

const ADMIN_TOKEN = canary('-admin-token-of-32-chars');

describe('plain variables', () => {
  test('each sets its setting', () => {
    const config = loadConfig({
      env: {
        BMS_BASE_URL: 'https://bms.example/api/',
        BMS_TOKEN: '12345',
        DATABASE_URL: 'file:/tmp/a.db',
        QUEUE_URL: 'rediss://queue',
        ADMIN_TOKEN,
        HOST: '0.0.0.0',
        PORT: '0',
        LOG_LEVEL: 'debug',
        BMS_WRITES: 'on',
      },
    });
    expect(config.source).toMatchObject({ baseUrl: 'https://bms.example/api', token: '12345' });
    expect(config.database.url).toBe('file:/tmp/a.db');
    expect(config.queue.url).toBe('rediss://queue');
    expect(config.server).toEqual({
      adminToken: ADMIN_TOKEN,
      host: '0.0.0.0',
      names: [],
      port: 0,
      publicUrl: null,
      trustedHeader: null,
    });
    expect(config.log.level).toBe('debug');
    expect(config.outbound.writes).toBe('on');
  });

  test('REDIS_URL is the queue unless QUEUE_URL is', () => {
    const REDIS_URL = 'redis://one';
    expect(loadConfig({ env: { REDIS_URL } }).queue.url).toBe(REDIS_URL);
    expect(loadConfig({ env: { REDIS_URL, QUEUE_URL: 'redis://two' } }).queue.url).toBe('redis://two');
  });

  test('BMS_TOKEN_FILE names a file whose last line break is no part of the token', () => {
    const env = { BMS_TOKEN_FILE: tempFile('token', 'the-token\r\n') };
    expect(loadConfig({ env }).source.token).toBe('the-token');
  });

  test('BMS_TOKEN beside BMS_TOKEN_FILE is refused by both names', () => {
    const env = { BMS_TOKEN: 'the-token', BMS_TOKEN_FILE: tempFile('token', 'the-token\n') };
    expect(refusal({ env })).toContain('BMS_TOKEN and BMS_TOKEN_FILE are both set; unset one of them');
  });

  test('an empty token file is refused', () => {
    expect(refusal({ env: { BMS_TOKEN_FILE: tempFile('token', '\n') } })).toContain(
      'source.token (from BMS_TOKEN_FILE)',
    );
  });

  test('an empty variable is unset', () => {
    const env = {
      BMS_TOKEN: '',
      QUEUE_URL: '',
      REDIS_URL: 'redis://one',
      BMS__LOG__LEVEL: '',
      BMS__NO_SUCH: '',
    };
    const config = loadConfig({ env });
    expect(config.source.token).toBeNull();
    expect(config.queue.url).toBe('redis://one');
    expect(config.log.level).toBe('info');
  });

  test('other variables are nobody’s business', () => {
    expect(loadConfig({ env: { PATH: '/bin', BMS_OTHER: 'x' } })).toEqual(loadConfig({ env: {} }));
    expect(unknownVariables({ BMS_TOKN: 'x', BMS_TOKEN: 'y', BMS_TEST_SEED: '1', BMS__NOPE: 'z' })).toEqual([
      'BMS_TOKN sets nothing; did you mean BMS_TOKEN?',
    ]);
  });
});

describe('BMS__ variables', () => {
  const free = ['bi.readerRole', 'mail.from']; // Any text can be the name of a role, or of a sender.
  const choosy = SETTINGS.filter(({ name }) => !free.includes(name));

  test.each(choosy)('$variable sets $name', ({ name, variable }) => {
    expect(refusal({ env: { [variable]: 'never right: {' } })).toContain(`${name} (from ${variable}): got`);
  });

  test('are the path in capitals, words split by _ and levels by __', () => {
    expect(SETTINGS.map(({ variable }) => variable)).toContain('BMS__DELETIONS__HOLD_ABOVE__ROWS');
    expect(SETTINGS.map(({ variable }) => variable)).toContain('BMS__OUTBOUND__PATIENCE_SECONDS');
  });

  test('numbers, lists, maps and null are JSON', () => {
    const config = loadConfig({
      env: {
        BMS__DELETIONS__GRACE_SECONDS: '1',
        BMS__SOURCE__AUTH_HEADERS: '["Authorization"]',
        BMS__WEBHOOKS__RETRY_SECONDS: '[1,2.5]',
        BMS__DIFF__IGNORE_FIELDS: '{"clients":["notes"]}',
        BMS__RETENTION__RUNS_DAYS: 'null',
        BMS__SCHEDULES: '{"clients":"0 * * * *"}',
      },
    });
    expect(config.deletions.graceSeconds).toBe(1);
    expect(config.source.authHeaders).toEqual(['Authorization']);
    expect(config.webhooks.retrySeconds).toEqual([1, 2.5]);
    expect(config.diff.ignoreFields).toEqual({ clients: ['notes'] });
    expect(config.retention.runsDays).toBeNull();
    expect(config.schedules).toMatchObject({ timezone: 'UTC', clients: '0 * * * *' });
  });

  test('a whole group can be given as JSON, and one of its settings is stronger', () => {
    const env = { BMS__DELETIONS__HOLD_ABOVE: '{"rows":1,"share":1}', BMS__DELETIONS__HOLD_ABOVE__ROWS: '2' };
    expect(loadConfig({ env }).deletions.holdAbove).toEqual({ rows: 2, share: 1 });
  });

  test('an unknown one is refused with the nearest known one', () => {
    expect(refusal({ env: { BMS__SOURCE__BASEURL: 'https://bms.example' } })).toContain(
      'BMS__SOURCE__BASEURL: unknown setting; did you mean BMS__SOURCE__BASE_URL?',
    );
  });
});

describe('the .env file', () => {
  test('adds what the real environment does not have', () => {
    const path = tempFile('.env', 'LOG_LEVEL=debug\nPORT="1234" # a comment\n');
    expect(withEnvFile({ LOG_LEVEL: 'warn' }, path)).toEqual({ LOG_LEVEL: 'warn', PORT: '1234' });
  });

  test('may be missing', () => {
    expect(withEnvFile({ PORT: '1' }, '/nowhere/.env')).toEqual({ PORT: '1' });
  });
});
