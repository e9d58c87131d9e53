import type { Kind } from '../catalog/kind.ts';
import type { ProcessContext } from '../db/mirror-context.ts';
import type { Source } from '../source/source.ts';
import type { SendCounter } from './freeze.ts';
import type { OwnSends } from './own-sends.ts';
import type { Stopwatch } from './stopwatch.ts';

/** The dependencies of sending. The composition root makes them, and a test may replace any of them. */
export interface OutboundParts extends ProcessContext {
  readonly source: Pick<Source, 'write' | 'retrieve' | 'pages'>;
  readonly kinds: readonly Kind[];
  readonly rules: OutboundRules;
  readonly sendCounter: SendCounter;
  readonly ownSends: OwnSends;
  /** How waiting is measured, and spread by a number from 0 up to 1. */
  readonly waits: { readonly stopwatch: Stopwatch; readonly random: () => number };
}

/** The settings under `outbound`, and those of other groups that sending needs. */
export interface OutboundRules {
  /** Delay after a send with an unknown outcome. */
  readonly settleSeconds: number;
  /** How long the mirror is searched for such a create before it is sent again. */
  readonly patienceSeconds: number;
  /** How long a record must not answer before it is taken for gone: that of deletions. */
  readonly graceSeconds: number;
  /** Fields whose changes create no events, per record kind. */
  readonly ignoreFields: Readonly<Record<string, readonly string[]>>;
}
