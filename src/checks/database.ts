import { statSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { readBlocks } from '../mirror/outbox/block-store.ts';
import type { WriteBlock } from '../mirror/outbox/block-store.ts';
import { readChangeLogSize } from '../mirror/records/change-log-size.ts';
import type { ChangeLogSize } from '../mirror/records/change-log-size.ts';
import { databaseVersion, postgresSize } from '../mirror/session/database-facts.ts';
import type { Session } from '../mirror/session/session.ts';
import { checkIntegrity } from '../mirror/sqlite/integrity-check.ts';
import { boundUrl } from '../mirror/kinds/source-binding.ts';
import { boundCompanies } from '../mirror/kinds/tenant-store.ts';
import { check } from './check.ts';
import type { DoctorParts } from './check.ts';
import { DAMAGE_HINT } from './daily-check.ts';
import { checkReaderRole } from './reader-role.ts';

const MB = 2 ** 20;

/** Checks the database, its free space, and the kinds that the token may not write. */
export async function checkDatabase({
  config,
  openMirror,
}: Pick<DoctorParts, 'config' | 'openMirror'>): Promise<readonly CheckResult[]> {
  const more: CheckResult[] = [];
  const opened = await check('database', async () => {
    await using session = await openMirror();
    more.push(await checkSpace(session), ...(await checkFile(session)), await tellChangeLog(session));
    more.push(...(await checkReaderRole(session, config.bi.readerRole)));
    more.push(...(await readBlocks(session)).map(blocked));
    const url = await boundUrl(session);
    const found = `${session.location} can be written (${await databaseVersion(session)})`;
    if (url === null) return `${found}; it holds no data yet`;
    return `${found}; it holds ${url}${told(await boundCompanies(session))}`;
  });
  return [opened, ...more];
}

/** The companies in the mirror; with their kinds, if there are several. */
function told(companies: ReadonlyMap<string, readonly string[]>): string {
  const ids = [...new Set([...companies.values()].flat())];
  if (ids.length < 2) return ids.map((id) => `, company ${id}`).join('');
  const kindsOf = (id: string): string =>
    [...companies].flatMap(([kind, named]) => (named.includes(id) ? [kind] : [])).join(', ');
  return `, companies ${ids.map((id) => `${id} (${kindsOf(id)})`).join(', ')}`;
}

async function checkSpace(session: Session): Promise<CheckResult> {
  if (session.dialect === 'sqlite') {
    const { bavail, bsize } = statfsSync(dirname(session.location));
    return judgeSpace({ size: statSync(session.location).size, free: bavail * bsize });
  }
  const size = megabytes(await postgresSize(session));
  return passed('database.space', `${size} are in use; how much is free, the server does not tell`);
}

/** By default nothing is removed from the change events, so a person must see how they grow. */
async function tellChangeLog(session: Session): Promise<CheckResult> {
  const size = await readChangeLogSize(session, systemClock.now());
  return passed(
    'database.changes',
    `change events: ${changeLogText(size)} (retention.changesDays limits them)`,
  );
}

/** Says how large the change events are and how fast they grow. */
export function changeLogText({ events, bytes, eventsPerDay, bytesPerDay }: ChangeLogSize): string {
  const size = (count: number): string => `${(count / MB).toFixed(1)} MB`;
  return `about ${events}, ${size(bytes)}; ${eventsPerDay} a day, ${size(bytesPerDay)} a day`;
}

async function checkFile(session: Session): Promise<readonly CheckResult[]> {
  if (session.dialect !== 'sqlite') return [];
  const name = 'database.integrity';
  const findings = await checkIntegrity(session);
  if (findings.length === 0) return [passed(name, 'SQLite finds the file sound')];
  return [{ name, ok: false, code: 'mirror.damaged', detail: findings.join('; '), hint: DAMAGE_HINT }];
}

const LEAST_FREE = 256 * MB;

/** Whether a mirror in a file has the free space that a sweep, a migration or a backup beside it may need; in bytes. */
export function judgeSpace({ size, free }: { readonly size: number; readonly free: number }): CheckResult {
  const detail = `${megabytes(size)} are in use, ${megabytes(free)} are free`;
  if (free >= Math.max(LEAST_FREE, size / 2)) return passed('database.space', detail);
  return {
    ...{ name: 'database.space', ok: false, code: 'mirror.little_space', detail },
    hint: 'Make room on that disk, or move the mirror: a full disk stops every pull and every push, and loses nothing.',
  };
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / MB)} MB`;

function blocked({ kind, reason, since }: WriteBlock): CheckResult {
  return {
    ...{ name: `writes.${kind}`, ok: false, code: 'outbox.kind_blocked' },
    detail: `the service has refused to let ${kind} be written since ${since} UTC (${reason})`,
    hint: 'Have the token given the right; the next entry is tried every few minutes, and the rest follows it.',
  };
}
