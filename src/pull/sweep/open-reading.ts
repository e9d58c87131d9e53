import { createHash } from 'node:crypto';
import type { Kind } from '../../catalog/kind.ts';
import { readMirroredKind, readFields } from '../../store/kinds/field-store.ts';
import { readQuarantined } from '../../store/records/issue-store.ts';
import { UNKNOWN_LIST, claimKind, type KindLease } from '../../store/kinds/kind-lease.ts';
import { readPages, readDirtyRows } from '../../store/sightings/page-store.ts';
import { redecode } from '../../store/schema/redecode.ts';
import { decoderHash } from '../../store/tables/kind-table.ts';
import { readCompanies } from '../source-binding.ts';
import { startHeartbeat } from '../record-run.ts';
import { createReadingState, createTicks, type KindReading } from '../reading.ts';
import type { PullParts, ReadingRules } from '../parts.ts';
import { restorePageSize } from './page-size.ts';

export interface ReadingRequest<K extends Kind> extends Pick<KindReading, 'runId' | 'binding'> {
  readonly kind: K;
  readonly rules: ReadingRules;
}

/**
 * Works on a reading of a kind under its lease, which a heartbeat keeps. First the columns are decoded by the rules of this release.
 * @param scope The whole list, or some of its pages or records.
 * @throws {LeaseError} If another process reads this kind.
 */
export async function withReading<K extends Kind, T>(
  parts: PullParts,
  request: ReadingRequest<K>,
  scope: 'whole' | 'part',
  work: (reading: KindReading<K>) => Promise<T>,
): Promise<T> {
  const { session, clock, owner } = parts;
  const { kind, binding } = request;
  const held = await claimKind(session, kind.name, owner);
  // Rows taken until now came from the old source, although the first landing binds the mirror to the new one.
  const lease = binding.isNew ? { ...held, ...UNKNOWN_LIST, knownFrom: held.tick } : held;
  const stopHeartbeat = startHeartbeat(parts, lease); // Decoding a large table again may outlast the lease.
  try {
    await redecode(session, await readMirroredKind(session, kind), { now: clock.now() });
    return await work(await openReading(parts, request, lease, scope));
  } finally {
    stopHeartbeat();
  }
}

/** Reads what landing needs to know. @param scope The number of a page, where it is read between sweeps. */
export async function openReading<K extends Kind>(
  parts: PullParts,
  request: ReadingRequest<K>,
  lease: KindLease,
  scope: 'whole' | 'part' | number,
): Promise<KindReading<K>> {
  const { session } = parts;
  const { kind, binding, runId, rules } = request;
  const { name, excluded = [] } = kind;
  await restorePageSize(parts, name, scope === 'whole');
  // What is read on request is parsed in any case.
  const isParsed = scope === 'part' || binding.isNew;
  const page = typeof scope === 'number' ? scope : null;
  const fields = await readFields(session, name, excluded);
  const ignored = rules.ignoreFields[name] ?? [];
  // Another decoder or setting may turn the same bytes into other rows. Discovered columns are not part of it: they are
  // filled from `_raw`, for older rows too.
  const hints = kind.hints.map((hint) => [hint.name, hint.type]);
  const hashed = [decoderHash(kind), hints, ignored, ...excluded.map((field) => field.name)];
  const dirty = await readDirtyRows(session, name, 0);
  return {
    kind: await readMirroredKind(session, kind),
    lease,
    runId,
    binding,
    companies: await readCompanies(session, kind, binding.isNew),
    ticks: createTicks(lease.tick, parts.clock),
    began: null,
    rulesDigest: createHash('sha256').update(JSON.stringify(hashed)).digest('hex'),
    ignoredFields: new Set(ignored),
    fields,
    pages: isParsed ? new Map<never, never>() : await readPages(session, name, page),
    state: createReadingState(dirty, await readQuarantined(session, name), fields),
  };
}
