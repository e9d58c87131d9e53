import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../scripts/clients/pages.ts';
import { isArray, isObject, parseJson, type JsonObject } from '../../src/lib/json/json.ts';
import { runIn, withPort } from './ask.ts';
import type { DatabaseName } from './mirrors.ts';
import type { Stage } from './stage.ts';

const PAGE = 'visidata';

/** The rows of a sheet as VisiData saves it without its screen: the list of views, or a view opened from there. It leaves nulls out. */
export async function saveSheet(
  stage: Stage,
  database: DatabaseName,
  view: string | null,
): Promise<readonly JsonObject[]> {
  const [open = '', save = ''] = codeOf(PAGE, 'sh', [database]).trim().split('\n\n');
  const file = join(stage.folder, `${database}-${view ?? 'views'}.json`);
  const command = withPort(open.replace('vd ', 'vd -b '), stage);
  if (view === null) await runIn(stage, PAGE, ['sh', '-c', `${command} -o ${file}`]);
  else if (database === 'SQLite')
    await runIn(stage, PAGE, ['sh', '-c', save.replace('bi_sync_status', view).replace('status.csv', file)]);
  else await runIn(stage, PAGE, ['sh', '-c', `${command} -p ${enterOn(stage, view)} -o ${file}`]);
  const saved = parseJson(readFileSync(file, 'utf8'));
  return isArray(saved) ? saved.filter(isObject) : [];
}

/** A file of commands that presses Enter on a row of the list of views. */
function enterOn({ folder }: Stage, view: string): string {
  const path = join(folder, `${view}.vdj`);
  const command = { sheet: 'mirror_tables', col: '', row: `キ${view}`, longname: 'open-row', input: '' };
  writeFileSync(path, JSON.stringify({ ...command, keystrokes: 'Enter', comment: '' }));
  return path;
}
