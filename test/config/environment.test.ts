import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';
import { loadConfig, listSecrets } from '../../src/config/load-config.ts';
import { addEnvFile } from '../../src/config/environment.ts';
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
    expect(refusal({ env })).toContain('BMS_TOKEN and BMS_TOKEN_FILE are both set; unset one');
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
    expect(loadConfig({ env: { PATH: '/bin', BMS: 'x', BMS_EMPTY: '' } })).toEqual(loadConfig({ env: {} }));
  });
});

describe('BMS__ variables', () => {
  // Any text can be the name of a role, a sender or a status.
  const free = ['bi.readerRole', 'mail.from', 'reports.sold', 'reports.owed', 'reports.bought'];
  const choosy = SETTINGS.filter(({ name }) => !free.includes(name));

  test.each(choosy)('$variable sets $name', ({ name, variable }) => {
    expect(refusal({ env: { [variable]: 'never right: {' } })).toContain(`${name} (from ${variable}): got`);
  });

  test('are the path in capitals, words split by _ and levels by __', () => {
    expect(SETTINGS.map(({ variable }) => variable)).toContain('BMS__DELETIONS__HOLD_ABOVE__ROWS');
    expect(SETTINGS.map(({ variable }) => variable)).toContain('BMS__OUTBOUND__PATIENCE_SECONDS');
  });

  test('a name within a map goes as JSON into the variable of the map; a misspelt setting is still guessed', () => {
    expect(refusal({ env: { BMS__SCHEDULES__CLIENTS: '@daily' } })).toContain(
      'BMS__SCHEDULES__CLIENTS: unknown setting; the names in schedules go as JSON into BMS__SCHEDULES',
    );
    expect(refusal({ env: { BMS__SCHEDULES__TIME_ZONE: 'UTC' } })).toContain(
      'mean BMS__SCHEDULES__TIMEZONE?',
    );
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

  test('a list may be its parts between commas', () => {
    const env = {
      BMS__SOURCE__AUTH_HEADERS: 'Authorization, Authentication',
      BMS__WEBHOOKS__RETRY_SECONDS: '1,2.5',
    };
    const config = loadConfig({ env });
    expect(config.source.authHeaders).toEqual(['Authorization', 'Authentication']);
    expect(config.webhooks.retrySeconds).toEqual([1, 2.5]);
    expect(loadConfig({ env: { BMS__WEBHOOKS__ALLOW_HOSTS: 'erp.lan' } }).webhooks.allowHosts).toEqual([
      'erp.lan',
    ]);
    const broken = { BMS__SOURCE__AUTH_HEADERS: '["Authorization"' };
    expect(() => loadConfig({ env: broken })).toThrow(/not valid JSON/);
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
  const BOM = '\ufeff';
  const read = (text: string | Uint8Array, env = {}) => addEnvFile(env, tempFile('.env', text));

  test('adds what the real environment does not have', () => {
    const values = read('LOG_LEVEL=debug\nPORT="1234" # a comment\n', { LOG_LEVEL: 'warn' });
    expect(values).toEqual({ LOG_LEVEL: 'warn', PORT: '1234' });
  });

  test('may be missing', () => {
    expect(addEnvFile({ PORT: '1' }, '/nowhere/.env')).toEqual({ PORT: '1' });
  });

  test('keeps its first variable behind a byte order mark', () => {
    expect(read(`${BOM}DATABASE_URL=file:a.db\r\nPORT=1\r\n`)).toEqual({
      DATABASE_URL: 'file:a.db',
      PORT: '1',
    });
  });

  test.each([
    ['UTF-16', Buffer.from(`${BOM}PORT=1\n`, 'utf16le')],
    ['UTF-16', Buffer.from('PORT=1\n', 'utf16le')],
    ['UTF-16', Buffer.from(`${BOM}PORT=1\n`, 'utf16le').swap16()],
    ['another encoding', Buffer.from('BMS_TOKEN=clé\n', 'latin1')],
  ])('is refused in %s', (encoding, bytes) => {
    expect(() => read(bytes)).toThrow(`is in ${encoding}`);
  });
});

describe('files that variables and flags name', () => {
  test.each([
    ['BMS_TOKEN_FILE', 'token'],
    ['BMS_CONFIG', 'source: {token: token}\n'],
  ])('%s may begin with a byte order mark, and is refused in UTF-16', (variable, text) => {
    expect(loadConfig({ env: { [variable]: tempFile('f', `\ufeff${text}`) } }).source.token).toBe('token');
    const file = tempFile('f', Buffer.from(`\ufeff${text}`, 'utf16le'));
    expect(refusal({ env: { [variable]: file } })).toContain('is in UTF-16, not in UTF-8: save it as UTF-8');
  });
});

describe('URLs with a user', () => {
  const URLS = [
    ['SMTP_URL', 'smtp://bms%40mail.example:PASSWORD@mail.example'],
    ['QUEUE_URL', 'redis://:PASSWORD@queue.example:6379'],
    ['DATABASE_URL', 'postgres://bms:PASSWORD@db.example:5432/mirror'],
    ['BMS__SOURCE__PROXY_URL', 'http://bms:PASSWORD@proxy.example:3128'],
  ] as const;
  const wrong = URLS.flatMap(([variable, url]) =>
    ['50%off', 'a/b', 'a#b', 'a?b'].map(
      (password) => [variable, password, url.replace('PASSWORD', password)] as const,
    ),
  );

  test.each(wrong)('%s with the password %s is refused in one sentence', (variable, password, url) => {
    const text = refusal({ env: { [variable]: url } });
    expect(text).toContain('write % as %25');
    expect(text).not.toContain(password);
  });

  test.each(URLS)('%s with encoded signs is taken, and its password masked', (variable, url) => {
    const config = loadConfig({ env: { [variable]: url.replace('PASSWORD', '50%25off%23') } });
    expect(listSecrets(config)).toContain('50%off#');
  });

  test('a path of SQLite may have any sign', () => {
    expect(loadConfig({ env: { DATABASE_URL: 'file:./50%off #1.db' } }).database.url).toBe(
      'file:./50%off #1.db',
    );
  });
});
