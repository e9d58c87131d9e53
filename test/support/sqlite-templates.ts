import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { inject } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import type { Session } from '../../src/db/session/session.ts';
import { migrate } from '../../src/views/migrate.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import { freshMirror } from './temp-folder.ts';

/** Puts a migrated mirror without rows at a path. The first test of a run that needs these kinds migrates, the others copy. */
export async function copyMirror(path: string, kinds: readonly Kind[]): Promise<void> {
  const shape = createHash('sha256').update(JSON.stringify(kinds)).digest('hex');
  const template = join(inject('templateFolder'), `${shape}.db`);
  if (!existsSync(template)) await makeTemplate(template, kinds);
  copyFileSync(template, path);
}

/** The same with the columns of all fields that the sandbox sends. */
export async function copyGrownMirror(path: string): Promise<void> {
  const template = join(inject('templateFolder'), 'grown.db');
  if (!existsSync(template)) {
    const { growAsSandbox } = await import('./grown-mirror.ts');
    await makeTemplate(template, KINDS, growAsSandbox);
  }
  copyFileSync(template, path);
}

/** The path of such a mirror in a folder of its own. */
export async function grownMirror(): Promise<string> {
  const path = freshMirror();
  await copyGrownMirror(path);
  return path;
}

/**
 * Other workers see the file once it is whole. A file keeps the pages that it was made with: those of 4 KB make an empty mirror
 * a quarter as long to copy and to look through.
 */
async function makeTemplate(
  template: string,
  kinds: readonly Kind[],
  grow: (session: Session) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const draft = `${template}.${randomUUID()}`;
  const file = new Database(draft);
  file.pragma('page_size = 4096');
  file.exec('vacuum');
  file.close();
  const session = openSqliteSession(draft);
  await migrate(session, kinds);
  await grow(session);
  await session.close();
  const emptied = new Database(draft);
  emptied.exec('vacuum');
  emptied.close();
  renameSync(draft, template);
}
