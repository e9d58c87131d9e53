/**
 * How long the pages of the dashboard take over a mirror of a million rows and a hundred thousand changes: `npm run bench -- pages`.
 * The file is made once, in `coverage/`, and kept. `-- --postgres URL` measures an empty database of your own instead.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { LISTED_KINDS } from '../src/catalog/kinds/catalog.ts';
import { createLogger } from '../src/lib/log/logger.ts';
import { formatInstant, systemClock } from '../src/lib/time/clock.ts';
import { openSession } from '../src/db/open-session.ts';
import type { Session } from '../src/db/session/session.ts';
import { migrate } from '../src/views/migrate.ts';
import { createServer } from '../src/app/create-server.ts';
import { createSignInCode } from '../src/http/credentials.ts';
import { CHANGE_COLUMNS } from './change-columns.ts';

const ROWS = 1_000_000;
const CHANGES = 100_000;
const ENTRIES = 20_000;
const RUNS = 10_000;
const AT_ONCE = 10_000;
const TOKEN = 'a-token-of-thirty-two-characters';
const PAGES = [
  '/',
  '/changes',
  '/changes?kind=clients',
  '/changes?kind=bookings',
  '/changes?before=40000',
  '/changes/50000',
  '/kinds/clients',
  '/records/clients',
  '/records/clients?after=70500000',
  '/records/clients/70000017',
  '/runs',
  '/runs?before=4000',
  '/outbox',
  '/outbox?state=parked',
  '/outbox/17',
  '/deletions',
  '/issues',
  '/storage',
];

const client = (id: number, name: string): string =>
  JSON.stringify({ id, code: `C-${id}`, name, phone: '(418) 555-0100', note: 'x'.repeat(300) });

async function fill(session: Session): Promise<void> {
  const now = Date.now();
  const at = (ms: number): string => formatInstant(new Date(ms));
  for (let from = 0; from < ROWS; from += AT_ONCE)
    await session.atomically((tx) =>
      tx.insertRows({
        table: 'clients',
        columns: ['id', 'code', '_raw', '_first_seen_at', '_changed_at', '_response'],
        rows: Array.from({ length: AT_ONCE }, (_, n) => {
          const id = 70_000_000 + from + n;
          return [String(id), `C-${id}`, client(id, 'Ada'), at(now), at(now), 1];
        }),
      }),
    );
  for (let from = 0; from < CHANGES; from += AT_ONCE)
    await session.atomically((tx) =>
      tx.insertRows({
        table: 'changes',
        columns: CHANGE_COLUMNS,
        rows: Array.from({ length: AT_ONCE }, (_, n) => {
          const seq = from + n;
          const id = 70_000_000 + ((from + n) % 5000);
          const kind = seq % 2000 === 0 ? 'bookings' : 'clients';
          const when = at(now - (CHANGES - seq) * 1000);
          const fields = '{"name":["Ada","Bea"]}';
          return [
            kind,
            String(id),
            'updated',
            when,
            client(id, 'Ada'),
            client(id, 'Bea'),
            fields,
            'service',
            1,
          ];
        }),
      }),
    );
  const states = ['done', 'done', 'done', 'parked', 'rejected', 'unsettled'];
  await session.atomically(async (tx) => {
    await tx.insertRows({
      table: 'outbox',
      columns: ['idempotency_key', 'kind', 'operation', 'payload', 'state'],
      rows: Array.from({ length: ENTRIES }, (_, n) => [
        `key-${n}`,
        'clients',
        'create',
        client(n, 'Ada'),
        states[n % 6] ?? 'done',
      ]),
    });
    await tx.insertRows({
      table: 'runs',
      columns: ['command', 'kinds', 'state', 'requested_at', 'started_at', 'finished_at'],
      rows: Array.from({ length: RUNS }, (_, n) => {
        const begun = now - (RUNS - n) * 60_000;
        return ['pull', '["clients"]', 'done', at(begun), at(begun), at(begun + 20_000)];
      }),
    });
    await tx.query(sql`analyze`);
  });
}

async function openFilled(url: string): Promise<Session> {
  const session = await openSession(url);
  await migrate(session, LISTED_KINDS, { readerRole: null });
  return session;
}

const databaseUrl = process.argv[process.argv.indexOf('--postgres') + 1];
const folder = join(import.meta.dirname, '../coverage');
const path = join(folder, 'pages.db');
const url = process.argv.includes('--postgres') && databaseUrl !== undefined ? databaseUrl : `file:${path}`;
mkdirSync(folder, { recursive: true });
const isMade = url.startsWith('file:') && existsSync(path);
const session = await openFilled(url);
try {
  if (!isMade) await fill(session);
} catch (error) {
  if (url.startsWith('file:')) rmSync(path, { force: true });
  throw error;
}
const logger = createLogger({ level: 'silent', secrets: [TOKEN], destination: { write: () => undefined } });
const reader = { language: 'en', timezone: 'UTC' } as const;
const app = await createServer(
  {
    session,
    clock: systemClock,
    logger,
    sendCounter: { read: () => Promise.resolve(0) },
    writes: () => ({ pendingMs: 0, lastLandedAt: null, fault: null }),
    wakeEngine: () => undefined,
  },
  {
    ...reader,
    token: TOKEN,
    trustedHeader: null,
    host: '127.0.0.1',
    names: [],
    kinds: LISTED_KINDS,
    schedules: [],
    webhooks: { ...reader, allowHosts: [], mail: { url: null, from: null }, messages: null, publicUrl: null },
    database: { url: 'file:', readerRole: null },
    plans: { approvals: 0 },
  },
  createSignInCode(),
);
await app.ready(); // As `serve` does before it listens.
const headers = { authorization: `Bearer ${TOKEN}` };
console.log('page'.padEnd(36), 'first', '   cpu', 'median', 'worst'.padStart(6), 'kB'.padStart(6));
for (const page of PAGES) {
  const times: number[] = [];
  let bytes = 0;
  let firstCpu = 0; // A busy machine takes longer, and no more of the processor.
  for (let n = 0; n < 12; n++) {
    const from = performance.now();
    const before = process.cpuUsage();
    const answer = await app.inject({ url: page, headers });
    times.push(performance.now() - from);
    const { user, system } = process.cpuUsage(before);
    if (n === 0) firstCpu = (user + system) / 1000;
    bytes = answer.body.length;
    if (answer.statusCode !== 200) throw new Error(`${page}: ${answer.statusCode} ${answer.body}`);
  }
  const [first = 0, ...rest] = times;
  const sorted = rest.toSorted((a, b) => a - b);
  const ms = (time: number): string => time.toFixed(0).padStart(6);
  console.log(
    page.padEnd(35),
    ms(first),
    ms(firstCpu),
    ms(sorted[5] ?? 0),
    ms(sorted.at(-1) ?? 0),
    (bytes / 1000).toFixed(1).padStart(6),
  );
}
await app.close();
await session.close();
