import { createHash } from 'node:crypto';
import type { Difference } from './compare-record.ts';

/** One difference between mirror and service at one reading; not a fault yet. */
export interface AuditFinding extends Difference {
  readonly id: string;
  /** `missing`: the record has no row. `surplus`: a live row has no record. `value`: they differ. */
  readonly is: 'missing' | 'surplus' | 'value';
}

/** Keeps the findings of a reading, each as a hash of its values: even a mirror that is wrong from end to end must fit into memory. */
export class Findings {
  readonly #hashes = new Set<bigint>();
  /** The records with findings. */
  readonly ids = new Set<string>();
  /** The rows among them without a record in the service. */
  readonly surplus = new Set<string>();

  add(finding: AuditFinding): void {
    this.#hashes.add(hashOf(finding));
    this.ids.add(finding.id);
    if (finding.is === 'surplus') this.surplus.add(finding.id);
  }

  /** Whether an equal finding exists: same record, same field, same value of the service. */
  has(finding: AuditFinding): boolean {
    return this.#hashes.has(hashOf(finding));
  }
}

/** 64 bits of a hash: a million findings collide once in 37 million times. */
function hashOf({ id, is, field, service }: AuditFinding): bigint {
  const text = JSON.stringify([id, is, field, service]);
  return createHash('sha256').update(text).digest().readBigInt64BE();
}
