import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfig, listSecrets } from '../../src/config/load-config.ts';
import { canary } from '../support/canary.ts';
import { complaint, refusal, tempFile } from './support.ts';

const CONFIG = join(import.meta.dirname, '../../config');
const ADMIN_TOKEN = canary('-admin-token-of-32-chars');

describe('where a setting comes from', () => {
  test('without anything, every setting has its default', () => {
    const config = loadConfig({ env: {} });
    expect(config.source).toMatchObject({ baseUrl: null, token: null, concurrency: 4, authHeaders: 'all' });
    expect(config.database.url).toBe('file:./data/mirror.db');
    expect(config.deletions).toEqual({
      graceSeconds: 900,
      holdAbove: { rows: 5, share: 0.02 },
      releaseHeldAfterHours: null,
    });
    expect(config.schedules).toEqual({
      timezone: 'UTC',
      all: { kinds: 'all', cron: '*/15 * * * *' },
    });
  });

  test('flags win over BMS__ variables, these over plain ones, these over the file', () => {
    const file = tempFile('settings.yaml', 'log:\n  level: fatal\n');
    const flags = { log: { level: 'trace' } } as const;
    const own = { BMS__LOG__LEVEL: 'debug' };
    const plain = { LOG_LEVEL: 'warn' };
    expect(loadConfig({ env: { ...own, ...plain }, file, flags }).log.level).toBe('trace');
    expect(loadConfig({ env: { ...own, ...plain }, file }).log.level).toBe('debug');
    expect(loadConfig({ env: plain, file }).log.level).toBe('warn');
    expect(loadConfig({ env: {}, file }).log.level).toBe('fatal');
    expect(loadConfig({ env: {} }).log.level).toBe('info');
  });

  test('a stronger origin replaces one setting and leaves its neighbours alone', () => {
    const file = tempFile('settings.yaml', 'deletions:\n  holdAbove:\n    rows: 7\n    share: 0.5\n');
    const config = loadConfig({ env: { BMS__DELETIONS__HOLD_ABOVE__ROWS: '9' }, file });
    expect(config.deletions.holdAbove).toEqual({ rows: 9, share: 0.5 });
  });

  test('a flag that is undefined is not set', () => {
    const flags = { log: { level: undefined } };
    expect(loadConfig({ env: { LOG_LEVEL: 'warn' }, flags }).log.level).toBe('warn');
  });

  test('a group that is left empty in the file keeps its defaults', () => {
    const file = tempFile('settings.yaml', 'server:\n  # port: 1\nkinds:\n');
    expect(loadConfig({ env: {}, file }).server.port).toBe(8080);
  });

  test('an empty file sets nothing', () => {
    expect(loadConfig({ env: {}, file: tempFile('settings.yaml', '# nothing\n') })).toEqual(
      loadConfig({ env: {} }),
    );
  });

  test.each(['on', '"on"', "'on'"])('outbound.writes: %s in YAML means on', (written) => {
    const file = tempFile('settings.yaml', `outbound:\n  writes: ${written}\n`);
    expect(loadConfig({ env: {}, file }).outbound.writes).toBe('on');
  });

  test('the example for production loads', () => {
    const config = loadConfig({ env: {}, file: join(CONFIG, 'example.production.yaml') });
    expect(config.outbound.writes).toBe('on');
    expect(config.schedules).toMatchObject({ timezone: 'America/Toronto', projects: '*/10 7-18 * * 1-5' });
    expect(listSecrets(config)).toEqual([]);
  });
});

