import type { UncertifiedKind } from '../mirror/kinds/uncertified-store.ts';

/** A kind that is not certified, with the reason in words. */
export interface ExplainedKind extends Omit<UncertifiedKind, 'detail'> {
  readonly why: string;
}

const WHY: Readonly<Record<string, string>> = {
  rows_unseen: 'rows moved between its pages while it was read',
  certified_earlier: 'it has changed since the end that an earlier sweep saw was confirmed',
  total_differs: 'its own total is not what its pages hold',
  too_many_rows: 'more rows were there than its end allows',
  no_end: 'no answer proved where it ends',
  busy: 'another process was reading it',
  interrupted: 'the sweep was interrupted',
};

/** Says why the last sweep of a kind did not certify it. */
export function explained({ detail, ...kind }: UncertifiedKind): ExplainedKind {
  const { reason } = kind;
  const why = WHY[reason ?? ''] ?? detail ?? `its last sweep ended early (${reason ?? 'no reason is kept'})`;
  return { ...kind, why };
}
