import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isDistinctive,
  maskSecrets,
  LONGEST_SPELLING,
  secretPattern,
} from '../../../src/lib/text/mask-secrets.ts';

/** our Texts in which the letters of a common secret are not secret. */
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
// prettier-ignore
const CREDENTIALS = [
  'postgres://postgres:§@127.0.0.1:5432/postgres', 'redis://:§@127.0.0.1', 'https://§@host/',
  'postgres:\\/\\/user:§@127.0.0.1', 'postgres%3A%2F%2Fuser%3A§%40host', 'host=db password=§ user=bms',
  'https://host/?page=1&token=§&x=1', '?access_token=§', 'PGPASSWORD=§', '{"password":"§"}',
  '{"adminToken": "§"}', '{\\"password\\":\\"§\\"}', "{ api_key: '§' }", 'password: §',
  'Authorization: Bearer §', 'authentification: §', '"authorization":"Bearer §"', 'x-api-key: §',
  'Bearer §', 'wrong password "§" for the role', 'AUTH §', "{ name: 'auth', args: [ 'default', '§' ] }",
  '{"command":{"name":"auth","args":["§"]}}', 'psql --password §',
];

describe.each(
  // prettier-ignore
  [
    'p', 'postgres', 'admin', 'secret', 'accepts', 'Postgres', '5432', 'aaaaaaaaaaaaaaaa', 'connection',
  ],
)('the common secret %s', (secret) => {
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

const inUnicode = (text: string): string =>
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** How programs spell a character, or a text. */
const SPELLINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'in JSON': inJson,
  'in JSON by PHP': (text) => inJson(text).replaceAll('/', '\\/'),
  'in JSON within JSON': (text) => inJson(inJson(text)),
  'in a URL': encodeURIComponent,
  'in a URL, small letters': (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  'all escaped in JSON': inUnicode,
  'all escaped in JSON, capital letters': (text) =>
    inUnicode(text).replace(/u(....)/g, (_, code: string) => `u${code.toUpperCase()}`),
  'all escaped in JSON, and logged': (text) => inJson(inUnicode(text)),
};

const secret = fc.string({ unit: 'grapheme-ascii', minLength: 12, maxLength: 40 }).filter(isDistinctive);

const holdsSecret = (text: string, known: string): boolean => secretPattern(known).test(text);

test.each(Object.entries(SPELLINGS))('a secret is found and blanked out, %s', (_name, spell) => {
  fc.assert(
    fc.property(secret, (known) => {
      const spelled = spell(known);
      expect(spelled.length).toBeLessThanOrEqual(LONGEST_SPELLING * known.length);
      expect(maskSecrets([known])(`before ¦${spelled}¦ after`)).toBe('before ¦[redacted]¦ after');
    }),
  );
  const rare = 'é✓😀 and a word';
  expect(maskSecrets([rare])(`¦${spell(rare)}¦`)).toBe('¦[redacted]¦');
});

test('a secret is found where every character is spelled in another way', () => {
  const ways = Object.values(SPELLINGS);
  fc.assert(
    fc.property(secret, fc.array(fc.nat(ways.length - 1), { minLength: 40 }), (known, choice) => {
      const spelled = Array.from(known, (each, index) => ways[choice[index] ?? 0]?.(each) ?? each).join('');
      expect(holdsSecret(spelled, known)).toBe(true);
    }),
  );
});

test('what is no secret is left as it is', () => {
  fc.assert(
    fc.property(secret, fc.string(), (known, text) => {
      if (text.includes(known)) return;
      expect(maskSecrets([`${known}-and-more`])(text)).toBe(text);
    }),
  );
});

test('a megabyte is looked through in no time, whatever it holds', () => {
  const known = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab';
  for (const piece of ['a', '\\', '%61', '\\u0061', '0'])
    expect(holdsSecret(piece.repeat(1_000_000 / piece.length), known)).toBe(false);
});
