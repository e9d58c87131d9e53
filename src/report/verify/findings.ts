import { createHash } from 'node:crypto';
import type { Difference } from './compare-record.ts';

/** One difference between mirror and service at one reading; not a fault yet. */
export interface AuditFinding extends Difference {
  readonly id: string;
  /** `missing`: the record has no row. `surplus`: a live row has no record. `value`: they differ. */
  readonly is: 'missing' | 'surplus' | 'value';
}

export interface Findings {
  readonly add: (finding: AuditFinding) => void;
  /** Whether an equal finding exists: same record, same field, same value of the service. */
  readonly has: (finding: AuditFinding) => boolean;
  /** The records with findings. */
  readonly ids: ReadonlySet<string>;
  /** The rows among them without a record in the service. */
  readonly surplus: ReadonlySet<string>;
}

/** Keeps the findings of a reading, each as a hash of its values: even a mirror that is wrong from end to end must fit into memory. */
export function createFindings(): Findings {
  const hashes = new Set<bigint>();
  const ids = new Set<string>();
  const surplus = new Set<string>();
  return {
    add: (finding) => {
      hashes.add(hashOf(finding));
      ids.add(finding.id);
      if (finding.is === 'surplus') surplus.add(finding.id);
    },
    has: (finding) => hashes.has(hashOf(finding)),
    ids,
    surplus,
  };
}

/** 64 bits of a hash: a million findings collide once in 37 million times. */
function hashOf({ id, is, field, service }: AuditFinding): bigint {
  const text = JSON.stringify([id, is, field, service]);
  return createHash('sha256').update(text).digest().readBigInt64BE();
}
