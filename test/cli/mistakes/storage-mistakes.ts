import type { Mistake } from './mistake.ts';

const PASSWORD = 'Tr0ub4dor-of-Ada';

export const DATABASE_PATH_MISTAKES: readonly Mistake[] = [
  {
    title: 'a folder for a file',
    argv: ['pull', 'clients'],
    env: ({ folder }) => ({ DATABASE_URL: `file:${folder}` }),
    code: 1,
    message: ['is not a file', 'DATABASE_URL', 'file:PATH'],
  },
];

export const DATABASE_RIGHTS_MISTAKES: readonly Mistake[] = [
  {
    title: 'a password that PostgreSQL refuses',
    argv: ['pull', 'clients'],
    env: ({ postgres }) => ({ DATABASE_URL: withPassword(postgres, PASSWORD) }),
    code: 1,
    message: ['does not let this user in', 'password in DATABASE_URL'],
    hides: PASSWORD,
  },
  {
    title: 'a user of PostgreSQL who may create nothing',
    argv: ['pull', 'clients'],
    env: ({ postgresWithoutRights }) => ({ DATABASE_URL: postgresWithoutRights }),
    code: 1,
    message: ['lacks a right', 'grant it CREATE'],
  },
  {
    title: 'a PostgreSQL at whose port nobody listens',
    argv: ['pull', 'clients'],
    env: { DATABASE_URL: `postgres://ada:${PASSWORD}@127.0.0.1:1/mirror` },
    code: 1,
    message: ['postgres://127.0.0.1:1/mirror', 'cannot be reached', 'host and port in DATABASE_URL'],
    hides: PASSWORD,
  },
];

/** The same address with another password. */
function withPassword(address: string, password: string): string {
  const url = new URL(address);
  url.password = password;
  return url.href;
}

export const QUEUE_MISTAKES: readonly Mistake[] = [
  {
    title: 'a Redis at whose port nobody listens',
    argv: ['doctor'],
    env: { QUEUE_URL: 'redis://127.0.0.1:1' },
    code: 1,
    message: ['Redis at 127.0.0.1:1 does not answer', 'ECONNREFUSED', 'QUEUE_URL'],
  },
  {
    title: 'a Redis without its password',
    argv: ['doctor'],
    env: ({ redisPort }) => ({ QUEUE_URL: `redis://127.0.0.1:${redisPort}` }),
    code: 1,
    message: ['NOAUTH', 'QUEUE_URL'],
  },
];

export const PORT_MISTAKES: readonly Mistake[] = [
  {
    title: 'an address that is not of this machine',
    argv: ['serve'],
    env: { HOST: '203.0.113.9', ADMIN_TOKEN: PASSWORD.repeat(3) },
    code: 1,
    message: ['203.0.113.9', 'address not available', 'HOST'],
  },
];
