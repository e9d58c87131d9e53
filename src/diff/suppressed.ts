import type { SortedPage } from './judge-page.ts';

/**
 * Leaves out the records that a person had removed for good (`forget --suppress`): they are not landed, not even as issues.
 * The list still shows them, so that sightings and certificates count them.
 */
export function withoutSuppressed(page: SortedPage, suppressed: ReadonlySet<string>): SortedPage {
  if (suppressed.size === 0) return page;
  const isKept = ({ id }: { readonly id: string | null }): boolean => id === null || !suppressed.has(id);
  return { incoming: page.incoming.filter(isKept), quarantined: page.quarantined.filter(isKept) };
}
