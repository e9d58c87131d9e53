import type { Kind } from '../../catalog/kind.ts';
import { sortPage, withoutSuppressed } from '../../diff/judge-page.ts';
import type { Incoming } from '../../diff/judge-page.ts';
import { judgeListed } from '../../diff/plan-repairs.ts';
import type { RecordFacts } from '../../diff/plan-repairs.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { asMirrored } from '../../mirror/kinds/field-store.ts';
import { noteOwnChange, readStanding, leapTick } from '../../mirror/kinds/kind-standing.ts';
import { readMeta } from '../../mirror/kinds/meta.ts';
import { readSuppressed } from '../../mirror/records/erasure-store.ts';
import { factsOf, readEvidence } from '../../mirror/records/record-facts.ts';
import { judgeAsked, readStored, writeRows } from '../../mirror/records/stored-rows.ts';
import type { StoredRow } from '../../mirror/records/stored-rows.ts';
import type { Transaction } from '../../db/session/session.ts';
import { confirmRows, saveDirtyRows } from '../../mirror/sightings/page-store.ts';
import type { OutboundParts } from '../parts.ts';

export interface OwnReading {
  readonly kind: Kind;
  readonly record: JsonObject;
  /** `service` for the record before our write, `outbox:<id>` for the record after it. */
  readonly origin: string;
  /** A record that the mirror does not know gets a row. */
  readonly mayBeNew: boolean;
}

/**
 * Lands a record from the answer to our own write at once, with its event.
 *
 * It counts as newer than every list response requested until now, so that no page read earlier reverts it.
 */
export async function landOwn(
  tx: Transaction,
  { rules, clock }: OutboundParts,
  { kind, record, origin, mayBeNew }: OwnReading,
): Promise<void> {
  const incoming = await recordToLand(tx, kind.name, record);
  if (incoming === null) return;
  const mirrored = await asMirrored(tx, kind);
  const row = (await readStored(tx, mirrored, [incoming.id])).get(incoming.id);
  const { stored, repair } = await withoutFalseTombstone(tx, { kind: kind.name, id: incoming.id, row });
  const isListedNow = stored !== undefined && stored.listed !== null && !stored.isDeleted;
  if (stored === undefined ? !mayBeNew : mayBeNew && isListedNow) return;

  const judged = { ...judgeAsked(mirrored, stored, incoming), ...(repair !== undefined && { repair }) };
  const response = await leapTick(tx, kind.name);
  if (judged.verdict.is === 'unchanged' && repair === undefined) {
    await confirmRows(tx, kind.name, { ids: [judged.id], response });
    await saveDirtyRows(tx, kind.name, new Map([[judged.id, response]]));
    return;
  }
  const now = clock.now();
  if (judged.verdict.is !== 'unchanged') await noteOwnChange(tx, kind.name, now);
  await writeRows(tx, {
    kind: mirrored,
    answers: [{ records: [judged], response }],
    isListed: false,
    origin,
    runId: null,
    now,
    standing: await readStanding(tx, kind.name),
    ignoredFields: new Set(rules.ignoreFields[kind.name] ?? []),
  });
}

/** The record as it can be landed; null if it cannot become a row (the next sweep opens the issue), or is kept out on purpose. */
async function recordToLand(tx: Transaction, kind: string, record: JsonObject): Promise<Incoming | null> {
  const { incoming } = withoutSuppressed(sortPage([record]), await readSuppressed(tx, kind));
  return incoming[0] ?? null;
}

interface Compared {
  readonly stored: StoredRow | undefined;
  readonly repair?: string;
}

/** A row that a user marked as deleted counts as live: the service never deleted its record, so there is no event. */
async function withoutFalseTombstone(
  tx: Transaction,
  { kind, id, row }: { readonly kind: string; readonly id: string; readonly row: StoredRow | undefined },
): Promise<Compared> {
  if (row?.isDeleted !== true) return { stored: row };
  if (judgeListed('tombstone', await readFacts(tx, kind, { id, row })) !== 'returned') return { stored: row };
  return {
    stored: { ...row, isDeleted: false, deletedAt: null },
    repair: 'its row was marked as deleted',
  };
}

async function readFacts(
  tx: Transaction,
  kind: string,
  { id, row }: { readonly id: string; readonly row: StoredRow },
): Promise<RecordFacts> {
  const own = (await readEvidence(tx, kind, [id])).get(id);
  const forgottenBefore = await readMeta(tx, 'changes.forgotten_before');
  return factsOf(own, {
    wasShown: row.listed !== null,
    mayBeForgotten: forgottenBefore !== null && String(row.deletedAt) < forgottenBefore,
  });
}

/** The mirror's copy of a record. */
export interface MirrorRow {
  /** The record as compact JSON, by the names of a read. */
  readonly raw: string;
  readonly isLive: boolean;
}

/** Reads the mirror's copies of these records; a record without a row is absent from the map. */
export async function readRows(
  tx: Transaction,
  kind: string,
  ids: readonly string[],
): Promise<Map<string, MirrorRow>> {
  const rows = await tx.rowsById(kind, ['_raw', '_deleted_at'], ids);
  return new Map(
    [...rows].map(([id, [raw, deletedAt]]) => [id, { raw: String(raw), isLive: deletedAt === null }]),
  );
}
