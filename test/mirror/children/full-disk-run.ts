/** Begins a run and a sweep in FILE, fills its disk so that neither can be ended, and prints as JSON how both read. */
import { openSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { kindNamed } from '../temp-mirror.ts';
import { MirrorError } from '../../../src/mirror/session/errors.ts';
import { claimKind, releaseKind, LEASE_MS } from '../../../src/mirror/kinds/kind-lease.ts';
import { migrate } from '../../../src/mirror/shape/migrate.ts';
import { finishRun, listRuns, startRun } from '../../../src/mirror/runs/run-store.ts';
import { openSqliteSession } from '../../../src/mirror/sqlite/session.ts';
import { readStatus } from '../../../src/mirror/kinds/status-store.ts';

const [path = ''] = process.argv.slice(2);
await using session = openSqliteSession(path);
await migrate(session, [kindNamed('punches')]);
const now = new Date();
const begun = new Date(now.getTime() - LEASE_MS - 1);
const owner = { owner: 'me', now: begun, isDead: () => false };
const runId = await startRun(session, { ...owner, command: 'pull', kinds: ['punches'] });
const lease = await claimKind(session, { ...owner, kind: 'punches' });

const codeOf = (error: unknown): unknown => (error instanceof MirrorError ? error.code : error);
const tried = (work: Promise<unknown>): Promise<unknown> => work.then(() => 'done', codeOf);
const reader = new Database(path);
reader.exec('begin');
reader.prepare('select 1 from runs').get(); // As long as somebody reads, the write-ahead log begins at no new start.
const filler = openSync(`${path}.filler`, 'w');
try {
  for (;;) writeSync(filler, Buffer.alloc(4096));
} catch (error) {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
}
const failed = {
  state: 'failed',
  reason: 'disk full',
  now,
  keepRunsDays: null,
  keepChangesDays: null,
} as const;
const ended = await tried(finishRun(session, { runId, owner: 'me' }, failed));
const end = { state: 'aborted', reason: 'disk', isComplete: false, hasChanges: false, now };
const released = await tried(session.atomically((tx) => releaseKind(tx, lease, end)));
const [before] = await listRuns(session, { limit: 1, now: begun });
const [run] = await listRuns(session, { limit: 1, now });
const [kind] = await readStatus(session);
const shown = (row?: { readonly state: string; readonly reason: string | null }) => [row?.state, row?.reason];
reader.close();
console.log(JSON.stringify({ ended, released, before: shown(before), run: shown(run), kind: shown(kind) }));