describe('faults', () => {
  test('all are reported at once, each with its origin, what was got and what is expected', () => {
    const file = tempFile('settings.yaml', 'source:\n  concurrency: many\n  retries: 3\n');
    const text = refusal({
      env: {
        BMS_BASE_URL: 'ftp://bms.example',
        PORT: '70000',
        BMS__SWEEP__REPEAT_BELOW_PAGE: '3',
        BMS_TOKEN_FILE: '/nowhere/token',
      },
      file,
      flags: { source: { timeoutSeconds: 0 } },
    });
    expect(text.split('\n')).toEqual([
      '7 settings are wrong:',
      '  BMS__SWEEP__REPEAT_BELOW_PAGE: unknown setting; did you mean BMS__SWEEP__REPEAT_BELOW_PAGES?',
      '  source.token (from BMS_TOKEN_FILE): the file /nowhere/token is not there',
      '  source.baseUrl (from BMS_BASE_URL): got "ftp://bms.example"; ' +
        'expected an http or https URL without user, query or fragment',
      `  source.concurrency (from ${file}): got "many"; expected a whole number from 1`,
      '  source.timeoutSeconds (from the command line): got 0; ' +
        'expected a number of seconds above 0, at most 86400',
      `  source.retries (from ${file}): unknown setting`,
      '  server.port (from PORT): got 70000; expected a port: a whole number from 0 to 65535',
    ]);
  });

  test.each([
    ['DATABASE_URL', 'mirror.db'],
    ['DATABASE_URL', 'file:'],
    ['QUEUE_URL', 'localhost'],
    ['SMTP_URL', 'mail.example'],
    ['BMS__SOURCE__PROXY_URL', 'localhost:3128'],
    ['BMS_BASE_URL', 'x y?z'],
    ['BMS__SCHEDULES__TIMEZONE', 'America/Monterrrey'],
  ])('%s=%s is one fault, and is named once', (name, value) => {
    expect(refusal({ env: { [name]: value } })).toMatch(/^One setting is wrong:\n {2}[^\n]*$/);
  });

  test.each([
    ['baseUrl: x', 'baseUrl', 'source.baseUrl'],
    ['source: { base_url: x }', 'source.base_url', 'source.baseUrl'],
    ['sorce: {}', 'sorce', 'source'],
    ['log: { levle: info }', 'log.levle', 'log.level'],
    ['deletions: { rows: 3 }', 'deletions.rows', 'deletions.holdAbove.rows'],
  ])('the unknown key in %s is refused with the nearest known one', (yaml, key, meant) => {
    const file = tempFile('settings.yaml', yaml);
    expect(refusal({ file })).toContain(`${key} (from ${file}): unknown setting; did you mean ${meant}?`);
  });

  test('a key that resembles nothing is refused without a guess', () => {
    expect(refusal({ file: tempFile('settings.yaml', 'zzz: 1\n__proto__: { a: 1 }\n') })).not.toContain(
      'did you mean',
    );
  });

  test('what stands where a group belongs is refused even if a stronger origin sets a part of the group', () => {
    const file = tempFile('settings.yaml', 'log: loud\n');
    expect(refusal({ env: { LOG_LEVEL: 'warn' }, file })).toContain(
      `log (from ${file}): got a text of 4 characters (not shown); expected a map of settings`,
    );
  });

  test('a schedule, a mark or an exception for an unknown record kind is refused', () => {
    const file = tempFile(
      'settings.yaml',
      'schedules: { client: 0 * * * * }\ndiff: { ignoreFields: { wares: [a] } }\n',
    );
    const text = refusal({ file });
    expect(text).toContain('schedules.client');
    expect(text).toContain('unknown record kind "client"; did you mean clients?');
    expect(text).toContain('diff.ignoreFields.wares');
  });

  test('a file that is missing, no YAML or no map is refused', () => {
    expect(refusal({ file: '/nowhere/settings.yaml' })).toContain(
      'The settings file /nowhere/settings.yaml is not there.',
    );
    const broken = tempFile('settings.yaml', 'log:\n  level: "info\n');
    expect(refusal({ file: broken })).toContain(`${broken}:3:1: not valid YAML (missing char)`);
    expect(refusal({ file: tempFile('settings.yaml', '- 1\n') })).toContain('expected a map of settings');
  });

  test.each<[string, string]>([
    ['BMS_BASE_URL', 'https://user:word@bms.example'],
    ['BMS_BASE_URL', 'https://bms.example/?a=b'],
    ['BMS_BASE_URL', 'bms.example'],
    ['BMS_TOKEN', 'two words'],
    ['BMS_TOKEN', 'line\nbreak'],
    ['DATABASE_URL', 'mysql://localhost/db'],
    ['DATABASE_URL', 'file:'],
    ['QUEUE_URL', 'amqp://localhost'],
    ['QUEUE_URL', 'postgres://localhost/queue'],
    ['ADMIN_TOKEN', 'too-short'],
    ['PORT', '-1'],
    ['LOG_LEVEL', 'loud'],
    ['BMS_WRITES', 'yes'],
    ['BMS__SOURCE__CONCURRENCY', '0'],
    ['BMS__SOURCE__CONCURRENCY', '1.5'],
    ['BMS__SOURCE__REQUESTS_PER_SECOND', '0'],
    ['BMS__SOURCE__AUTH_HEADERS', 'bearer'],
    ['BMS__SOURCE__AUTH_HEADERS', '[]'],
    ['BMS__SOURCE__AUTH_HEADERS', '["no header"]'],
    ['BMS__SOURCE__PROXY_URL', 'socks5://localhost'],
    ['BMS__OUTBOUND__PATIENCE_SECONDS', '-1'],
    ['BMS__DELETIONS__HOLD_ABOVE__SHARE', '2'],
    ['BMS__RETENTION__RUNS_DAYS', '0'],
    ['BMS__SCHEDULES__TIMEZONE', 'Atlantis/Capital'],
    ['BMS__SCHEDULES', '{"clients":"often"}'],
    ['BMS__KINDS', '{"clients":{"list":"/a","retrieve":"/a/:id"}}'],
    ['BMS__WEBHOOKS__ALLOW_HOSTS', '["receiver:8080"]'],
    ['BMS__WEBHOOKS__RETRY_SECONDS', '[0]'],
  ])('%s=%s is refused', (name, text) => {
    expect(refusal({ env: { [name]: text } })).toContain(`(from ${name})`);
  });
});

