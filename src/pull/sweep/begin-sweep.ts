import { createHash } from 'node:crypto';
import type { Kind, ListedKind } from '../../catalog/kind.ts';
import { hasDrift } from '../../store/kinds/drift-store.ts';
import { readMirroredKind, readFields, type KnownField } from '../../store/kinds/field-store.ts';
import { readQuarantined } from '../../store/records/issue-store.ts';
import { readMeta } from '../../store/kinds/meta.ts';
import { UNKNOWN_LIST, claimKind, type KindLease } from '../../store/kinds/kind-lease.ts';
import { readPages, readDirtyRows } from '../../store/sightings/page-store.ts';
import { redecode } from '../../store/schema/redecode.ts';
import { decoderHash } from '../../store/tables/kind-table.ts';
import { readCompanies, type SourceBinding } from '../../store/kinds/source-binding.ts';
import { countLiveRows } from '../../store/kinds/status-store.ts';
import { startHeartbeat } from '../run/record-run.ts';
import { NO_RUN, createSweepState, createTicks, type Sweep } from '../run/sweep.ts';
import type { PullParts, ReadingRules } from '../run/parts.ts';
import { restorePageSize } from './page-size.ts';

export interface SweepRequest {
  readonly kind: ListedKind;
  readonly runId: number;
  readonly binding: SourceBinding;
  readonly rules: ReadingRules;
}

/** A reading of some pages or records only proves nothing about the end of a list, and parses all that it reads. */
type ReadingRequest = Omit<SweepRequest, 'kind'> & { readonly kind: Kind; readonly isPartial?: true };

/**
 * Takes the kind's lease, decodes its columns by the rules of this release, and reads the known state. `stopHeartbeat` stops the
 * heartbeat that keeps the lease; `fieldsBefore` are the fields as known before the sweep.
 *
 * @throws {LeaseError} If another process sweeps this kind.
 */
export async function beginSweep(parts: PullParts, request: ReadingRequest) {
  const { session, clock, owner } = parts;
  const { kind, binding } = request;
  const now = clock.now();
  const held = await claimKind(session, kind.name, owner);
  // Rows taken until now came from the old source, although the first landing binds the mirror to the new one.
  const lease = binding.isNew ? { ...held, ...UNKNOWN_LIST, knownFrom: held.tick } : held;
  const stopHeartbeat = startHeartbeat(parts, lease); // Decoding a large table again may outlast the lease.
  try {
    const mirrored = await readMirroredKind(session, kind);
    await redecode(session, mirrored, { now });
    const fieldsBefore = await readFields(session, kind.name, kind.excluded);
    const isPartial = request.isPartial === true;
    await restorePageSize(parts, kind.name, !isPartial);
    // Side by side: counting, the slowest, reads an index of the whole table.
    const [state, knownRows, pages, tenants, hasHoles, whole] = await Promise.all([
      readLandingState(parts, request, lease, { mirrored, fields: fieldsBefore }),
      countLiveRows(session, kind.name),
      isPartial || binding.isNew ? new Map<never, never>() : readPages(session, kind.name),
      readCompanies(session, kind, binding.isNew),
      hasDrift(session, { kind: kind.name, code: 'holes', field: null }),
      binding.isNew ? null : readMeta(session, `whole.${kind.name}`),
    ]);
    const known = { knownRows, pages, tenants, hasHoles, maxWholeRows: Number(whole ?? 0) };
    const began = isPartial ? null : lease.tick;
    const sweep: Sweep = { ...state, ...known, runId: request.runId, began };
    return { sweep, stopHeartbeat, fieldsBefore };
  } catch (error) {
    stopHeartbeat();
    throw error;
  }
}

/** Reads what landing a single page needs to know. The page lands as in a sweep, and proves nothing about the list's end. */
export async function beginPage(
  parts: PullParts,
  request: Omit<SweepRequest, 'runId'> & { readonly page: number },
  lease: KindLease,
): Promise<Sweep> {
  const { session } = parts;
  const { kind, page } = request;
  await restorePageSize(parts, kind.name, false);
  const mirrored = await readMirroredKind(session, kind);
  const fields = await readFields(session, kind.name, kind.excluded);
  return {
    runId: NO_RUN,
    began: null,
    hasHoles: false,
    knownRows: 0,
    maxWholeRows: 0,
    tenants: await readCompanies(session, kind, false),
    pages: await readPages(session, kind.name, page),
    ...(await readLandingState(parts, request, lease, { mirrored, fields })),
  };
}

/** The state that any reading of a kind lands on. */
async function readLandingState(
  parts: PullParts,
  request: Omit<ReadingRequest, 'runId'>,
  lease: KindLease,
  { mirrored, fields }: { readonly mirrored: Kind; readonly fields: ReadonlyMap<string, KnownField> },
) {
  const { kind, binding, rules } = request;
  // Another decoder or setting may turn the same bytes into other rows. Discovered columns are not part of it: they are
  // filled from `_raw`, for older rows too.
  const ignored = rules.ignoreFields[kind.name] ?? [];
  const hints = kind.hints.map(({ name, type }) => [name, type]);
  const excluded = (kind.excluded ?? []).map((field) => field.name);
  const scope = [decoderHash(kind), hints, ignored, ...excluded];
  const dirty = await readDirtyRows(parts.session, kind.name, 0);
  return {
    kind: mirrored,
    lease,
    binding,
    ticks: createTicks(lease.tick, parts.clock),
    holders: new Set<string>(),
    hashScope: createHash('sha256').update(JSON.stringify(scope)).digest('hex'),
    ignoredFields: new Set(ignored),
    state: createSweepState(dirty, await readQuarantined(parts.session, kind.name), fields),
  };
}
