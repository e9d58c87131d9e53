import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDistinctive, maskSecrets } from '../../../src/lib/text/mask-secrets.ts';

/** Texts of ours in which the letters of a common secret are no secret. */
const MESSAGES = [
  'The mirror postgres://127.0.0.1:5432/bms does not answer.',
  'The server accepts'.concat('connections no more; it accepts connections on port 5432.'),
  'password authentication failed for user "postgres"',
  'database "postgres" does not exist',
  '{"level":30,"msg":"bms-sync is ready","token":null,"author":"postgres"}',
  'postgres: no password was given',
  'asked GET /api/clients page 3: got status 503, "p postgres admin"',
];

/** Where a program puts credentials; § stands for the secret. */
const CREDENTIALS = [
  'postgres://postgres:§@127.0.0.1:5432/postgres',
  'redis://:§@127.0.0.1',
  'https://§@host/',
  'postgres:\\/\\/user:§@127.0.0.1',
  'postgres%3A%2F%2Fuser%3A§%40host',
  'host=db password=§ user=bms',
  'https://host/?page=1&token=§&x=1',
  '?access_token=§',
  'PGPASSWORD=§',
  '{"password":"§"}',
  '{"adminToken": "§"}',
  '{\\"password\\":\\"§\\"}',
  "{ api_key: '§' }",
  'password: §',
  'Authorization: Bearer §',
  'authentification: §',
  '"authorization":"Bearer §"',
  'x-api-key: §',
  'Bearer §',
  'wrong password "§" for the role',
  'AUTH §',
  "{ name: 'auth', args: [ 'default', '§' ] }",
  '{"command":{"name":"auth","args":["§"]}}',
  'psql --password §',
];

describe.each([
  'p',
  'postgres',
  'admin',
  'secret',
  'accepts',
  'Postgres',
  '5432',
  'aaaaaaaaaaaaaaaa',
  'connection',
])('the common secret %s', (secret) => {
  test.each(MESSAGES)('leaves a message as it is: %s', (message) => {
    expect(maskSecrets([secret])(message)).toBe(message);
  });

  test.each(CREDENTIALS)('is blanked out where credentials stand: %s', (place) => {
    const text = `before ${place.replace('§', secret)} after`;
    expect(maskSecrets([secret])(text)).toBe(`before ${place.replace('§', '[redacted]')} after`);
  });
});

test('a common secret is found there in other spellings, too', () => {
  const mask = maskSecrets(['pä"ss']);
  for (const spelled of ['pä"ss', 'p\\u00e4\\"ss', 'p%C3%A4%22ss'])
    expect(mask(`{"url":"postgres://user:${spelled}@host"}`)).toBe(
      '{"url":"postgres://user:[redacted]@host"}',
    );
});

test.each([
  'correct horse battery staple',
  'q7-Zk2xv',
  'sandbox-token',
  '9f2c7a1e4b8d',
  'hunter2hunter3',
  'zqyxkwvjpwmrtbnlkhgd',
])('the distinctive secret %s is blanked out everywhere', (secret) => {
  expect(isDistinctive(secret)).toBe(true);
  expect(maskSecrets([secret])(`before${secret}after`)).toBe('before[redacted]after');
});

test('random secrets of any usual make are distinctive', () => {
  const makes = [
    fc.stringMatching(/^[0-9a-f]{16,64}$/),
    fc.stringMatching(/^[0-9A-Za-z]{16,64}$/),
    fc.stringMatching(/^[0-9A-Za-z_-]{20,64}$/),
    fc.uuid(),
  ];
  const random = fc
    .oneof(...makes)
    .filter((text) => new Set(text).size >= 8 && /\d/.test(text) && /\D/.test(text));
  fc.assert(fc.property(random, isDistinctive));
});

test('an empty secret blanks out nothing', () => {
  expect(maskSecrets([''])('password=')).toBe('password=');
});

test('a long text full of a short secret is looked through in no time', () => {
  const mask = maskSecrets(['p']);
  for (const piece of ['p', 'password ', '://', 'auth p,', '\\'.repeat(8), 'token:'])
    mask(piece.repeat(50_000 / piece.length));
});
