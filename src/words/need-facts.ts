import type { NotedFacts } from './verdicts.ts';

/** The facts that the words of each need, and of some notifications, are made of; one of an older release may lack the optional ones. */
export interface NeedFacts {
  readonly 'mirror.damaged': { readonly reason: string };
  readonly 'outbox.frozen': { readonly reason: string; readonly unknown?: readonly string[] };
  readonly 'outbox.unsent': { readonly entries: number };
  readonly 'kind.held': { readonly kind: string; readonly records: number; readonly why?: string | null };
  readonly 'entry.parked': EntryFacts;
  /** Needs no decision; receivers are notified. */
  readonly 'entry.rejected': EntryFacts;
  /** Further parked entries, which are not named. */
  readonly 'entries.parked': { readonly entries: number };
  readonly 'kind.blocked': {
    readonly kind: string;
    readonly kinds?: readonly string[];
    readonly reason: string;
    readonly entryId?: number | null;
  };
  /** No kinds: only entries wait. */
  readonly 'token.refused': { readonly kinds?: readonly string[] };
  readonly 'kind.unread': {
    readonly kinds: readonly string[];
    readonly state: string;
    readonly reason: string | null;
  };
  readonly 'kind.stale': {
    readonly kinds?: readonly string[];
    readonly kind?: string;
    readonly since: string | null;
  };
  readonly 'kind.differs': { readonly kind: string; readonly records: number };
  readonly 'field.volatile': { readonly fields: string; readonly setting: string };
  readonly 'field.not_shown': { readonly fields: string; readonly entries: number };
  readonly 'webhook.disabled': {
    readonly name: string;
    readonly reason: string | null;
    readonly pending: number;
  };
  readonly 'webhook.failing': { readonly name: string; readonly failures: number; readonly pending: number };
  readonly 'webhook.test': object;
  readonly 'plan.waiting': {
    readonly planId: number;
    readonly createdBy: string;
    readonly records: number;
    readonly kind: string;
    readonly origin: string;
  };
}

export interface EntryFacts {
  readonly entryId: number;
  readonly kind: string;
  readonly operation: string;
  readonly recordId: string | null;
  readonly verdict: string | null;
  readonly settlement?: NotedFacts;
}
