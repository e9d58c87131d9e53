import type { ListedKind } from '../catalog/kind.ts';
import { excludedPaths, refuseUnknownFields, requireListedKinds } from '../config/known-kinds.ts';
import { secretSettings } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import type { Schedule } from '../runs/schedule.ts';
import { runCheck, passedCheck, unknownCheck, type CheckResult } from '../lib/check-result.ts';
import { readNamesSoFar } from '../store/kinds/field-store.ts';
import { boundUrl, openSourceBinding } from '../pull/source-binding.ts';
import { doTokensRotate } from '../pull/token-holders.ts';
import { sweptKinds } from '../store/kinds/status-store.ts';
import { findForeignKinds } from '../pull/sweep/pull-kinds.ts';
import type { Source } from '../source/source.ts';
import { checkDatabase, type MirrorOpeners } from './database.ts';
import { absentFile } from '../db/open-session.ts';
import { checkSchedules, checkServing } from './schedules.ts';
import { checkQueue } from './queue.ts';
import { checkAdminToken, checkSecretFiles } from './secret-files.ts';
import { checkService } from './service.ts';
import { readServing } from './serving.ts';

/** Open the database and the service of the settings. */
interface Openers extends MirrorOpeners {
  /** @throws {UsageError} If its address or the token is not set. */
  readonly source: () => Source;
}

/**
 * Checks all requirements: the settings, the database, the queue, the service and the token. Creates and changes nothing.
 *
 * @param files The files from which settings were read.
 * @param outlook `schedules`: the schedules of `serve`; `more`: the checks of features.
 */
export async function checkAll(
  config: Config,
  files: readonly string[],
  open: Openers,
  outlook: {
    readonly schedules: readonly Schedule[];
    readonly now: Date;
    readonly more: readonly ((config: Config) => Promise<readonly CheckResult[]>)[];
  },
): Promise<readonly CheckResult[]> {
  const { schedules, now } = outlook;
  const settings = await checkFieldNames(config, open);
  const areNamesKnown = settings.code !== 'settings.unknown_field';
  const { checks: database, isMirror } = await checkDatabase(config, open, areNamesKnown);
  const { serving, swept, tokens } = isMirror === true ? await readMirror(open, now) : NO_MIRROR;
  const isPaused = database.some((check) => check.code === 'outbox.frozen');
  const service = await checkService(config, open.source, swept);
  const readable = requireListedKinds(config).filter((kind) =>
    service.some((result) => result.name === `kinds.${kind.name}` && result.ok),
  );
  const excluded = excludedPaths(Object.entries(config.privacy.exclude)).join(', ');
  return [
    settings,
    ...(settings.ok === true && excluded !== '' ? [passedCheck('privacy', `keeps out ${excluded}`)] : []),
    ...checkSecretFiles(files, secretSettings(config)),
    ...checkAdminToken(config.server.adminToken),
    ...database,
    ...(isMirror === true ? await checkTenants(config, open, readable) : []),
    ...(isMirror === null
      ? ['tenant', 'serve', 'writes'].map(unknownCheck)
      : checkServing(config, serving, isPaused)),
    ...checkSchedules(config, schedules, serving, now),
    ...(await checkQueue(config.queue.url)),
    ...(await Promise.all(outlook.more.map((check) => check(config)))).flat(),
    ...service,
    ...tokens,
  ];
}

/** Checks the names of fields as the opening of the mirror does; other invalid settings were refused when they were read. */
async function checkFieldNames(config: Config, open: Openers): Promise<CheckResult> {
  const checked = await runCheck('settings', async () => {
    await refuseUnknownFields(config, async (kinds) => {
      if (absentFile(config.database.url) !== null) return new Map();
      await using session = await open.mirror();
      return await readNamesSoFar(session, kinds);
    });
    return 'valid';
  });
  const isKnown = checked.ok === true || checked.code === 'settings.unknown_field';
  return isKnown ? checked : unknownCheck('settings');
}

const NO_MIRROR = {
  serving: { workers: [], isPulling: false, isSending: false, schedules: null },
  swept: new Set<string>(),
  tokens: [],
};

const ROTATING =
  'they rotate (three new ones in seven days), so what a new one does not show is not held for that reason; a JWT that names its user (sub) is known again';

async function readMirror(open: Openers, now: Date) {
  await using session = await open.mirror();
  const tokens = (await doTokensRotate(session, now)) ? [passedCheck('tokens', ROTATING)] : [];
  return { serving: await readServing(session), swept: await sweptKinds(session), tokens };
}

/** Checks, as a pull does, whether the lists that the token may read belong to the mirror's companies; lands nothing. */
async function checkTenants(config: Config, open: Openers, kinds: readonly ListedKind[]) {
  const { baseUrl } = config.source;
  if (baseUrl === null) return [];
  await using session = await open.mirror();
  if ((await boundUrl(session)) === null) return [];
  const refused: CheckResult[] = [];
  const compared = await runCheck('tenant', async () => {
    const binding = await openSourceBinding(session, baseUrl, false);
    await using source = open.source();
    for (const [name, error] of await findForeignKinds({ session, source }, kinds, binding))
      refused.push(await runCheck(`tenant.${name}`, () => Promise.reject(error)));
    return `the token reads what this mirror holds of ${baseUrl}`;
  });
  if (compared.ok && kinds.length === 0) return []; // No list answered, so none was compared.
  if (refused.length === 0) return [compared];
  const named = refused.map((result) => result.name.slice('tenant.'.length)).join(', ');
  return [passedCheck('tenant', `${compared.detail}, but ${named}`), ...refused];
}
