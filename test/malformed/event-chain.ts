import { sql } from 'drizzle-orm';
import type { Session, SqlValue } from '../../src/db/session/session.ts';
import { rowsOf, type MirrorRow } from './checks.ts';

interface Event {
  readonly id: string;
  readonly change: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** A record as the events so far have left it. */
interface Replayed {
  readonly raw: string;
  readonly isDeleted: boolean;
}

/** Replays a kind's events over the rows that were there at first: each must go on where the one before it ended. */
export async function brokenChain(
  session: Session,
  kind: string,
  first: readonly MirrorRow[],
): Promise<string[]> {
  const replayed = new Map<string, Replayed>(first.map((row) => [row.id, row]));
  const found: string[] = [];
  for (const event of await eventsOf(session, kind)) {
    const fault = faultOf(event, replayed.get(event.id));
    if (fault !== null) found.push(`${kind} ${event.id}: ${event.change}, but ${fault}`);
    replayed.set(event.id, {
      raw: event.after ?? event.before ?? '',
      isDeleted: event.change === 'deleted',
    });
  }
  const rows = await rowsOf(session, kind);
  const astray = rows.filter(({ id, raw, isDeleted }) => {
    const end = replayed.get(id);
    return end?.raw !== raw || end.isDeleted !== isDeleted;
  });
  return [...found, ...astray.map(({ id }) => `${kind} ${id}: its events do not end in its row`)];
}

async function eventsOf(session: Session, kind: string): Promise<Event[]> {
  const rows = await session.query(sql`
    select record_id, change, before, after from changes where kind = ${kind} order by seq`);
  return rows.map((row) => ({
    id: String(row['record_id']),
    change: String(row['change']),
    before: textOf(row['before']),
    after: textOf(row['after']),
  }));
}

const textOf = (value: SqlValue | undefined): string | null =>
  value === null || value === undefined ? null : String(value);

const RULES: Readonly<Record<string, (event: Event, replayed: Replayed | undefined) => boolean>> = {
  created: ({ before, after }, replayed) => replayed === undefined && before === null && after !== null,
  restored: ({ after }, replayed) => replayed?.isDeleted === true && after !== null,
  deleted: ({ before, after }, replayed) => isLive(replayed) && before === replayed.raw && after === null,
  updated: ({ before, after }, replayed) =>
    isLive(replayed) && before === replayed.raw && after !== null && after !== before,
};

function faultOf(event: Event, replayed: Replayed | undefined): string | null {
  const isSound = RULES[event.change]?.(event, replayed) ?? false;
  return isSound ? null : 'that is not how the events before it, or the first reading, had left it';
}

const isLive = (replayed: Replayed | undefined): replayed is Replayed => replayed?.isDeleted === false;
