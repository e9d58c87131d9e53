import { LISTED_KINDS } from '../catalog/kinds/catalog.ts';
import type { AuthHeader, ListedKind } from '../catalog/kind.ts';
import { listedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { check, faulty, passed, type CheckResult } from '../lib/check-result.ts';
import { systemClock } from '../lib/time/clock.ts';
import type { Source } from '../source/source.ts';

/** Checks whether the service answers, accepts the token, has our time, and allows every list to be read. */
export async function checkService(
  config: Config,
  openSource: () => Source,
): Promise<readonly CheckResult[]> {
  const kind = LISTED_KINDS.find((listedKind) => listedKind.name === 'departments'); // The shortest list.
  if (kind === undefined) return [];
  let saidAt: Date | null = null;
  const reached = await check('service', async () => {
    await using source = openSource();
    ({ saidAt } = await source.probe(kind));
    return `${String(config.source.baseUrl)} answers and accepts the token`;
  });
  if (config.source.baseUrl === null || config.source.token === null) return [reached];
  await using source = openSource();
  // Without an answer, no spelling can be judged.
  if (!reached.ok && reached.code !== 'source.unauthorized') return [reached];
  const header = await checkHeaders(source, kind);
  if (!reached.ok) return [reached, header];
  const checks = [reached, header, judgeClock(saidAt, systemClock.now())];
  // A token has its user's rights kind by kind, and a path in the settings may be mistyped.
  for (const listed of listedKinds(config)) {
    const answers = `${listed.list.path} answers with a list`;
    checks.push(await check(`kinds.${listed.name}`, () => source.probe(listed).then(() => answers)));
  }
  return checks;
}

const MOST_APART_MS = 60_000;

/** Whether our clock agrees with the service's within a minute; an answer gives its time to the second. */
export function judgeClock(theirs: Date | null, ours: Date): CheckResult {
  if (theirs === null) return passed('clock', 'the service does not say what time it is');
  const apartMs = ours.getTime() - theirs.getTime();
  const detail = `this machine is ${Math.round(Math.abs(apartMs) / 1000)} s ${apartMs < 0 ? 'behind' : 'ahead of'} the service`;
  if (Math.abs(apartMs) <= MOST_APART_MS) return passed('clock', detail);
  const hint = 'Have the clock of this machine set by NTP: schedules and the instants of changes go by it.';
  return faulty('clock', 'clock.differs', detail, hint);
}

/** The documentation spells the header in three ways (§5); finds those that this service accepts. */
async function checkHeaders(source: Source, kind: ListedKind): Promise<CheckResult> {
  const accepted: AuthHeader[] = [];
  for (const spelling of ['Authorization', 'Authentication', 'Authentification'] as const) {
    const { ok } = await check(spelling, () => source.probe(kind, spelling).then(() => 'accepted'));
    if (ok) accepted.push(spelling);
  }
  if (accepted.length > 0) return passed('header', `the token is read under ${accepted.join(', ')}`);
  return faulty('header', 'source.unauthorized', 'the token is read under none of the three spellings', null);
}
