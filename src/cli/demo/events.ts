import { changes } from '../../app/commands/changes.ts';
import type { RecordedChange } from '../../app/commands/changes.ts';
import { pull } from '../../app/pull.ts';
import { compactJson, isObject, parseJson } from '../../lib/json/json.ts';
import { fieldsShown } from '../print/change-row.ts';
import { CHANGED_KINDS } from './other-users.ts';
import type { DemoStage } from './stage.ts';

const SIGNS: Readonly<Record<string, string>> = { created: '+', deleted: '-', restored: '+' };
/** The fields by which a person recognises a record. */
const NAMES = ['code', 'name', 'phone'];

/** Reads the lists that other users change; returns the events after the event `after`. */
export async function pullEvents(stage: DemoStage, after: number): Promise<readonly RecordedChange[]> {
  const { config, logger, io } = stage;
  await pull(config, {
    ...{ kinds: CHANGED_KINDS, acceptNewSource: false, logger, signal: io.signal },
    onProgress: () => undefined,
  });
  return eventsAfter(stage, after);
}

export async function eventsAfter({ config, io }: DemoStage, after: number): Promise<RecordedChange[]> {
  const events: RecordedChange[] = [];
  const wanted = { from: { after }, kind: undefined, limit: Infinity, isFollowing: false } as const;
  for await (const event of changes(config, wanted, io.signal)) events.push(event);
  return events;
}

/** Writes an event as a line of the story, with the values before and after. */
export function eventLine({ kind, recordId, change, fields, before, after, origin }: RecordedChange): string {
  const content = change === 'updated' ? fieldsShown(fields) : namesIn(after ?? before);
  const by = origin === 'service' ? '' : ' (written by bms-sync)';
  return `  ${SIGNS[change] ?? '~'} ${kind} ${recordId} ${change}: ${content}${by}`;
}

function namesIn(text: string | null): string {
  const record = text === null ? null : parseJson(text);
  if (!isObject(record)) return '';
  return NAMES.flatMap((name) => {
    const value = record[name];
    return value === undefined || value === null || value === '' ? [] : [`${name}: ${compactJson(value)}`];
  }).join(', ');
}
