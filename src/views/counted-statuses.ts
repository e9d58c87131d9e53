import type { Queryable } from '../db/session/session.ts';
import { deleteMeta, readMeta, writeMeta } from '../store/kinds/meta.ts';

const MEANINGS = ['sold', 'owed', 'bought'] as const;
type Meaning = (typeof MEANINGS)[number];

/** The statuses that count as sold, owed and bought: the settings `reports`; null = the only one that occurs. */
export type CountedStatuses = Readonly<Record<Meaning, readonly string[] | null>>;

export async function readCountedStatuses(db: Queryable): Promise<CountedStatuses> {
  const read = async (meaning: Meaning): Promise<string[] | null> =>
    JSON.parse((await readMeta(db, `reports.${meaning}`)) ?? 'null') as string[] | null;
  return { sold: await read('sold'), owed: await read('owed'), bought: await read('bought') };
}

export async function writeCountedStatuses(db: Queryable, counted: CountedStatuses): Promise<void> {
  for (const meaning of MEANINGS) {
    const statuses = counted[meaning];
    if (statuses === null) await deleteMeta(db, `reports.${meaning}`);
    else await writeMeta(db, `reports.${meaning}`, JSON.stringify(statuses));
  }
}
