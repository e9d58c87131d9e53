import { sql } from 'drizzle-orm';
import { OtherSourceError } from './errors.ts';
import { dropMeta, readMeta, writeMeta } from './meta.ts';
import type { Session } from './session.ts';

/**
 * Binds a new mirror to its source, and refuses a mirror of another one.
 *
 * @throws {OtherSourceError} Where the mirror holds the data of another base URL and `acceptNew` is not set.
 */
export async function bindSource(
  session: Session,
  { baseUrl, acceptNew }: { baseUrl: string; acceptNew: boolean },
): Promise<void> {
  await session.atomically(async (tx) => {
    const bound = await readMeta(tx, 'source.base_url');
    if (bound !== null && bound !== baseUrl && !acceptNew) {
      throw new OtherSourceError(
        `This mirror holds the data of ${bound}, and source.baseUrl is ${baseUrl}.`,
        {
          code: 'mirror.other_source',
          hint: 'Set DATABASE_URL to a mirror of its own for this source; --new-source accepts it for this mirror.',
        },
      );
    }
    await writeMeta(tx, 'source.base_url', baseUrl);
    if (!acceptNew) return;
    await dropMeta(tx, 'source.system_id');
    await tx.query(sql`delete from sightings`); // What the old source showed says nothing about the new one.
    await tx.query(sql`update kind_state set complete_sweeps = 0`);
  });
}

/** The company whose data the mirror holds, as the service numbers it (`system_id`); null while no record named it. */
export async function boundSystem(session: Session): Promise<string | null> {
  return readMeta(session, 'source.system_id');
}

/** Remembers the company, the first time that a record names it. */
export async function bindSystem(session: Session, systemId: string): Promise<void> {
  await session.atomically((tx) => writeMeta(tx, 'source.system_id', systemId));
}

/** The base URL whose data the mirror holds; null before the first pull. */
export async function boundUrl(session: Session): Promise<string | null> {
  return readMeta(session, 'source.base_url');
}
