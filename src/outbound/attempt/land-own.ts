import type { Kind } from '../../catalog/kind.ts';
import { sortPage } from '../../diff/judge-page.ts';
import type { JsonObject } from '../../lib/json.ts';
import { asMirrored } from '../../mirror/kinds/field-store.ts';
import { readStanding } from '../../mirror/kinds/kind-standing.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { judgeAsked, readStored } from '../../mirror/records/stored-rows.ts';
import { leapTick } from '../../mirror/kinds/tick-store.ts';
import { confirmRows, saveDirtyRows as saveTouches } from '../../mirror/records/dirty-row-store.ts';
import { writeRows } from '../../mirror/records/write-rows.ts';
import type { OutboundParts } from '../parts.ts';

export interface OwnReading {
  readonly kind: Kind;
  readonly record: JsonObject;
  /** `service` for what was there before our write, `outbox:<id>` for what it made of it. */
  readonly origin: string;
  /** A record that the mirror does not know gets a row. */
  readonly mayBeNew: boolean;
}

/**
 * Brings a record that a write of ours has shown into the mirror at once, with the event that it is.
 *
 * It counts as newer than whatever any list was asked for until now; so no page that was read before reverts it.
 */
export async function landOwn(
  tx: Transaction,
  { rules, clock }: OutboundParts,
  { kind, record, origin, mayBeNew }: OwnReading,
): Promise<void> {
  const [incoming] = sortPage([record]).incoming;
  if (incoming === undefined) return; // No row can be made of it; its list will say so.
  const mirrored = await asMirrored(tx, kind);
  const stored = (await readStored(tx, mirrored, [incoming.id])).get(incoming.id);
  if (stored === undefined ? !mayBeNew : mayBeNew && stored.listed !== null) return;

  const judged = judgeAsked(mirrored, stored, incoming);
  const response = await leapTick(tx, kind.name);
  if (judged.verdict.is === 'unchanged') {
    await confirmRows(tx, kind.name, { ids: [judged.id], response });
    await saveTouches(tx, kind.name, { ids: [judged.id], response });
    return;
  }
  await writeRows(tx, {
    ...{ kind: mirrored, records: [judged], response, isListed: false, origin, runId: null },
    ...{ now: clock.now(), standing: await readStanding(tx, kind.name) },
    ignoredFields: new Set(rules.ignoreFields[kind.name] ?? []),
  });
}
