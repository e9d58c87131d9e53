import { sql } from 'drizzle-orm';
import { certify } from '../../diff/certify.ts';
import type { Certification } from '../../diff/certify.ts';
import { unseenSince, spansOf } from '../../diff/spans.ts';
import type { Unseen, Spans } from '../../diff/spans.ts';
import type { Session } from '../../mirror/session/session.ts';
import { readSightings } from '../../mirror/sightings/sighting-store.ts';
import type { SeenPage } from '../../mirror/sightings/sighting-store.ts';
import type { Sweep } from './sweep.ts';

/** The proven facts about a list after a sweep. */
export interface ListCertification {
  readonly verdict: Certification;
  /** When every id was shown, by all responses that are kept. */
  readonly spans: Spans;
  /** The instant of a send, by its tick; null if it is no longer kept. */
  readonly sentAt: (tick: number) => string | null;
  /** Ids that no response sent after a tick has shown; responses of failed sweeps count too. */
  readonly unseenSince: (tick: number) => Unseen;
  /** The instant at which the list is known exactly; null = never. */
  readonly certifiedAt: string | null;
  /** The list was known exactly at an instant within this very sweep. */
  readonly isOfThisSweep: boolean;
}

/** Decides from the last sweeps' sightings whether the list is known exactly, and at which instant. */
export async function certifyList(session: Session, sweep: Sweep): Promise<ListCertification> {
  sweep.earlier.release(); // Both together would hold every id twice.
  const responses = await readSightings(session, sweep.kind.name, sweep.pages);
  const shown = spansOf(responses, []);
  const alone = certify(responses, [], shown);
  const isSettled = alone.certified || alone.reason !== 'rows_unseen';
  const { verdict, spans } = isSettled
    ? { verdict: alone, spans: shown }
    : await withKnown(session, sweep, responses);
  const sentAt = (tick: number): string | null => {
    for (const { sent, seenAt } of responses) if (sent === tick) return seenAt;
    return null;
  };
  const facts = { verdict, spans, sentAt, unseenSince: (tick: number) => unseenSince(shown, tick) };
  if (!verdict.certified) return { ...facts, certifiedAt: null, isOfThisSweep: false };
  const { sent, sweep: ofSweep } = verdict.point;
  return { ...facts, certifiedAt: sentAt(sent), isOfThisSweep: ofSweep === sweep.began };
}

/** Records that a list had shown before the first of these responses: only lists without a firm order need them. */
async function withKnown(
  session: Session,
  { kind, lease }: Sweep,
  responses: readonly SeenPage[],
): Promise<Pick<ListCertification, 'verdict' | 'spans'>> {
  const known = lease.completeSweeps === 0 ? [] : await knownBefore(session, { kind, lease }, responses);
  const spans = spansOf(responses, known);
  return { verdict: certify(responses, known, spans), spans };
}

async function knownBefore(
  session: Session,
  { kind, lease }: Pick<Sweep, 'kind' | 'lease'>,
  responses: readonly SeenPage[],
): Promise<string[]> {
  const first = Math.min(...responses.map(({ sent }) => sent));
  const rows = await session.query(sql`
    select cast(id as text) as id from ${sql.identifier(kind.name)}
    where _listed > ${lease.knownFrom} and _listed < ${first}
      and (_deleted_at is null or cast(id as text) in (
        select record_id from erasures where kind = ${kind.name} and suppressed = 1))`);
  return rows.map(({ id }) => String(id));
}
