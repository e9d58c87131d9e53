import { createHash } from 'node:crypto';
import type { Difference } from './compare-record.ts';
import { createIdList } from './id-list.ts';
import type { IdList } from './id-list.ts';

/** One difference between mirror and service at one reading; not a fault yet. */
export interface AuditFinding extends Difference {
  readonly id: string;
  /** `missing`: the record has no row. `surplus`: a live row has no record. `value`: they differ. */
  readonly is: 'missing' | 'surplus' | 'value';
}

/**
 * The findings of a reading, in a few bytes each: even a mirror that is wrong from end to end must fit into memory.
 */
export interface Findings {
  add(finding: AuditFinding): void;
  /** Whether an equal finding exists: same record, same field, same value of the service. */
  has(finding: AuditFinding): boolean;
  /** The records with findings. */
  readonly ids: IdList;
  /** The rows among them without a record in the service. */
  readonly surplus: IdList;
}

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
