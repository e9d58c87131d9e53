import { basename } from 'node:path';
import { SyncError } from '../../../lib/sync-error.ts';
import { sanitizeLine } from '../../../lib/text/text.ts';
import { makePlan, type Spreadsheet } from '../work/make-plan.ts';
import { readSheet } from '../sheet/read-sheet.ts';
import type { OperationContext } from '../../../operations/operation.ts';

/** What a person chooses beside a file. */
export type SheetRules = Pick<Spreadsheet, 'kind' | 'match' | 'create' | 'allowReordered'>;

interface SheetFile extends SheetRules {
  /** The name of the file; its ending shows a workbook. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export const KIND = 'its record kind, if neither its name nor its columns show it';
export const MATCH = 'find the records by this field of their natural key, in a sheet without ids';

type PlanContext = Pick<OperationContext, 'session' | 'kinds' | 'clock'>;

const LONGEST_NAME = 200;

/**
 * Makes a plan of a file; returns its number, null where nothing would change.
 *
 * @throws {UsageError} `usage.sheet` for a file that is not a sheet of one kind.
 */
export async function planFile(
  { session, kinds, clock }: PlanContext,
  { name, bytes, ...rules }: SheetFile,
  createdBy: string,
): Promise<number | null> {
  const origin = sanitizeLine(basename(name).slice(-LONGEST_NAME));
  const sheet = await readSheet(origin, bytes);
  return makePlan(session, { kinds, sheet, origin, createdBy, now: clock.now(), ...rules });
}

/** The same of an upload. @throws {SyncError} `plan.empty` where nothing would change. */
export async function uploadPlan(context: PlanContext, file: SheetFile, createdBy: string): Promise<number> {
  const id = await planFile(context, file, createdBy);
  if (id !== null) return id;
  throw new SyncError(`${sanitizeLine(basename(file.name))} differs in no cell from the mirror.`, {
    code: 'plan.empty',
    hint: 'Save the edited file, and upload it again.',
  });
}
