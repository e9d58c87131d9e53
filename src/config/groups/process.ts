import { isIP } from 'node:net';
import * as z from 'zod';
import { group, setting, nullableSetting } from './setting.ts';
import * as a from './value-types.ts';

export const database = group({
  url: setting(
    a.databaseUrl.default('file:./data/mirror.db'),
    'Where the mirror is: file:PATH for SQLite, postgres://… for PostgreSQL.',
    { variables: ['DATABASE_URL'], secret: 'password' },
  ),
});

export const queue = group({
  url: setting(
    nullableSetting(a.queueUrl),
    'Store of the job queue: redis://… or rediss://…; null runs the same jobs in this process.',
    { variables: ['QUEUE_URL', 'REDIS_URL'], secret: 'password' },
  ),
});

export const bi = group({
  readerRole: setting(
    nullableSetting(a.filledText),
    'PostgreSQL role that may read all views, present and future; null grants nothing.',
  ),
});

export const calendar = group({
  yearBegins: setting(
    a.month.default(1),
    'Month in which the fiscal year begins; it is named by the year in which it ends.',
  ),
});

const A_LIST = 'a list of statuses, or null';
const statuses = (meaning: string) =>
  setting(nullableSetting(z.array(a.filledText, A_LIST).min(1, A_LIST)), meaning);

export const reports = group({
  sold: statuses('Statuses of sales that reports count as sold; null = the only one that occurs.'),
  owed: statuses('Statuses of sales that reports count as owed; null = the only one that occurs.'),
  bought: statuses('Statuses of purchases that reports count as bought; null = the only one that occurs.'),
});

export const mcp = group({
  token: setting(nullableSetting(a.token), 'Token that mcp --url sends to another bms-sync.', {
    variables: ['MCP_TOKEN', 'MCP_TOKEN_FILE'],
    secret: 'value',
  }),
});

const kept = (days: number | null, what: string, more = '') =>
  setting(a.days.nullable().default(days), `How long ${what} are kept; null keeps them all.${more}`);

export const retention = group({
  changesDays: kept(null, 'change events'),
  runsDays: kept(30, 'finished runs'),
  outboxDays: kept(365, 'ended outbox entries and their attempts', ' Their keys stay.'),
  issuesDays: kept(365, 'closed issues, notes of drift and proven deletions'),
  deliveriesDays: kept(30, 'webhook deliveries'),
});

const trustedHeader = z.strictObject(
  { name: a.proxyHeaderName, from: z.array(a.network, 'a list of addresses').min(1, 'at least one address') },
  'a map with the name of a header, and from: a list of addresses',
);

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const server = group({
  adminToken: setting(
    nullableSetting(a.adminToken),
    'Token of the HTTP API and the dashboard, at least 32 characters; null allows reads only, on this machine only.',
    { variables: ['ADMIN_TOKEN'], secret: 'value' },
  ),
  host: setting(a.host.default('127.0.0.1'), 'Address that serve listens on.', { variables: ['HOST'] }),
  names: setting(
    z.array(a.host, 'a list of host names').default([]),
    'Further host names that serve accepts: of a Kubernetes or Compose service, or of a proxy.',
  ),
  publicUrl: setting(
    nullableSetting(a.originUrl),
    'Address that users type to open the dashboard, without a path; notifications link to it. Null: they name commands instead.',
  ),
  port: setting(a.port.default(8080), 'Port that serve listens on; 0 takes a free one.', {
    variables: ['PORT'],
  }),
  trustedHeader: setting(
    nullableSetting(trustedHeader),
    'Header in which a proxy names the user whom it has signed in (`name`), and the addresses or networks of such proxies (`from`).',
  ),
});

export const log = group({
  level: setting(
    z.enum(LOG_LEVELS, `one of ${LOG_LEVELS.join(', ')}`).default('info'),
    'Lowest level of messages that are logged.',
    { variables: ['LOG_LEVEL'] },
  ),
});

export const shutdown = group({
  graceSeconds: setting(a.timerSeconds.default(25), 'Time to finish running work after a stop request.'),
});

const HOST = 'a host name or an address, without a port';
const allowedHost = z.string(HOST).refine((host) => isIP(host) !== 0 || /^[^\s/:@?#[\]]+$/.test(host), HOST);

/** The published schedule of Standard Webhooks. */
const RETRY_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

export const webhooks = group({
  allowHosts: setting(
    z.array(allowedHost, 'a list of host names and addresses').default([]),
    'Internal hosts, by name or address, that may receive events: also by http and on any port.',
  ),
  retrySeconds: setting(
    z.array(a.waitSeconds, 'a list of seconds').default(RETRY_SECONDS),
    'Delays between the attempts of a delivery; after the last one it is dropped.',
  ),
});

export const mail = group({
  url: setting(
    nullableSetting(a.mailUrl),
    'Server that sends e-mail: smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST; null sends none.',
    { variables: ['SMTP_URL'], secret: 'password' },
  ),
  from: setting(
    nullableSetting(a.filledText),
    'Address that e-mail comes from; null = the user of the server.',
  ),
  digestAt: setting(
    a.timeOfDay.nullable().default('07:00'),
    'When users get the daily digest, in the time zone of the schedules; null sends none.',
  ),
}).refine(({ url, from }) => from !== null || /@|%40/.test(URL.parse(url ?? '')?.username ?? '@'), {
  path: ['from'],
  error: 'an address, because the user of mail.url is none',
});

const WANTED = 'one of above: NUMBER, below: NUMBER and changed: true';
const limit = z.number(WANTED).transform(String).optional();

const alert = z
  .strictObject({
    kind: a.kindNameText,
    field: a.kindField,
    above: limit,
    below: limit,
    changed: z.literal(true, WANTED).optional(),
  })
  .refine(
    ({ above, below, changed }) =>
      [above, below, changed].filter((wanted) => wanted !== undefined).length === 1,
    WANTED,
  );

export const alerts = setting(
  z.array(alert, 'a list of {kind, field, above | below | changed}').default([]),
  'Alerts: users get a notification when a field rises above a number, falls below one, or changes.',
);
