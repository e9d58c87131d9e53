import { parseCsv } from '@cj-tech-master/excelts/csv';
import { KINDS } from '../../../../src/catalog/kinds/catalog.ts';
import { compactJson } from '../../../../src/lib/json/json.ts';
import { makePlan } from '../../../../src/features/plans/work/make-plan.ts';
import { showPlan, type ShownPlan } from '../../../../src/features/plans/work/plan-document.ts';
import { readSheet } from '../../../../src/features/plans/sheet/read-sheet.ts';
import { openExport } from '../../../../src/features/export/export-source.ts';
import { exportTexts } from '../../../../src/features/export/export.ts';
import type { Stage } from '../../../outbound/stage.ts';

/** The rows of an export for Excel, its header first; cells as a spreadsheet reads them. */
export async function exported(on: Stage, what = 'clients'): Promise<string[][]> {
  const wish = { what, asOf: undefined, now: on.clock.now(), timezone: 'UTC' };
  const { source } = await openExport(on.session, KINDS, wish);
  const { signal } = new AbortController();
  const how = { format: 'excel', onRows: () => undefined, signal } as const;
  let text = '';
  for await (const piece of exportTexts(source, how)) text += piece;
  return parseCsv(text.slice(1), { delimiter: ';' }).filter((line) => line.length > 1);
}

/** An export of 1.0.0, which had no versions. */
export function unversioned(lines: readonly string[][]): string[][] {
  const at = lines[0]?.indexOf('_version') ?? -1;
  return lines.map((line) => line.filter((_, index) => index !== at));
}

/** The bytes of CSV as Excel saves them in French Canada. */
export const saved = (lines: readonly (readonly string[])[]): Uint8Array =>
  new TextEncoder().encode(
    `\ufeff${lines.map((line) => line.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';')).join('\r\n')}\r\n`,
  );

/** Gives the row of a record other cells; a row that is not there is added. */
export function edit(lines: string[][], id: string, cells: Readonly<Record<string, string>>): void {
  const [head = []] = lines;
  let line = lines.find((each) => each[head.indexOf('id')] === id && id !== '');
  if (line === undefined) lines.push((line = head.map((name) => (name === 'id' ? id : ''))));
  for (const [name, text] of Object.entries(cells)) line[head.indexOf(name)] = text;
}

/** A decision of Ada on a plan that needs no approval. */
export const decided = (on: Stage, id: number) => ({
  kinds: KINDS,
  id,
  by: 'ada',
  now: on.clock.now(),
  approvals: 0,
});

/** Makes a plan of an edited export; null where nothing would change. */
export async function planOf(on: Stage, lines: readonly (readonly string[])[]): Promise<ShownPlan | null> {
  const sheet = await readSheet('clients.csv', saved(lines));
  const asked = { kinds: KINDS, sheet, create: true };
  const options = { ...asked, origin: 'clients.csv', createdBy: 'ada', now: on.clock.now() };
  const id = await makePlan(on.session, options);
  return id === null ? null : showPlan(on.session, KINDS, id);
}

/** The cells of a plan as `record field: old → new`, and its refusals as `record: reason`. */
export const planTexts = (plan: ShownPlan | null): readonly string[] =>
  (plan?.rows ?? []).flatMap(({ recordId, cells, refusal }) => [
    ...cells.map(
      (cell) => `${recordId ?? 'new'} ${cell.field}: ${compactJson(cell.old)} → ${compactJson(cell.new)}`,
    ),
    ...(refusal === null ? [] : [`${recordId ?? 'new'} refused: ${refusal}`]),
  ]);
