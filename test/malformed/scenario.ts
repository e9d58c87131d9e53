import { sql } from 'drizzle-orm';
import { decideHold, readCheck } from '../../src/store/records/hold-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { randomFrom } from '../../sandbox/generate/draw.ts';
import { fakeClock } from '../support/fake-clock.ts';
import {
  badTexts,
  canonicalText,
  falseEvents,
  integrityFaults,
  rowsOf,
  unequal,
  type MirrorRow,
} from './checks.ts';
import { brokenChain } from './event-chain.ts';
import { openFire, TOKEN } from './line-of-fire.ts';
import { pullAndCheck, type ScenarioOptions, type Stage } from './pull-and-check.ts';
import { unproven } from './proofs.ts';
import { GRACE_SECONDS, pullOnce, type PullPlan } from './pull-once.ts';
import { serveAll, stir, textsOf } from './true-answers.ts';

/** What came of a scenario: each malformed answer with its class and its fate, and what went wrong. */
export interface Played {
  readonly answers: readonly { readonly mutation: string; readonly code: string }[];
  readonly problems: readonly string[];
  readonly pulls: number;
  readonly deleted: number;
  readonly held: number;
}

const PULLS_UNDER_FIRE = 48;
const HEALING_PULLS = 3;
const CALM: Omit<PullPlan, 'kinds'> = { concurrency: 2 };
const FIRST_DAY = '2026-03-01T12:00:00Z';
const LATER = '2026-03-02T12:00:00Z';
/** Pulls the true service until every list is certified: what all scenarios start from. */
export async function fillMirror(session: Session): Promise<void> {
  const service = serveAll();
  const clock = fakeClock(FIRST_DAY);
  const fire = openFire({ service, random: randomFrom('calm'), clock });
  for (let pull = 0; pull < 3; pull++) {
    const { reports, error } = await pullOnce(
      { session, fire, clock, doubles: {} },
      { kinds: service, ...CALM },
    );
    const isExact = [...reports.values()].every(({ certifiedAt }) => pull < 2 || certifiedAt !== null);
    if (error !== null || !isExact) throw new Error('The mirror could not be filled.', { cause: error });
    await clock.sleep(60_000);
  }
}

/** Fires malformed answers at pull after pull, then lets the service heal. */
export async function playScenario(seed: number, options: ScenarioOptions): Promise<Played> {
  const stage = setStage(seed, options);
  const first = await snapshot(stage);
  stir(stage.service, stage.random);
  stage.fire.rate = stage.random.pick([0.4, 0.7, 1]);
  stage.fire.isReadable = stage.random.chance(0.5);
  for (let pull = 0; pull < PULLS_UNDER_FIRE && stage.problems.length === 0; pull++)
    await pullUnderFire(stage);
  if (stage.problems.length === 0) await heal(stage);
  await checkAtEnd(stage, first);
  const { answers, problems, pulls, session } = stage;
  return { answers, problems, pulls: pulls.length, ...(await countsOf(session)) };
}

function setStage(seed: number, options: ScenarioOptions): Stage {
  const service = serveAll();
  const random = randomFrom('malformed', seed);
  const clock = fakeClock(LATER);
  const fire = openFire({ service, random, clock });
  const sent = new Map(
    service.map((served) => [served.name, new Set([...textsOf(served).values()].map(canonicalText))]),
  );
  return { ...options, service, random, clock, fire, sent, pulls: [], answers: [], problems: [] };
}

async function snapshot({ session, service }: Stage): Promise<Map<string, MirrorRow[]>> {
  const first = new Map<string, MirrorRow[]>();
  for (const { name } of service) first.set(name, await rowsOf(session, name));
  return first;
}

async function pullUnderFire(stage: Stage): Promise<void> {
  const { random, service, clock } = stage;
  await clock.sleep(random.integer(0, 2 * GRACE_SECONDS) * 1000);
  stage.fire.most = random.chance(0.2) ? 1 : Infinity;
  const one = random.pick(service);
  const other = random.pick(service);
  const kinds = one === other ? [one] : [one, other];
  await pullAndCheck(stage, { kinds, concurrency: random.pick([1, 4, 4]) });
}

/** The true service again: within three pulls the mirror is what it is, once a person has looked at what is held. */
async function heal(stage: Stage): Promise<void> {
  const { session, service, clock, fire, problems } = stage;
  fire.rate = 0;
  for (let pull = 0; pull < HEALING_PULLS; pull++) {
    await clock.sleep((GRACE_SECONDS + 1) * 1000);
    await pullAndCheck(stage, { kinds: service, ...CALM });
    for (const { name } of service) {
      const check = await readCheck(session, name, 'held');
      if (!check.startsWith('0-')) await session.atomically((tx) => decideHold(tx, name, 'approved', check));
    }
  }
  for (const served of service)
    problems.push(...(await unequal(session, served)).map((what) => `not healed: ${what}`));
}

async function checkAtEnd(
  { session, service, pulls, problems }: Stage,
  first: ReadonlyMap<string, MirrorRow[]>,
) {
  problems.push(...(await unproven(session, pulls)));
  problems.push(...(await badTexts(session, TOKEN)));
  problems.push(...(await integrityFaults(session)).map((what) => `integrity: ${what}`));
  for (const served of service) {
    problems.push(...(await falseEvents(session, served)));
    problems.push(...(await brokenChain(session, served.name, first.get(served.name) ?? [])));
  }
}

async function countsOf(session: Session): Promise<{ deleted: number; held: number }> {
  const [row] = await session.query(sql`
    select (select count(*) from changes where change = 'deleted') as deleted,
      (select count(*) from deletions where state = 'approved') as held`);
  return { deleted: Number(row?.['deleted']), held: Number(row?.['held']) };
}
