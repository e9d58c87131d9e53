import { createServer } from 'node:http';
import { canary } from './canary.ts';
import { listening } from './listening.ts';
import { watch } from '../canary/watch.ts';
import { startPostgresServer } from './postgres-server.ts';

/** What the first test that asks for the server, or for a template, gets. */
export interface SharedPostgres {
  /** A PostgreSQL server for the tests of this run. */
  readonly url: string;
  /** The rows that migrating has put into the template, by table: statements that put them into an empty copy. */
  readonly fills: Readonly<Record<string, string>>;
}

const PASSWORD = canary('-postgres');
/** Nothing of PostgreSQL outlives the run, so it need not wait for the disk, nor tidy up. */
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'autovacuum=off',
  'max_connections=200',
  'unix_socket_directories=',
];

/**
 * Offers a PostgreSQL server to all workers: it starts, and makes each of its templates, when the first test asks for it. To start it
 * takes longer than most test files.
 */
export async function servePostgres(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  let starting: ReturnType<typeof startServer> | null = null;
  const answer = async (template: string): Promise<SharedPostgres> => {
    const { url, templates } = await (starting ??= startServer());
    return { url, fills: template === '' ? {} : await templates.fillsOf(template) };
  };
  const offer = await listening(
    createServer((request, response) => {
      answer((request.url ?? '').slice(1)).then(
        (shared) => response.end(JSON.stringify(shared)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    }),
  );
  return {
    url: offer.url,
    stop: async () => {
      await offer[Symbol.asyncDispose]();
      await (await starting)?.stop();
    },
  };
}

async function startServer() {
  const log: string[] = [];
  const { url, stop } = await startPostgresServer({
    password: PASSWORD,
    settings: SETTINGS,
    initdbFlags: ['--set=scram_iterations=1'], // Thousands of connections check a password.
    onLog: (line) => {
      log.push(line);
      watch.look({ place: 'log of PostgreSQL', what: () => line }, line);
    },
  }).catch((error: unknown) => {
    const details = [error instanceof Error ? error.message : '', ...log.slice(-5)].join('\n').trim();
    throw new Error(`The tests need a PostgreSQL server of their own, which did not start:\n${details}`);
  });
  const { createTemplates } = await import('./postgres-templates.ts'); // It loads our migrations.
  return { url, stop, templates: createTemplates(url) };
}
