import { readFileSync, statSync } from 'node:fs';
import { failedCheck, passedCheck, type CheckResult } from '../lib/check-result.ts';

/** Checks that none of the files with settings that holds a secret is open to every user of this machine. */
export function checkSecretFiles(
  files: readonly string[],
  secrets: readonly string[],
): readonly CheckResult[] {
  const hasSecret = (file: string): boolean => {
    const text = readFileSync(file, 'utf8');
    return secrets.some((secret) => text.includes(secret));
  };
  const exposedFiles = files.filter((file) => isNeedlesslyOpen(file) && hasSecret(file));
  if (exposedFiles.length === 0)
    return [passedCheck('secrets', 'no file with a secret is open to every user')];
  return exposedFiles.map((file) => {
    const detail = `every user of this machine may read ${file}, which holds a secret`;
    return failedCheck('secrets', 'secrets.readable', detail, `chmod 600 ${file}`);
  });
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
