import type { ListedKind } from '../catalog/kind.ts';
import { OtherSourceError } from '../mirror/session/errors.ts';
import { readTenants } from '../mirror/kinds/source-binding.ts';
import type { SourceClaim } from '../mirror/kinds/source-binding.ts';
import { SourceError } from '../source/http/errors.ts';
import { requireTenant, tellingFirst } from './land/guard-source.ts';
import type { TenantGuard } from './land/guard-source.ts';

/** Finds the kinds that a pull would refuse as another company's, with the reasons; lands nothing. */
export async function findForeign(
  parts: TenantGuard['parts'],
  kinds: readonly ListedKind[],
  claim: SourceClaim,
): Promise<ReadonlyMap<string, OtherSourceError>> {
  const foreign = new Map<string, OtherSourceError>();
  for (const kind of await tellingFirst(parts.session, kinds)) {
    try {
      await readUntilKnown(parts, kind, claim);
    } catch (error) {
      if (error instanceof OtherSourceError) {
        claim.refusal ??= error;
        foreign.set(kind.name, error);
      } else if (!(error instanceof SourceError)) throw error; // A list that cannot be read is no reason to refuse.
    }
  }
  return foreign;
}

/** Reads responses until the list is recognised. @throws {OtherSourceError} {SourceError} */
async function readUntilKnown(
  parts: TenantGuard['parts'],
  kind: ListedKind,
  claim: SourceClaim,
): Promise<void> {
  const stop = new AbortController();
  let ticks = 0;
  const options = { thorough: false, tick: () => ++ticks, signal: stop.signal };
  const tenants = await readTenants(parts.session, kind, claim.isNew);
  const responses = requireTenant(parts.source.sweep(kind, options), { parts, kind, claim, tenants });
  try {
    await responses.next();
  } finally {
    stop.abort();
    await responses.return(undefined);
  }
}
