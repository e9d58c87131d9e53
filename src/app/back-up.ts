import { chmodSync, copyFileSync, existsSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import type { Config } from '../config/settings.ts';
import { openSession } from '../db/open-session.ts';
import { MirrorError } from '../db/session/errors.ts';
import { UsageError } from '../lib/sync-error.ts';
import { outputFile, writeWhole } from '../db/output-file.ts';
import { checkIntegrity } from '../store/integrity-check.ts';
import { writeMeta } from '../store/kinds/meta.ts';
import { openExistingMirror } from './open-mirror.ts';

const OWNER_ONLY = 0o600;

/**
 * Copies a SQLite mirror of one instant into a new file of mode 600, while others use it, and after it the send counter: a counter
 * that is ahead only pauses sends. Whatever serves the copy pauses sends, also where it is put back over the original.
 * @throws {UsageError} `usage.postgres`, and `usage.file` for a file that exists. @throws {MirrorError} `mirror.damaged`
 */
export async function backUp(config: Config, file: string) {
  await using session = await openExistingMirror(config);
  if (session.dialect === 'postgres')
    throw new UsageError('The mirror is in PostgreSQL, whose own programs make its copies.', {
      code: 'usage.postgres',
      hint: `umask 077; pg_dump --format custom --file '${file}' "$DATABASE_URL"`,
    });
  const path = outputFile(config.database.url, file);
  const counter = { from: `${session.location}.sends`, to: `${path}.sends` };
  const taken = [path, counter.to].find((name) => existsSync(name));
  if (taken !== undefined)
    throw new UsageError(`${taken} exists; a back-up replaces nothing.`, {
      code: 'usage.file',
      hint: 'Name a new file.',
    });
  const bytes = await writeWhole(path, async (draft) => {
    await session.query(sql`vacuum into ${draft}`);
    await using copy = await openSession(`file:${draft}`);
    const [fault] = await checkIntegrity(copy);
    if (fault !== undefined) throw damagedCopy(session.location, fault);
    await copy.atomically(async (tx) => {
      await writeMeta(tx, 'outbox.place', 'copy');
      await tx.query(sql`delete from workers`); // They work on the original.
    });
  });
  if (existsSync(counter.from)) {
    copyFileSync(counter.from, counter.to);
    chmodSync(counter.to, OWNER_ONLY); // It names what was sent.
  }
  return { file: path, bytes };
}

const damagedCopy = (location: string, fault: string): MirrorError =>
  new MirrorError(`The copy of ${location} is damaged: ${fault}.`, {
    code: 'mirror.damaged',
    hint: 'No back-up was written. Check the mirror with: bms-sync doctor',
  });
