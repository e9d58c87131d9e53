import { sql } from 'drizzle-orm';
import { certify, type Certification } from '../diff/certify.ts';
import { spansOf, type Spans } from '../diff/spans.ts';
import type { Session } from '../db/session/session.ts';
import { readSightings, type TimedSighting } from '../store/sightings/sighting-store.ts';
import { mayGoOn } from '../source/paging/page-checks.ts';
import type { PageWalk } from '../source/paging/walk-steps.ts';
import type { Sweep } from './reading.ts';

/** The proven facts about a list after a sweep. */
export interface ListCertification {
  readonly certification: Certification;
  /** When every id was shown, by all responses that are kept. */
  readonly spans: Spans;
  /** The instant of a send, by its tick; null if it is no longer kept. */
  readonly sentAt: (tick: number) => string | null;
  /** The instant at which the list is known exactly; null = never. */
  readonly certifiedAt: string | null;
  /** The list was known exactly at an instant within this very sweep. */
  readonly isOfThisSweep: boolean;
  /** It was read with the tokens of two users, so that it proves nothing about what it lacks. */
  readonly hasTwoTokens?: true;
  /** Its pages may be of different ages, as far as their totals show: a cache may have answered some. */
  readonly canBeMixed: boolean;
  /** Only a 404 behind a full page shows its end. */
  readonly mayGoOn: boolean;
}

/** Decides from the last sweeps' sightings whether the list is known exactly, and at which instant. */
export async function certifyList(session: Session, sweep: Sweep, walk: PageWalk | null) {
  const responses = await readSightings(session, sweep.kind.name, sweep.pages);
  const shown = spansOf(responses, []);
  const alone = certify(responses, [], shown);
  const canProveMore = !alone.certified && ['rows_unseen', 'page_size_unproven'].includes(alone.reason);
  const known = canProveMore ? await idsListedBefore(session, sweep, responses) : [];
  const spans = known.length === 0 ? shown : spansOf(responses, known);
  const certification = known.length === 0 ? alone : certify(responses, known, spans);
  const sentAt = (tick: number): string | null =>
    responses.find((response) => response.sent === tick)?.seenAt ?? null;
  const facts = { certification, spans, sentAt, mayGoOn: walk !== null && mayGoOn(walk, sweep.pages.has(2)) };
  if (!certification.certified)
    return { ...facts, certifiedAt: null, isOfThisSweep: false, canBeMixed: true };
  const { sent, sweep: ofSweep, total } = certification.point;
  const pages = responses.filter((response) => response.sweep === ofSweep && response.rows > 0);
  const canBeMixed =
    pages.some((response) => response.page > 1) &&
    pages.some((response) => response.total === null || response.total !== total);
  return { ...facts, certifiedAt: sentAt(sent), isOfThisSweep: ofSweep === sweep.began, canBeMixed };
}

/** Records that a list had shown before the first of these responses: only lists without a firm order need them. */
async function idsListedBefore(session: Session, sweep: Sweep, responses: readonly TimedSighting[]) {
  const { kind, lease } = sweep;
  if (lease.completeSweeps === 0) return [];
  const first = Math.min(...responses.map((response) => response.sent));
  const rows = await session.query(sql`
    select cast(id as text) as id from ${sql.identifier(kind.name)}
    where _listed > ${lease.knownFrom} and _listed < ${first}
      and (_deleted_at is null or cast(id as text) in (
        select record_id from erasures where kind = ${kind.name} and suppressed = 1))`);
  return rows.map((row) => String(row['id']));
}
