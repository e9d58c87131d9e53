import { sql } from 'drizzle-orm';
import { parseInstant } from '../../src/lib/time/clock.ts';
import type { Session } from '../../src/db/session/session.ts';
import { GRACE_SECONDS, type Pulled } from './pull-once.ts';

/** Deletions without two proofs a grace apart: the service's own word, or a list that was read whole. */
export async function unproven(session: Session, pulls: readonly Pulled[]): Promise<string[]> {
  const deletions = await session.query(sql`
    select kind, record_id, proof, absent_since, struck_at, concluded_at from deletions where state = 'deleted'`);
  return deletions.flatMap((row) => {
    const kind = String(row['kind']);
    const id = String(row['record_id']);
    const proof = String(row['proof']);
    const untilMs = parseInstant(String(row['concluded_at'])).getTime();
    // The list's proof begins at its first certified look, which may come after the first answer.
    const since = [
      row['absent_since'],
      ...(proof === 'retrieve' ? [row['struck_at'] ?? row['absent_since']] : []),
    ];
    const notedMs = Math.min(...since.map((at) => parseInstant(String(at)).getTime()));
    // A round of questions is noted once its control has answered again: its answers came earlier in that pull.
    const fromMs = pulls.findLast(({ atMs }) => atMs <= notedMs)?.atMs ?? notedMs;
    const instants = proof === 'retrieve' ? deniedAt(pulls, kind, id) : readAt(pulls, kind);
    const within = instants.filter((ms) => ms >= fromMs && ms <= untilMs);
    const spanMs = Math.max(...within) - Math.min(...within);
    const isProven = within.length >= 2 && spanMs >= GRACE_SECONDS * 1000;
    return isProven
      ? []
      : [`${kind} ${id}: deleted by ${proof} with ${within.length} proofs, ${spanMs} ms apart`];
  });
}

/** When the service said that a record is gone. */
function deniedAt(pulls: readonly Pulled[], kind: string, id: string): number[] {
  return pulls
    .flatMap(({ exchanges }) => exchanges)
    .filter(
      (exchange) => exchange.served.name === kind && exchange.id === id && exchange.reading.is === 'gone',
    )
    .map(({ atMs }) => atMs);
}

/** When a list was read to its end; any instant of the pull may be the one. */
function readAt(pulls: readonly Pulled[], kind: string): number[] {
  return pulls
    .filter(({ reports }) => ['certified', 'complete'].includes(reports.get(kind)?.state ?? ''))
    .flatMap(({ atMs, tookMs }) => [atMs, atMs + tookMs]);
}
