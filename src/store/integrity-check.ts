import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { formatInstant } from '../lib/time/clock.ts';
import { readMetaJson, writeMeta } from './kinds/meta.ts';
import { MirrorError } from '../db/session/errors.ts';
import type { Queryable, Session, Transaction } from '../db/session/session.ts';

const MOST_FINDINGS = 20;

/** A separate process, because SQLite blocks its thread and a large file takes minutes; a process can be killed. */
const CHECK = `
  const [driver, path, most] = process.argv.slice(1);
  const found = () => {
    try {
      const database = new (require(driver))(path, { readonly: true, timeout: 10_000 });
      const size = require('node:fs').statSync(path).size;
      if (size % database.pragma('page_size', { simple: true }) !== 0) return ['the file ends within a page'];
      return database.pragma('quick_check(' + most + ')').map((row) => String(row.quick_check));
    } catch (error) {
      if (!/^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) throw error;
      return [error.message];
    }
  };
  process.stdout.write(JSON.stringify(found()));`;

/**
 * Runs SQLite's `quick_check` on its file; other databases have checks of their own.
 * @returns The faults; empty if the file is sound.
 * @throws {MirrorError} `mirror.unchecked` if the check did not finish.
 */
export async function checkIntegrity(session: Session, signal?: AbortSignal): Promise<readonly string[]> {
  if (session.dialect !== 'sqlite') return [];
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const argv = ['-e', CHECK, driver, session.location, String(MOST_FINDINGS)];
  try {
    const options = { env: {}, killSignal: 'SIGKILL', ...(signal && { signal }) } as const;
    const { stdout } = await promisify(execFile)(process.execPath, argv, options);
    return (JSON.parse(stdout) as string[]).filter((line) => line !== 'ok');
  } catch (error) {
    throw new MirrorError(`The mirror ${session.location} could not be checked.`, {
      code: 'mirror.unchecked',
      hint: 'Check that this user may read it and start a process.',
      cause: error,
    });
  }
}

export async function saveCheck(tx: Transaction, findings: readonly string[], now: Date): Promise<void> {
  await writeMeta(tx, 'integrity', JSON.stringify({ checkedAt: formatInstant(now), findings }));
}

/** Why the file is not to be trusted, by its latest check; null if that found nothing or never ran. */
export async function readDamage(db: Queryable) {
  const check = await readFileCheck(db);
  if (check === null || check.findings.length === 0) return null;
  return { reason: damageOf(check.findings), since: check.checkedAt };
}

/** A check's faults in one sentence. */
export function damageOf(findings: readonly string[]): string {
  const [first = ''] = findings;
  const more = findings.length === 1 ? '' : ` (and ${findings.length - 1} more)`;
  return `the database file is damaged: ${first}${more}`;
}

/** The latest check of the file; its findings are empty if the file is sound. Null = never. */
export const readFileCheck = async (db: Queryable) =>
  (await readMetaJson(db, 'integrity')) as { checkedAt: string; findings: readonly string[] } | null;
