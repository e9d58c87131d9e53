import { createHash } from 'node:crypto';
import type { Difference } from './compare-record.ts';

/** One difference between mirror and service at one reading; not a fault yet. */
export interface AuditFinding extends Difference {
  readonly id: string;
  /** `missing`: the record has no row. `surplus`: a live row has no record. `value`: they differ. */
  readonly is: 'missing' | 'surplus' | 'value';
}

export interface Findings {
  add(finding: AuditFinding): void;
  /** Whether an equal finding exists: same record, same field, same value of the service. */
  has(finding: AuditFinding): boolean;
  /** The records with findings. */
  readonly ids: IdList;
  /** The rows among them without a record in the service. */
  readonly surplus: IdList;
}

/** Keeps the findings of a reading in a few bytes each: even a mirror that is wrong from end to end must fit into memory. */
export function createFindings(): Findings {
  const [fingerprints, ids, surplus] = [createIdList(), createIdList(), createIdList()];
  return {
    add: (finding) => {
      fingerprints.add(fingerprint(finding));
      ids.add(BigInt(finding.id));
      if (finding.is === 'surplus') surplus.add(BigInt(finding.id));
    },
    has: (finding) => fingerprints.has(fingerprint(finding)),
    ids,
    surplus,
  };
}

function fingerprint({ id, is, field, service }: AuditFinding): bigint {
  return hashOf(JSON.stringify([id, is, field, service]));
}

/** 64 bits of a hash: a million texts collide once in 37 million times. */
export function hashOf(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigInt64BE();
}

export interface IdList {
  add(id: bigint): void;
  has(id: bigint): boolean;
  size(): number;
  /** All of them, in their order. */
  values(): Iterable<bigint>;
}

/** A set of 64-bit integers in eight bytes each. A look-up sorts the ids added since the last one, so add all ids first. */
export function createIdList(): IdList {
  let ids = new BigInt64Array(16);
  let used = 0;
  let isSorted = true; // … and without duplicates.

  const sorted = (): BigInt64Array => {
    if (isSorted) return ids.subarray(0, used);
    const all = ids.subarray(0, used).sort();
    used = 0;
    for (const id of all) if (used === 0 || ids[used - 1] !== id) ids[used++] = id;
    isSorted = true;
    return ids.subarray(0, used);
  };

  return {
    add: (id) => {
      if (used === ids.length) {
        const grown = new BigInt64Array(used * 2);
        grown.set(ids);
        ids = grown;
      }
      isSorted &&= used === 0 || (ids[used - 1] ?? id) < id;
      ids[used++] = id;
    },
    has: (id) => includes(sorted(), id),
    size: () => sorted().length,
    values: () => sorted(),
  };
}

function includes(sorted: BigInt64Array, id: bigint): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? id) < id) low = middle + 1;
    else high = middle;
  }
  return low < sorted.length && sorted[low] === id;
}
