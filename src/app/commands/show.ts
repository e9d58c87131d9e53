import { kindNamed as documentedKind } from '../../catalog/catalog.ts';
import type { Kind } from '../../catalog/kind.ts';
import { kindNamed, allKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { recordId } from '../../diff/judge-page.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { readFields } from '../../mirror/kinds/field-store.ts';
import type { KnownField } from '../../mirror/kinds/field-store.ts';
import { openSession } from '../../mirror/open-session.ts';
import { readRecordStory } from '../../mirror/records/record-story.ts';
import type { RecordStory } from '../../mirror/records/record-story.ts';
import { isMirrorPresent } from '../../mirror/shape/place-tables.ts';
import { describeKind } from '../../report/describe-kind.ts';
import type { KindDescription } from '../../report/describe-kind.ts';
import { openExistingMirror, isFileMissing } from '../open-mirror.ts';

export { proofWords, STORY_STATES } from '../../mirror/records/record-story.ts';
export type { RecordStory } from '../../mirror/records/record-story.ts';
export type { FieldDescription, KindDescription } from '../../report/describe-kind.ts';

/**
 * Reads everything that the mirror knows of one record.
 *
 * @throws {UsageError} For an unknown kind, or an id that no record can have. @throws {SyncError} `record.absent` where the
 * mirror has no trace of it.
 */
export async function recordStory(config: Config, kindName: string, id: string): Promise<RecordStory> {
  const kind = kindOfRecord(config, { kind: kindName, id, command: 'record' });
  await using session = await openExistingMirror(config);
  const story = await readRecordStory(session, kind, id);
  if (story !== null) return story;
  throw new SyncError(`The mirror has no trace of record ${id} of ${kind.name}.`, {
    code: 'record.absent',
    hint: `If the service has it: bms-sync ${kind.retrieve === null ? `pull ${kind.name}` : `backfill ${kind.name} --ids ${id}`}`,
  });
}

interface NamedRecord {
  readonly kind: string;
  readonly id: string;
  /** The command that names the record, for its advice. */
  readonly command: string;
}

/**
 * The kind of a record that can exist.
 *
 * @throws {UsageError} For an unknown kind, or an id that no record can have.
 */
export function kindOfRecord(config: Config, { kind: name, id, command }: NamedRecord): Kind {
  const kind = kindNamed(config, name);
  if (!('fault' in recordId({ id }))) return kind;
  throw new UsageError(
    `"${id}" is no id of a record: expected a whole number from 1 to 9223372036854775807.`,
    { code: 'usage.record', hint: `For example: bms-sync ${command} ${kind.name} 17` },
  );
}

export interface KindDescriptions {
  readonly kinds: readonly KindDescription[];
  /** Whether the fields that the mirror has discovered are included; why not, where it cannot be read. */
  readonly mirror: 'read' | 'absent' | 'unreadable';
  readonly reason: string | null;
}

/**
 * Describes record kinds from the catalogue, the settings and the fields that the mirror has seen. Creates nothing, and needs
 * no mirror.
 *
 * @throws {UsageError} For an unknown kind.
 */
export async function describeKinds(config: Config, name?: string): Promise<KindDescriptions> {
  const kinds = name === undefined ? allKinds(config) : [kindNamed(config, name)];
  const { mirror, reason, fields } = await seenFields(config, kinds);
  const described = kinds.map((kind) =>
    describeKind({
      kind,
      isDocumented: documentedKind(kind.name) !== undefined,
      seen: fields === null ? null : (fields.get(kind.name) ?? new Map<string, KnownField>()),
    }),
  );
  return { kinds: described, mirror, reason };
}

interface SeenFields extends Pick<KindDescriptions, 'mirror' | 'reason'> {
  /** By kind; null without a mirror. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, KnownField>> | null;
}

const ABSENT: SeenFields = { mirror: 'absent', reason: null, fields: null };

async function seenFields({ database: { url } }: Config, kinds: readonly Kind[]): Promise<SeenFields> {
  if (isFileMissing(url)) return ABSENT;
  try {
    await using session = await openSession(url);
    if (!(await isMirrorPresent(session))) return ABSENT;
    const fields = new Map<string, ReadonlyMap<string, KnownField>>();
    for (const { name, excluded } of kinds) fields.set(name, await readFields(session, name, excluded));
    return { mirror: 'read', reason: null, fields };
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return { mirror: 'unreadable', reason: error.message, fields: null };
  }
}
