import type { ListedKind } from '../catalog/kind.ts';
import { listedKinds } from '../config/known-kinds.ts';
import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { boundUrl, claimSource } from '../mirror/kinds/source-binding.ts';
import { findForeign } from '../pull/pull-kinds.ts';
import { check } from './check.ts';
import type { DoctorParts } from './check.ts';
import { checkDatabase } from './database.ts';
import { tellPlans, tellSettings, tellFreshness } from './plans.ts';
import { checkQueue } from './queue.ts';
import { checkService } from './service.ts';

/** Checks all requirements: the settings, the database, the queue, the service and the token. Creates and changes nothing. */
export async function checkAll(parts: DoctorParts): Promise<readonly CheckResult[]> {
  const { checks: database, isMirror } = await checkDatabase(parts);
  const service = await checkService(parts);
  const readable = listedKinds(parts.config).filter(({ name }) => isWell(service, `kinds.${name}`));
  return [
    tellSettings(parts.config, parts.slots), // They were read before this point, or refused.
    ...database,
    ...(isMirror ? await checkTenants(parts, readable) : []),
    ...tellPlans(parts.config, parts.slots),
    await tellFreshness(parts, isMirror),
    ...(await checkQueue(parts.config.queue.url)),
    ...service,
  ];
}

const isWell = (findings: readonly CheckResult[], name: string): boolean =>
  findings.some((finding) => finding.name === name && finding.ok);

/** Checks, as a pull does, whether the lists that the token may read belong to the mirror's companies; lands nothing. */
async function checkTenants(
  { config, openMirror, openSource }: DoctorParts,
  kinds: readonly ListedKind[],
): Promise<readonly CheckResult[]> {
  const { baseUrl } = config.source;
  if (baseUrl === null) return [];
  await using session = await openMirror();
  if ((await boundUrl(session)) === null) return [];
  const refused: CheckResult[] = [];
  const compared = await check('tenant', async () => {
    const claim = await claimSource(session, { baseUrl, acceptNew: false });
    await using source = openSource();
    for (const [name, error] of await findForeign({ session, source }, kinds, claim))
      refused.push(await check(`tenant.${name}`, () => Promise.reject(error)));
    return `the token reads what this mirror holds of ${baseUrl}`;
  });
  if (refused.length === 0) return [compared];
  const named = refused.map(({ name }) => name.slice('tenant.'.length)).join(', ');
  return [passed('tenant', `${compared.detail}, but ${named}`), ...refused];
}
