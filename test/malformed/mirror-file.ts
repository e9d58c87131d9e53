import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Session } from '../../src/db/session/session.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import { copyMirror } from '../support/sqlite-templates.ts';

/**
 * Gives a test file mirrors that start alike: filled once, and then copied as a file.
 *
 * @returns What opens a fresh copy; the one before it is gone then.
 */
export function copiedMirror(fill: (session: Session) => Promise<void>): () => Promise<Session> {
  let folder = '';
  let open: Session | null = null;
  const template = (): string => join(folder, 'template.db');
  const copy = (): string => join(folder, 'mirror.db');
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bms-sync-malformed-'));
    await copyMirror(template(), KINDS);
    await using session = openSqliteSession(template());
    await fill(session);
  });
  afterAll(async () => {
    await open?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return async () => {
    await open?.close();
    for (const beside of ['', '-wal', '-shm']) rmSync(copy() + beside, { force: true });
    copyFileSync(template(), copy());
    open = openSqliteSession(copy());
    return open;
  };
}
