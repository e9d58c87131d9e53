import { kindNamed } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { recordId } from '../../diff/judge-page.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { readRecordStory } from '../../mirror/records/record-story.ts';
import type { RecordStory } from '../../mirror/records/record-story.ts';
import { openExistingMirror } from '../open-mirror.ts';

export { proofWords, STORY_STATES } from '../../mirror/records/record-story.ts';
export type { RecordStory } from '../../mirror/records/record-story.ts';

/**
 * Reads everything that the mirror knows of one record.
 *
 * @throws {UsageError} For an unknown kind, or an id that no record can have. @throws {SyncError} `record.absent` where the
 * mirror has no trace of it.
 */
export async function recordStory(config: Config, kindName: string, id: string): Promise<RecordStory> {
  const kind = kindNamed(config, kindName);
  if ('fault' in recordId({ id }))
    throw new UsageError(
      `"${id}" is no id of a record: expected a whole number from 1 to 9223372036854775807.`,
      {
        ...{ code: 'usage.record', hint: `For example: bms-sync record ${kind.name} 17` },
      },
    );
  await using session = await openExistingMirror(config);
  const story = await readRecordStory(session, kind, id);
  if (story !== null) return story;
  throw new SyncError(`The mirror has no trace of record ${id} of ${kind.name}.`, {
    code: 'record.absent',
    hint: `If the service has it: bms-sync ${kind.retrieve === null ? `pull ${kind.name}` : `backfill ${kind.name} --ids ${id}`}`,
  });
}
