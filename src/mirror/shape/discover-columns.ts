import type { Field, Kind } from '../../catalog/kind.ts';
import { LONGEST_IDENTIFIER, RESERVED_SUFFIXES } from '../../catalog/reserved-names.ts';
import { columnObstacle, discoveredColumn } from '../../diff/discovered-column.ts';
import { saveDrift } from '../kinds/drift-store.ts';
import type { Drift } from '../kinds/drift-store.ts';
import { readUndiscovered, saveColumn, saveUnusable } from '../kinds/field-store.ts';
import { growKindTable } from './grow-kind-tables.ts';
import type { Session, Transaction } from '../session/session.ts';
import { addTextColumns } from './text-columns.ts';
import { drawViews, kindViews } from '../views/views.ts';

/**
 * Adds an empty column for every undocumented field that has shown a value, and puts it at the end of the view. Adds a text
 * column likewise for a field with a value that does not fit.
 *
 * @param kind The kind as mirrored so far.
 * @returns The kind as mirrored from now on.
 * @throws {MirrorError} `mirror.locked` on PostgreSQL if a reader holds the table; the next sweep tries again.
 */
export async function discoverColumns<K extends Kind>(session: Session, kind: K, now: Date): Promise<K> {
  return session.atomically(async (tx) => {
    const grown = await addTextColumns(tx, await addDiscovered(tx, kind, now), now);
    if (grown.fields.length === kind.fields.length) return kind;
    await growKindTable(tx, grown, session.dialect);
    await drawViews(tx, kindViews(grown, session.dialect), session.dialect);
    return grown;
  });
}

async function addDiscovered<K extends Kind>(tx: Transaction, kind: K, now: Date): Promise<K> {
  let grown = kind;
  const unusable: Drift[] = [];
  for (const [name, seen] of await readUndiscovered(tx, kind)) {
    const column = discoveredColumn(kind, name, seen);
    if (column === null) continue;
    const obstacle = columnObstacle(grown, column) ?? (await viewObstacle(tx, kind, column));
    if (obstacle === null) {
      await saveColumn(tx, kind.name, column);
      grown = { ...grown, fields: [...grown.fields, column] };
    } else unusable.push({ kind: kind.name, code: 'unusable_field', field: name, detail: obstacle });
  }
  await saveUnusable(
    tx,
    kind.name,
    unusable.map(({ field }) => field ?? ''),
  );
  await saveDrift(tx, unusable, now);
  return grown;
}

/** A nested value has a view of its own. Its name must not be another kind's view, nor too long for PostgreSQL. */
async function viewObstacle(
  tx: Transaction,
  { name: kind }: Kind,
  { name, type }: Field,
): Promise<string | null> {
  if (type !== 'json') return null;
  const view = `${kind}_${name}`;
  const isReserved =
    RESERVED_SUFFIXES.some((suffix) => view.endsWith(suffix)) || (await tx.columnsOf(view)).size > 0;
  if (isReserved) return `the view bi_${view} is another one's`;
  return Buffer.byteLength(`bi_${view}`) > LONGEST_IDENTIFIER
    ? `the name of its view, bi_${view}, is too long`
    : null;
}
