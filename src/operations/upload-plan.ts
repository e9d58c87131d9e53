import { basename } from 'node:path';
import { SyncError } from '../lib/sync-error.ts';
import { sanitizeLine } from '../lib/text/text.ts';
import { makePlan, type Spreadsheet } from '../outbound/plans/make-plan.ts';
import { readSheet } from '../outbound/plans/read-sheet.ts';
import type { OperationContext } from './operation.ts';

interface Upload extends Pick<Spreadsheet, 'kind' | 'allowNew' | 'allowReordered'> {
  /** The name of the file; its ending shows a workbook. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

const LONGEST_NAME = 200;

/**
 * Makes a plan of an uploaded export with edits; returns its number.
 *
 * @throws {SyncError} `plan.empty` where nothing would change.
 * @throws {UsageError} `usage.sheet` as the command `plan` does.
 */
export async function uploadPlan(
  { session, kinds, clock }: Pick<OperationContext, 'session' | 'kinds' | 'clock'>,
  { name, bytes, ...rules }: Upload,
  createdBy: string,
): Promise<number> {
  const origin = sanitizeLine(basename(name).slice(-LONGEST_NAME));
  const sheet = await readSheet(origin, bytes);
  const id = await makePlan(session, { kinds, sheet, origin, createdBy, now: clock.now(), ...rules });
  if (id !== null) return id;
  throw new SyncError(`${origin} differs in no cell from the mirror.`, {
    code: 'plan.empty',
    hint: 'Save the edited file, and upload it again.',
  });
}