describe('secrets', () => {
  test('all are listed for masking, passwords as written and as meant', () => {
    const config = loadConfig({
      env: {
        BMS_TOKEN: canary('-token'),
        ADMIN_TOKEN,
        DATABASE_URL: 'postgres://u:p%40ss@db/mirror?password=other',
        REDIS_URL: 'redis://:queue-word@redis',
        BMS__SOURCE__PROXY_URL: 'http://u:proxy-word@proxy',
        MCP_TOKEN: canary('-of-mcp'),
      },
    });
    expect(listSecrets(config)).toEqual([
      canary('-token'),
      'proxy-word',
      'p%40ss',
      'p@ss',
      'other',
      'queue-word',
      ADMIN_TOKEN,
      canary('-of-mcp'),
    ]);
  });

  const secret = fc.stringMatching(/^[A-Za-z0-9_*&!%:@#?/.-]{12,40}$/);

  test('none is ever in an error text, whatever is wrong with it and wherever it stands', () => {
    fc.assert(
      fc.property(secret, (word) => {
        const places: Record<string, string>[] = [
          { BMS_TOKEN: `${word} ${word}` },
          { ADMIN_TOKEN: `${word}\n` },
          { BMS_BASE_URL: `https://user:${word}@bms.example/` },
          { DATABASE_URL: `mysql://user:${word}@db/mirror` },
          { QUEUE_URL: `amqp://:${word}@queue` },
          { BMS__SOURCE__PROXY_URL: `socks://u:${word}@proxy` },
          { BMS__SOURCE: `{"token": "${word}` },
          { BMS__SOURCE__TOKEN: `{"value": "${word}"}` },
        ];
        for (const env of places) expect(complaint({ env })).not.toContain(word);
      }),
    );
  });

  test('none is quoted from a YAML file that cannot be read', () => {
    fc.assert(
      fc.property(secret, fc.constantFrom('*', '"', '!', '[', '{', '&', '%', '@', '`'), (word, mark) => {
        const file = tempFile('settings.yaml', `source:\n  token: ${mark}${word}\n  x: 1\n`);
        expect(complaint({ file })).not.toContain(word);
      }),
      { numRuns: 50 },
    );
  });
});

describe('server.trustedHeader', () => {
  const asVariable = (value: object) => ({ BMS__SERVER__TRUSTED_HEADER: JSON.stringify(value) });

  test('is the name of a header, and from where it is believed', () => {
    const trusted = { name: 'X-Forwarded-User', from: ['10.0.0.5', '172.16.0.0/12', '2001:db8::/32'] };
    expect(loadConfig({ env: asVariable(trusted) }).server.trustedHeader).toEqual(trusted);
    expect(loadConfig({ env: {} }).server.trustedHeader).toBeNull();
  });

  const refused: readonly object[] = [
    { name: 'X-Forwarded-User' },
    { name: 'X-Forwarded-User', from: [] },
    { name: 'X-Forwarded-User', from: ['proxy.example'] },
    { name: 'X-Forwarded-User', from: ['10.0.0.0/33'] },
    { name: 'X-Forwarded-User', from: ['10.0.0.0/8/8'] },
    { name: 'two words', from: ['10.0.0.5'] },
    ...['Authorization', 'cookie', 'HOST', 'Origin'].map((name) => ({ name, from: ['10.0.0.5'] })),
    ...['0.0.0.0/0', '::/0', '128.0.0.0/1', '::ffff:0:0/96', '::/8', '2000::/3'].map((network) => ({
      name: 'X-Forwarded-User',
      from: ['10.0.0.5', network],
    })),
  ];
  test.each(refused)('is refused as %j', (value) => {
    expect(complaint({ env: asVariable(value) })).toContain('server.trustedHeader');
  });
});

test.each([
  ['https://bms.garage.example', 'https://bms.garage.example'],
  ['HTTPS://BMS.garage.example:443/', 'https://bms.garage.example'],
  ['https://garage.example/bms', null],
])('server.publicUrl %s: %s', (publicUrl, expected) => {
  const env = { BMS__SERVER__PUBLIC_URL: publicUrl };
  if (expected === null)
    expect(complaint({ env })).toContain('without a path: the dashboard needs a host name');
  else expect(loadConfig({ env }).server.publicUrl).toBe(expected);
});

test.each(['a'.repeat(32), 'abcdefg'.repeat(5), 'short'])(
  'the admin token %s is refused, with a way to make one',
  (token) => {
    const error = complaint({ env: { ADMIN_TOKEN: token } });
    expect(error).toContain('openssl rand -hex 32');
    expect(error).not.toContain(token);
  },
);

test.each([
  ['smtp://bms:x@mail.example', undefined, false],
  ['smtp://127.0.0.1:25', undefined, false],
  ['smtp://bms%40garage.example:x@mail.example', undefined, true],
  ['smtp://bms:x@mail.example', 'bms@garage.example', true],
])('a mail server %s with the sender %s', (url, from, isTaken) => {
  const error = complaint({ env: { SMTP_URL: url, ...(from !== undefined && { BMS__MAIL__FROM: from }) } });
  expect(error === '').toBe(isTaken);
  if (!isTaken) expect(error).toContain('mail.from');
});
