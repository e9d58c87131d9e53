import type { ListedKind } from '../../catalog/kind.ts';
import type { Session } from '../../mirror/session/session.ts';
import { hasMoreLive } from '../../mirror/kinds/status-store.ts';
import { namesCompany, readTenants } from '../../mirror/kinds/tenant-store.ts';
import { ROWS_THAT_IDENTIFY } from './guard-source.ts';

/** Puts kinds whose lists name the company first: their answers decide for the others. */
export async function tellingFirst(session: Session, kinds: readonly ListedKind[]): Promise<ListedKind[]> {
  const places = new Map<ListedKind, number>();
  for (const kind of kinds) places.set(kind, await placeOf(session, kind));
  return kinds.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
}

async function placeOf(session: Session, kind: ListedKind): Promise<number> {
  const isNamed = namesCompany(kind);
  if (isNamed && !(await readTenants(session, kind, false)).isLearning) return 0;
  if (await hasMoreLive(session, kind.name, ROWS_THAT_IDENTIFY)) return 1;
  return isNamed ? 2 : 3;
}
