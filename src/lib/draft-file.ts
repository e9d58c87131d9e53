import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hasProcessEnded } from './process-id.ts';

/**
 * Begins a file: it is written in a private folder with a random name beside its place, so that
 * no other process reads it early, and no link redirects it.
 */
export function createDraft(path: string) {
  removeDrafts(path);
  const folder = fs.mkdtempSync(`${path}${DRAFT_SUFFIX}${process.pid}-`);
  const draft = join(folder, 'draft');
  const discard = (): void => fs.rmSync(folder, { recursive: true, force: true });
  return {
    /** Where it is to be written; there is none yet. */
    path: draft,
    discard,
    /** Puts it in its place at once, after which there is no draft. Returns its bytes. */
    publish: (): number => {
      fs.chmodSync(draft, fileMode(path, draft));
      const written = fs.openSync(draft, 'r+');
      fs.fsyncSync(written);
      fs.closeSync(written);
      const { size } = fs.lstatSync(draft);
      fs.renameSync(draft, path);
      discard();
      return size;
    },
  };
}

const DRAFT_SUFFIX = '.partial-';
const OWNER_ONLY = 0o600;

/** A replaced file keeps its mode, so that a group keeps its access. A new file is readable by its owner only. */
function fileMode(path: string, draft: string): number {
  const oldFile = fs.lstatSync(path, { throwIfNoEntry: false });
  const written = fs.lstatSync(draft);
  if (oldFile?.isFile() !== true || oldFile.uid !== written.uid) return OWNER_ONLY;
  return oldFile.mode & (oldFile.gid === written.gid ? 0o777 : 0o707);
}

/** Removes drafts of processes that have ended: they hold content that may have been removed since. Those of other users stay. */
function removeDrafts(path: string): void {
  const folder = dirname(path);
  const start = `${basename(path)}${DRAFT_SUFFIX}`;
  for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    const [, pid] = name.startsWith(start) ? (/^([1-9]\d*)-\w{6}$/.exec(name.slice(start.length)) ?? []) : [];
    if (pid === undefined || !hasProcessEnded(Number(pid))) continue;
    const uid = fs.lstatSync(join(folder, name), { throwIfNoEntry: false })?.uid;
    if (uid === process.getuid?.()) fs.rmSync(join(folder, name), { recursive: true, force: true });
  }
}
