import type { Mistake } from './mistake.ts';

const PASSWORD = 'Tr0ub4dor-of-Ada';

export const URL_MISTAKES: readonly Mistake[] = [
  {
    title: 'a URL that ends in /api',
    argv: ['pull', 'clients'],
    env: ({ service }) => ({ BMS_BASE_URL: `${service}/api` }),
    code: 1,
    message: ['404', 'it is the part before /api'],
  },
  {
    title: 'a URL whose host there is not',
    argv: ['pull', 'clients'],
    env: { BMS_BASE_URL: 'https://your-compny.invalid' },
    code: 1,
    message: ['your-compny.invalid', 'the host name', 'is unknown', 'Check BMS_BASE_URL'],
  },
  {
    title: 'a URL at whose port nobody listens',
    argv: ['pull', 'clients'],
    env: { BMS_BASE_URL: 'http://127.0.0.1:1' },
    code: 1,
    message: ['nothing listens at 127.0.0.1:1', 'Check BMS_BASE_URL'],
  },
];

export const TLS_MISTAKES: readonly Mistake[] = [
  {
    title: 'https:// to a port without TLS',
    argv: ['pull', 'clients'],
    env: ({ service }) => ({ BMS_BASE_URL: service.replace('http:', 'https:') }),
    code: 1,
    message: ['speaks TLS to a plain-HTTP port', 'use http://'],
  },
  {
    title: 'http:// to a port with TLS',
    argv: ['pull', 'clients'],
    env: ({ tlsService }) => ({ BMS_BASE_URL: tlsService.replace('https:', 'http:') }),
    code: 1,
    message: ['closed without an answer', 'use https://'],
  },
  {
    title: 'a certificate that is signed by itself',
    argv: ['pull', 'clients'],
    env: ({ tlsService }) => ({ BMS_BASE_URL: tlsService }),
    code: 1,
    message: ['certificate', 'not trusted', 'NODE_EXTRA_CA_CERTS'],
  },
  {
    title: 'TLS that Redis does not have',
    argv: ['doctor'],
    env: ({ redisPort }) => ({ QUEUE_URL: `rediss://127.0.0.1:${redisPort}` }),
    code: 1,
    message: ['TLS', 'redis://'],
  },
];

export const TOKEN_MISTAKES: readonly Mistake[] = [
  {
    title: 'a token that the service does not know',
    argv: ['pull', 'clients'],
    env: { BMS_TOKEN: PASSWORD },
    code: 1,
    message: ['401', 'bms-sync doctor names the setting'],
    hides: PASSWORD,
  },
  {
    title: 'a token with the word Bearer before it',
    argv: ['pull'],
    env: { BMS_TOKEN: `Bearer ${PASSWORD}` },
    code: 2,
    message: ['source.token (from BMS_TOKEN)', 'without spaces', 'without the word Bearer'],
    hides: PASSWORD,
  },
];

export const HEADER_MISTAKES: readonly Mistake[] = [
  {
    title: 'a header that the service does not read',
    argv: ['pull', 'clients'],
    env: { BMS__SOURCE__AUTH_HEADERS: '["X-Token"]' },
    code: 1,
    message: ['401', 'source.authHeaders'],
  },
];
