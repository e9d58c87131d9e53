/**
 * Runs the background service's parts on SQLite and on PostgreSQL side by side, at a day a minute, each against an unkind service
 * of its own over HTTP, while people change the service's records and applications push creates without a pause:
 * `npm run acceptance -- soak --minutes 30`. Fails where a create is doubled, a deletion or a certificate is false, or resident
 * memory grows by more than 5 MB in the ten minutes after the first ten.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tableOf, type Sample } from './figures.ts';
import { startLife, type Life } from './life.ts';
import { startPostgresServer } from '../support/postgres-server.ts';
import type { SoakMessage, SoakOrder } from './soaked.ts';
import type { Stalls } from './stalls.ts';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    drain: { type: 'string', default: '2.5' },
    /** Changes by people in a second, and creates pushed. */
    changes: { type: 'string', default: '10' },
    creates: { type: 'string', default: '1' },
    /** Records of each kind. */
    size: { type: 'string', default: '100' },
  },
});

const TIDY_EVERY_MS = 5_000;
const MOST_GROWTH_MB = 5;

interface Figures {
  readonly database: string;
  readonly creates: Record<string, number>;
  readonly doubled: readonly string[];
  readonly deletions: number;
  readonly falseDeletions: readonly string[];
  readonly certificates: number;
  readonly falseCertificates: readonly string[];
  /** Of the resident memory in the ten minutes after the first ten; null for a shorter soak. */
  readonly growthMb: number | null;
  readonly samples: readonly Sample[];
  readonly stalls: readonly Stalls[];
}

/** Lets one program live against one service, and holds its word against the truth. */
async function soak(databaseUrl: string, seed: number): Promise<Figures> {
  const database = databaseUrl.startsWith('file:') ? 'SQLite' : 'PostgreSQL';
  const beganMs = Date.now();
  await using life = await startLife(seed, Number(options.size), beganMs);
  const order: SoakOrder = {
    databaseUrl,
    serviceUrl: life.url,
    beganMs,
    minutes: Number(options.minutes),
    drainMinutes: Number(options.drain),
    createsASecond: Number(options.creates),
  };
  const people = setInterval(life.act, 1_000 / Number(options.changes));
  const tidying = setInterval(life.tidy, TIDY_EVERY_MS);
  try {
    return { database, ...(await listen(order, life, database)) };
  } finally {
    clearInterval(people);
    clearInterval(tidying);
  }
}

async function listen(order: SoakOrder, life: Life, database: string): Promise<Omit<Figures, 'database'>> {
  const program = fork(join(import.meta.dirname, 'soaked.ts'), [JSON.stringify(order)], {
    execArgv: ['--import', 'tsx'],
  });
  const samples: Sample[] = [];
  const stalls: Stalls[] = [];
  const falseCertificates: string[] = [];
  let certificates = 0;
  let end: Extract<SoakMessage, { is: 'end' }> | null = null;
  program.on('message', (received) => {
    const message = received as SoakMessage;
    if (message.is === 'end') end = message;
    else if (message.is === 'minute') {
      samples.push(message.sample);
      stalls.push(message.stalls);
      console.error(
        `${database} minute ${message.sample.minute}: ${message.sample.rssMb} MB, ${certificates} certificates`,
      );
    } else {
      certificates++;
      const { kind, atMs } = message.certificate;
      if (life.isFalse(message.certificate)) falseCertificates.push(`${kind} at ${atMs}`);
    }
  });
  await once(program, 'exit');
  const { creates, deleted } = endOf(end, program.exitCode);
  return {
    creates,
    doubled: life.doubled(),
    deletions: deleted.length,
    falseDeletions: deleted.filter((record) => {
      const [kind = '', id = ''] = record.split(':');
      return !life.wasRemoved(kind, id);
    }),
    certificates,
    falseCertificates,
    growthMb: growthOf(samples),
    samples,
    stalls,
  };
}

function endOf(end: Extract<SoakMessage, { is: 'end' }> | null, code: number | null) {
  if (end === null) throw new Error(`The program ended by itself, with ${code ?? 'a signal'}.`);
  return end;
}

function growthOf(samples: readonly Sample[]): number | null {
  const tenth = samples.find(({ minute }) => minute === 10);
  const twentieth = samples.find(({ minute }) => minute === 20);
  return tenth === undefined || twentieth === undefined ? null : twentieth.rssMb - tenth.rssMb;
}

async function onSqlite(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-soak-'));
  try {
    return await soak(`file:${join(folder, 'mirror.db')}`, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(): Promise<Figures> {
  const server = await startPostgresServer({
    password: 'of-the-soak',
    settings: ['fsync=off', 'unix_socket_directories='],
  });
  try {
    return await soak(server.url, 2);
  } finally {
    await server.stop();
  }
}

function faultsOf({ doubled, falseDeletions, falseCertificates, growthMb }: Figures): readonly string[] {
  return [
    ...doubled.map((create) => `doubled: ${create}`),
    ...falseDeletions.map((record) => `falsely deleted: ${record}`),
    ...falseCertificates.map((list) => `falsely certified: ${list}`),
    ...((growthMb ?? 0) > MOST_GROWTH_MB ? [`grown by ${growthMb ?? 0} MB`] : []),
  ];
}

for (const figures of await Promise.all([onSqlite(), onPostgres()])) {
  const { samples, ...rest } = figures;
  console.log(`${figures.database}\n${tableOf(samples)}\n${JSON.stringify(rest)}`);
  const faults = faultsOf(figures);
  for (const fault of faults) console.error(`${figures.database}: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}
