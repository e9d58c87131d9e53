import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { instantOf, instantText } from '../../lib/time/clock.ts';
import { readMeta, writeMeta } from '../kinds/meta.ts';
import { MirrorError } from '../session/errors.ts';
import type { Queryable, Session, Transaction } from '../session/session.ts';

const MOST_FINDINGS = 20;
const MOST_LETTERS = 200;

/** A separate process, because SQLite blocks its thread and a large file takes minutes; a process can be killed. */
const CHECK = `
  const [driver, path, most] = process.argv.slice(1);
  const Database = require(driver);
  const check = () => {
    const database = new Database(path, { readonly: true, timeout: 10_000 });
    return database.pragma('quick_check(' + most + ')').map((row) => String(row.quick_check));
  };
  const found = () => {
    try {
      return check();
    } catch (error) {
      if (!/^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) throw error;
      return [error.message];
    }
  };
  process.stdout.write(JSON.stringify(found()));`;

/**
 * Runs SQLite's integrity check on its file; other databases have checks of their own.
 *
 * @returns The faults, shortened; empty if the file is sound.
 * @throws {MirrorError} `mirror.unchecked` if the check did not finish.
 */
export async function checkIntegrity(
  { dialect, location }: Session,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  if (dialect !== 'sqlite') return [];
  const lines = await run(location, signal);
  const found = lines.flatMap((line) => line.split('\n')).filter((line) => line !== 'ok' && line !== '');
  return found.slice(0, MOST_FINDINGS).map((line) => line.slice(0, MOST_LETTERS));
}

async function run(path: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const argv = ['-e', CHECK, driver, path, String(MOST_FINDINGS)];
  try {
    const options = { env: {}, killSignal: 'SIGKILL', ...(signal && { signal }) } as const;
    const { stdout } = await promisify(execFile)(process.execPath, argv, options);
    return JSON.parse(stdout) as string[];
  } catch (error) {
    const why = error instanceof Error && 'stderr' in error ? lastLine(String(error.stderr)) : '';
    throw new MirrorError(`The mirror ${path} could not be checked${why}.`, {
      code: 'mirror.unchecked',
      hint: 'Check that this user may read it and start a process.',
      cause: error,
    });
  }
}

/** The error text of the process that ended early. */
function lastLine(stderr: string): string {
  const said = stderr.split('\n').find((line) => line.includes('Error'));
  return said === undefined ? '' : ` (${said.trim().slice(0, MOST_LETTERS)})`;
}

/** The result of the latest check of the database file. */
interface IntegrityCheck {
  readonly checkedAt: string;
  /** Empty if the file is sound. */
  readonly findings: readonly string[];
}

/** A failed check: why the database file is not to be trusted. */
export interface Damage {
  readonly reason: string;
  readonly since: string;
}

/** When the file was checked last; null = never. */
export async function lastCheck(db: Queryable): Promise<Date | null> {
  const check = await readCheck(db);
  return check === null ? null : instantOf(check.checkedAt);
}

export async function saveCheck(tx: Transaction, findings: readonly string[], now: Date): Promise<void> {
  const check: IntegrityCheck = { checkedAt: instantText(now), findings };
  await writeMeta(tx, 'integrity', JSON.stringify(check));
}

/** The faults that the latest check found in the file; null if it found none or never ran. */
export async function readDamage(db: Queryable): Promise<Damage | null> {
  const check = await readCheck(db);
  if (check === null || check.findings.length === 0) return null;
  return { reason: damageOf(check.findings), since: check.checkedAt };
}

/** A check's faults in one sentence. */
export function damageOf(findings: readonly string[]): string {
  const [first = ''] = findings;
  const more = findings.length === 1 ? '' : ` (and ${findings.length - 1} more)`;
  return `the database file is damaged: ${first}${more}`;
}

async function readCheck(db: Queryable): Promise<IntegrityCheck | null> {
  const text = await readMeta(db, 'integrity');
  return text === null ? null : (JSON.parse(text) as IntegrityCheck);
}
