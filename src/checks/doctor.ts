import type { ListedKind } from '../catalog/kind.ts';
import { listedKinds } from '../config/known-kinds.ts';
import { secretsOf } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import type { ScheduleSlot } from '../runs/schedule.ts';
import { check, passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { boundUrl, claimSource } from '../mirror/kinds/source-binding.ts';
import type { Session } from '../db/session/session.ts';
import { findForeign } from '../pull/pull-kinds.ts';
import type { Source } from '../source/source.ts';
import { checkDatabase } from './database.ts';
import { tellPlans } from './plans.ts';
import { checkQueue } from './queue.ts';
import { checkSecretFiles } from './secret-files.ts';
import { checkService } from './service.ts';

/** The settings, and how to open what they name. */
interface DoctorParts {
  readonly config: Config;
  /** The files from which settings were read. */
  readonly files: readonly string[];
  /** The next actions of `serve`. */
  readonly slots: readonly ScheduleSlot[];
  /** Opens the database as it is: nothing is migrated. */
  readonly openMirror: () => Promise<Session>;
  /** @throws {UsageError} If its address or the token is not set. */
  readonly openSource: () => Source;
}

/** Checks all requirements: the settings, the database, the queue, the service and the token. Creates and changes nothing. */
export async function checkAll(parts: DoctorParts): Promise<readonly CheckResult[]> {
  const { config, files, slots, openMirror, openSource } = parts;
  const { checks: database, isMirror } = await checkDatabase(config, openMirror);
  const service = await checkService(config, openSource);
  const readable = listedKinds(config).filter((kind) =>
    service.some(({ name, ok }) => name === `kinds.${kind.name}` && ok),
  );
  return [
    passed('settings', 'valid'), // They were read before this point, or refused.
    ...checkSecretFiles(files, secretsOf(config)),
    ...database,
    ...(isMirror ? await checkTenants(parts, readable) : []),
    ...tellPlans(config, slots),
    ...(await checkQueue(config.queue.url)),
    ...service,
  ];
}

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
