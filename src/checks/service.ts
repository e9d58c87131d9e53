import { LISTED_KINDS } from '../catalog/kinds/catalog.ts';
import type { AuthHeader, ListedKind } from '../catalog/kind.ts';
import { requireListedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { runCheck, failedCheck, passedCheck, type CheckResult } from '../lib/check-result.ts';
import { systemClock } from '../lib/time/clock.ts';
import { askForKind } from '../pull/optional-kinds.ts';
import type { Source } from '../source/source.ts';

/**
 * Checks whether the service answers, accepts the token, has our time, and allows every list to be read.
 *
 * @param swept The kinds that were read once: an optional kind among them is no longer off when it cannot be read.
 */
export async function checkService(config: Config, openSource: () => Source, swept: ReadonlySet<string>) {
  const kind = LISTED_KINDS.find((listed) => listed.name === 'departments'); // The shortest list.
  if (kind === undefined) return [];
  let serviceTime: Date | null = null;
  const reached = await runCheck('service', async () => {
    await using source = openSource();
    ({ serviceTime } = await source.probe(kind));
    return `${String(config.source.baseUrl)} answers and accepts the token`;
  });
  if (config.source.baseUrl === null || config.source.token === null) return [reached];
  await using source = openSource();
  // Without an answer, no spelling can be judged.
  if (!reached.ok && reached.code !== 'source.unauthorized') return [reached];
  const accepted = await acceptedHeaders(source, kind);
  const names = accepted.join(', ');
  if (!reached.ok) {
    const detail = `the service refuses the token${accepted.length > 0 ? ' under this header' : ''}: ${reached.detail}`;
    const hint = accepted.length > 0 ? `Set source.authHeaders to ${names}.` : tokenCure(config);
    return [{ ...reached, detail, hint }];
  }
  const header = passedCheck('header', `the service accepts the token under ${names}`);
  const clock = checkClock(serviceTime, systemClock.now());
  return [reached, header, clock, ...(await checkLists(config, source, swept))];
}

const tokenCure = ({ tokenFile }: Config): string =>
  tokenFile === undefined
    ? 'Set BMS_TOKEN (source.token) to a valid token, and restart bms-sync serve.'
    : `Write a valid token into ${tokenFile} (BMS_TOKEN_FILE); bms-sync serve reads it again.`;

async function checkLists(config: Config, source: Source, swept: ReadonlySet<string>) {
  const checks: CheckResult[] = [];
  // A token has its user's rights kind by kind, and a path in the settings may be mistyped.
  for (const listed of requireListedKinds(config)) {
    const off = listed.isOptional && !swept.has(listed.name) ? await offCheck(source, listed) : null;
    const probe = async (): Promise<string> => {
      await source.probe(listed);
      return `${listed.list.path} answers with a list`;
    };
    checks.push(off ?? (await runCheck(`kinds.${listed.name}`, probe)));
  }
  return checks;
}

/** An optional kind that the service does not show is off, which is not a fault. */
async function offCheck(source: Source, kind: ListedKind): Promise<CheckResult | null> {
  const showing = await askForKind(source, kind);
  if (showing.list !== null || showing.answer === 'unknown') return null;
  return passedCheck(`off.${kind.name}`, `${showing.answer}: ${showing.detail}`);
}

const MAX_DIFFERENCE_MS = 60_000;

/** Whether our clock agrees with the service's within a minute; an answer gives its time to the second. */
export function checkClock(serviceTime: Date | null, localTime: Date): CheckResult {
  if (serviceTime === null) return passedCheck('clock', 'the service sends no Date header');
  const differenceMs = localTime.getTime() - serviceTime.getTime();
  const detail = `this machine is ${Math.round(Math.abs(differenceMs) / 1000)} s ${differenceMs < 0 ? 'behind' : 'ahead of'} the service`;
  if (Math.abs(differenceMs) <= MAX_DIFFERENCE_MS) return passedCheck('clock', detail);
  const hint = 'Synchronise the clock of this machine (NTP): schedules and change times depend on it.';
  return failedCheck('clock', 'clock.differs', detail, hint);
}

/** The documentation spells the header in three ways (§5); finds the ones that this service accepts. */
async function acceptedHeaders(source: Source, kind: ListedKind): Promise<readonly AuthHeader[]> {
  const accepted: AuthHeader[] = [];
  for (const spelling of ['Authorization', 'Authentication', 'Authentification'] as const) {
    const { ok } = await runCheck(spelling, () => source.probe(kind, spelling).then(() => 'accepted'));
    if (ok) accepted.push(spelling);
  }
  return accepted;
}
