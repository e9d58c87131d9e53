import type { Kind } from '../../catalog/kind.ts';
import { SourceError } from './errors.ts';

/** Runs a reader of a kind's answer; where fields of the kind are excluded, its errors quote nothing of the answer. */
export function withoutQuote<T>({ excluded }: Kind, read: () => T): T {
  if (excluded === undefined) return read();
  try {
    return read();
  } catch (error) {
    throw error instanceof SourceError ? error.withoutQuote() : error;
  }
}
