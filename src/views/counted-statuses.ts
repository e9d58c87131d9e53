import type { Queryable } from '../db/session/session.ts';
import { readMetaJson } from '../store/kinds/meta.ts';

const MEANINGS = ['sold', 'owed', 'bought'] as const;
type Meaning = (typeof MEANINGS)[number];

/** The statuses that count as sold, owed and bought: the settings `reports`; null = the only one that occurs. */
export type CountedStatuses = Readonly<Record<Meaning, readonly string[] | null>>;

export async function readCountedStatuses(db: Queryable): Promise<CountedStatuses> {
  const read = async (meaning: Meaning) =>
    (await readMetaJson(db, `reports.${meaning}`)) as readonly string[] | null;
  return { sold: await read('sold'), owed: await read('owed'), bought: await read('bought') };
}

/** The same as the mirror keeps them. */
export const countedFacts = (counted: CountedStatuses) =>
  MEANINGS.map(
    (meaning) => [`reports.${meaning}`, counted[meaning] && JSON.stringify(counted[meaning])] as const,
  );
