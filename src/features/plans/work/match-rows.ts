import type { Kind } from '../../../catalog/kind.ts';
import { normalizeKey } from '../../../diff/normalize-spelling.ts';
import { canonicalNumber } from '../../../lib/json/decimal.ts';
import { UsageError } from '../../../lib/sync-error.ts';
import type { Queryable } from '../../../db/session/session.ts';
import { lastReading } from '../../../store/kinds/kind-standing.ts';
import { readFreshness } from '../../../store/kinds/status-store.ts';
import { readAbsences } from '../../../store/records/deletion-store.ts';
import { liveColumns } from '../../../store/records/record-store.ts';
import { valueForMessage } from '../../../outbound/intake/write-value.ts';
import { readCellText, type EditedTable } from './judge-row.ts';
import { CLEARED } from '../sheet/read-cell.ts';
import { parseNumberWith, type Spelling } from '../sheet/spellings.ts';
import { findRepeated, type Sheet } from '../sheet/sheet-table.ts';

/** The record that a row of a sheet is about: `''` for a new one. */
interface Target {
  readonly id: string;
  /** Why the row is refused. */
  readonly refusal?: string;
}

/**
 * The fields by which the rows of a sheet find their records: some of the natural key.
 *
 * @throws {UsageError} `usage.sheet` for other fields, and for a sheet that lacks one or has ids.
 */
export function matchedFields(
  { naturalKey, name }: Kind,
  viewColumns: ReadonlySet<string>,
  { columns }: Sheet,
  match: string,
): readonly string[] {
  const fields = match.split(',');
  const known = naturalKey === 'all sent fields' ? [] : naturalKey.filter((field) => viewColumns.has(field));
  const isUsable = (field: string): boolean => known.includes(field) && columns.includes(field);
  if (fields.every(isUsable) && !columns.includes('id')) return fields;
  throw new UsageError(`The rows of the sheet cannot be matched by ${match}.`, {
    code: 'usage.sheet',
    hint:
      known.length === 0
        ? `Records of ${name} are found by id alone.`
        : `It takes columns of the natural key (${known.join(', ')}), and no column id.`,
  });
}

/**
 * Finds the records of rows by the fields of `match`. A row is refused unless exactly one record has its values, and none has them with
 * more zeros, which a spreadsheet may have removed.
 *
 * @param create Rows whose values no record has, not even nearly, are about new records.
 */
export async function matchRows(
  db: Queryable,
  table: EditedTable,
  create: boolean,
): Promise<readonly Target[]> {
  const { kind, sheet, match: fields } = table;
  const list = (await readFreshness(db)).find((each) => each.kind === kind.name);
  // What a reading that is under way has landed adds to the certified list.
  const state = list?.state === 'running' ? (await lastReading(db, kind.name))?.state : list?.state;
  const uncertified = `the list of ${kind.name} is not certified: bms-sync pull ${kind.name}`;
  if (state !== 'certified') return sheet.rows.map(() => refused(uncertified));
  const keys = sheet.rows.map((row) => keyOf(fields.map((name) => readCellText(sheet, row.cells, name))));
  const repeated = findRepeated(keys);
  const folds = [...new Set(keys)].flatMap(foldsOf);
  const respelled = findRepeated(folds);
  const candidates = await findCandidates(db, kind, fields, new Set(folds));
  const absences = await readAbsences(db, kind.name);
  const describe = (key: string): string =>
    valuesOf(key)
      .map((value, index) => `${fields[index]} ${valueForMessage(value)}`)
      .join(', ');
  const targetOf = (key: string): Target => {
    const ownFolds = foldsOf(key);
    const alike = [...new Set(ownFolds.flatMap((fold) => candidates.get(fold) ?? []))];
    const [record, second] = alike.filter((each) => each.key === key);
    const longer = alike.find((each) => countZeros(each.key) > countZeros(key));
    const near = alike[0];
    if (valuesOf(key).some((value) => value === '' || value === CLEARED))
      return refused(`it has no ${fields.join(' or no ')}`);
    if (repeated.has(key)) return refused(`${describe(key)} is in the sheet twice`);
    if (longer !== undefined)
      return refused(`it has probably lost its zeros: record ${longer.id} has ${describe(longer.key)}`);
    if (second !== undefined) return refused(`records ${record?.id} and ${second.id} have ${describe(key)}`);
    if (record !== undefined)
      return absences.has(record.id)
        ? refused(`record ${record.id} is no longer in the list: bms-sync deletions`)
        : { id: record.id };
    if (near !== undefined)
      return refused(`no record has ${describe(key)}; record ${near.id} has ${describe(near.key)}`);
    if (create && ownFolds.some((fold) => respelled.has(fold)))
      return refused(`another row may have ${describe(key)}, in another spelling`);
    return create ? { id: '' } : refused(`no record has ${describe(key)}; to create one, add --create`);
  };
  return keys.map(targetOf);
}

const refused = (refusal: string): Target => ({ id: '', refusal });

const valuesOf = (key: string): readonly string[] => JSON.parse(key) as string[];

const keyOf = (values: readonly string[]): string => JSON.stringify(values.map(normalizeKey));

const countZeros = (key: string): number => key.split('0').length;

/** A key with its values as numbers, by either sign before the decimals; others have no case, and no zeros before them. */
const foldsOf = (key: string): readonly string[] => {
  const fold = (sign: Spelling['decimalSign']) => (value: string) =>
    canonicalNumber(parseNumberWith(value, sign) ?? '') ?? value.replace(/^0+(?=\d)/, '').toLowerCase();
  return [...new Set([fold('.'), fold(',')].map((spell) => JSON.stringify(valuesOf(key).map(spell))))];
};

/** Finds live records that have a wanted one of their `foldsOf`, by it. */
async function findCandidates(
  db: Queryable,
  kind: Kind,
  fields: readonly string[],
  wanted: ReadonlySet<string>,
) {
  const found = new Map<string, { readonly id: string; readonly key: string }[]>();
  for await (const rows of liveColumns(db, kind.name, fields))
    for (const row of rows) {
      const key = keyOf(fields.map((name) => String(row[name] ?? '')));
      const record = { id: row.id, key };
      for (const fold of foldsOf(key).filter((each) => wanted.has(each)))
        found.set(fold, [...(found.get(fold) ?? []), record]);
    }
  return found;
}
