import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { MirrorError } from '../../db/session/errors.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { readTexts } from '../../db/rows/rows.ts';
import { readMeta } from './meta.ts';

/** The names of excluded fields by kind. */
export type Exclusions = ReadonlyMap<string, readonly string[]>;

/** The fields that a mirror keeps out, by the settings that were applied to it last; none where there is no mirror yet. */
export async function readExclusions(db: Session): Promise<Exclusions> {
  const text = await db.atomically(async (tx) =>
    (await tx.columnsOf('mirror_meta')).size === 0 ? null : readMeta(tx, 'privacy.excluded'),
  );
  return exclusionsIn(text);
}

export const exclusionsIn = (text: string | null): Exclusions =>
  new Map(JSON.parse(text ?? '[]') as [string, string[]][]);

/**
 * Refuses to write rows with a field that the mirror keeps out since this process started, so that one with older settings does not
 * bring it back.
 *
 * @throws {MirrorError} `mirror.excluded_since`
 */
export async function refuseUnlessExcluded(tx: Transaction, { name, excluded = [] }: Kind): Promise<void> {
  const lists = await readTexts(
    tx,
    sql`select value from mirror_meta where key in ('privacy.excluded', 'privacy.excluding')`,
  );
  const stored = new Set(lists.flatMap((list) => exclusionsIn(list).get(name) ?? []));
  const missing = [...stored].filter((field) => !excluded.some((own) => own.name === field));
  if (missing.length === 0) return;
  throw new MirrorError(
    `The mirror keeps ${missing.join(', ')} of ${name} out, and this process does not know of it.`,
    {
      code: 'mirror.excluded_since',
      hint: 'Start it again with the settings that have privacy.exclude.',
    },
  );
}
