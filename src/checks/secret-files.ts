import { readFileSync, statSync } from 'node:fs';
import type { secretSettings } from '../config/load-config.ts';
import { failedCheck, passedCheck, type CheckResult } from '../lib/check-result.ts';

/** Checks that none of the files with settings that holds a secret is open to every user of this machine. */
export function checkSecretFiles(files: readonly string[], secrets: ReturnType<typeof secretSettings>) {
  const exposed = files.filter(isNeedlesslyOpen).flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const named = new Set(secrets.flatMap(({ setting, secret }) => (text.includes(secret) ? [setting] : [])));
    if (named.size === 0) return [];
    const detail = `every user of this machine may read ${file}, which holds a secret: ${[...named].join(', ')}`;
    return [failedCheck('secrets', 'secrets.readable', detail, `chmod 600 ${file}`)];
  });
  return exposed.length > 0
    ? exposed
    : [passedCheck('secrets', 'no file with a secret is open to every user')];
}

/** The fewest different steps from one character to the next in a random token. Words that repeat, and counting, have fewer. */
const FEWEST_STEPS = 9;

/** Checks whether the admin token can be guessed. */
export function checkAdminToken(token: string | null): readonly CheckResult[] {
  const codes = Buffer.from(token ?? '');
  const steps = new Set([...codes.subarray(1)].map((code, at) => code - (codes[at] ?? 0)));
  if (token === null || steps.size >= FEWEST_STEPS) return [];
  const detail = 'ADMIN_TOKEN repeats itself or counts, so it can be guessed';
  return [failedCheck('secrets', 'secrets.weak', detail, 'make another one: openssl rand -hex 32')];
}

const READABLE = { byGroup: 0o040, byAll: 0o004 };

/** Whether all users may read a file that we could read without that right. A container gets its secrets in files of another owner. */
function isNeedlesslyOpen(file: string): boolean {
  const { mode, uid, gid } = statSync(file);
  const user = process.getuid?.();
  const isOurs = user === 0 || user === uid;
  const isOurGroups = (mode & READABLE.byGroup) !== 0 && process.getgroups?.().includes(gid) === true;
  return (mode & READABLE.byAll) !== 0 && (isOurs || isOurGroups);
}
