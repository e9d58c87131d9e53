import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { MirrorError } from '../../db/session/errors.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { readTexts } from '../../db/rows/rows.ts';
import { isMirrorPresent, readMeta } from './meta.ts';

export type Exclusions = ReadonlyMap<string, readonly string[]>;

/** The fields that a mirror keeps out, by the settings that were applied to it last; null where there is no mirror yet. */
export async function readExclusions(db: Session): Promise<Exclusions | null> {
  return (await isMirrorPresent(db)) ? parseExclusions(await readMeta(db, 'privacy.excluded')) : null;
}

export const parseExclusions = (text: string | null): Exclusions =>
  new Map(JSON.parse(text ?? '[]') as [string, string[]][]);

/** The fields of a kind that the mirror keeps out by now and this process, with older settings, does not. */
export async function excludedSince(tx: Transaction, { name, excluded = [] }: Kind) {
  const lists = await readTexts(
    tx,
    sql`select value from mirror_meta where key in ('privacy.excluded', 'privacy.excluding')`,
  );
  const stored = new Set(lists.flatMap((list) => parseExclusions(list).get(name) ?? []));
  return [...stored].filter((name) => !excluded.some((field) => field.name === name));
}

export const EXCLUDED_SINCE = 'excluded_since';

/**
 * Refuses to write rows while fields are kept out that this process lets in: they would be back for good.
 * @throws {MirrorError} `mirror.excluded_since`
 */
export function refuseExcluded(kind: Kind, fields: readonly string[]): void {
  if (fields.length === 0) return;
  const message = `The mirror excludes ${fields.join(', ')} of ${kind.name}, but these settings do not.`;
  throw new MirrorError(message, {
    code: `mirror.${EXCLUDED_SINCE}`,
    hint: 'Restart with the settings that have privacy.exclude.',
  });
}
