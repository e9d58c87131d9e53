import type { KindComparison } from '../../src/features/verify/verify-kinds.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import { createLogger, type Logger } from '../../src/lib/log/logger.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { SendCounter } from '../../src/outbound/freeze.ts';
import { createSendCounter } from '../support/send-counter.ts';
import type { OutboundRules } from '../../src/outbound/parts.ts';
import { BATCH_LIMITS } from '../../src/pull/land/land-pages.ts';
import type { PullParts } from '../../src/pull/parts.ts';
import type { PullRequest } from '../../src/pull/sweep/pull-kinds.ts';
import { randomFrom, type Random } from '../../sandbox/generate/draw.ts';
import type { SourceSettings } from '../../src/source/http/http.ts';
import { createWakeUp, type WakeUp } from './wake-up.ts';
import type { Dump } from './dump.ts';
import { createTimeline, type Timeline } from './timeline.ts';
import { canary } from '../support/canary.ts';
import { KEEP_ALL } from '../support/retention.ts';
import { SOURCE_SETTINGS } from '../support/source-settings.ts';
import { bodiesOf, drawKind, kindOf } from './bodies.ts';
import type { Content } from './records.ts';
import { NO_SECRETS, SOME_SECRETS, withoutSecrets, type Secrets } from './secrets.ts';
import { filledIn, kindsFor, rowsFor } from './lasting-draws.ts';
import type { GoneBack } from './going-back.ts';
import { LIES, type LieName } from './lies.ts';
import type { Reader } from './reader.ts';
import { createService, type Service } from './service.ts';
import type { Life } from './watched-session.ts';
import { drawPersonality, lastingTraits, withoutLasting, type Personality, type Trait } from './traits.ts';

/** Pages wait for each other by a timer of the process, which no virtual time moves: here each lands by itself. */
BATCH_LIMITS.maxWeight = 1;

/** What an application wants to have done. */
export interface Intent {
  readonly entry: number;
  readonly kind: string;
  readonly operation: 'create' | 'update';
  readonly body: Content;
  readonly recordId: string | null;
  readonly atMs: number;
  /** Which record has this id at that moment, by its number of birth; null = none. */
  readonly born: number | null;
  /** An earlier one asks for the same record. */
  readonly isAgain?: true;
}

/** One requested run, whatever came of it. */
export interface Pull {
  readonly fromMs: number;
  readonly toMs: number;
  readonly runId: number;
  /** State and reason of each kind's sweep; none where the process died. */
  readonly states: ReadonlyMap<string, string>;
  readonly after: Dump;
}

/** Everything that a history in progress is made of. */
export interface Stage {
  readonly seed: number;
  readonly personality: Personality;
  readonly random: Random;
  readonly timeline: Timeline;
  readonly session: Session;
  readonly service: Service;
  /** As our settings know them. */
  readonly kinds: readonly ListedKind[];
  readonly secrets: Secrets;
  readonly tables: readonly string[];
  /** What records that were there before were made of, by kind. */
  readonly precedents: ReadonlyMap<string, readonly Content[]>;
  readonly rules: OutboundRules;
  readonly pullSettings: Omit<PullRequest, 'kinds' | 'runId'>;
  readonly sourceSettings: SourceSettings;
  /** Our settings have another user's token now. */
  hasOtherToken: boolean;
  /** Until when it comes and goes; 0 = never. */
  otherTokenUntilMs: number;
  readonly logger: Logger;
  /** What we have logged where there are secrets. */
  readonly log: string[];
  /** The count of our sends, beside the database. */
  readonly mark: { sends: number };
  readonly sendCounter: SendCounter;
  /** Those of all processes. */
  readonly lives: Set<Life>;
  goneBack: GoneBack | null;
  /** Who follows the events, where the database goes back. */
  reader: Reader | null;
  /** What was wanted by entries that the database has forgotten. */
  readonly forgotten: Intent[];
  readonly wakeUp: WakeUp;
  readonly intents: Intent[];
  /** Plans that were applied. */
  readonly plans: number[];
  readonly pulls: Pull[];
  /** What `verify` said in the end, where it was asked. */
  verified: readonly KindComparison[];
  /** When each path was last read by us. */
  readonly readAt: Map<string, number>;
  /** When the record of an update had been read, by the number of its send. */
  readonly readBefore: Map<number, number>;
  /** Processes that are gone. */
  readonly dead: Set<string>;
  /** What dead processes leave behind. */
  readonly remains: Promise<unknown>[];
  deathsLeft: number;
  /** Traits of troubles that outlast patience. */
  readonly lasting: readonly Trait[];
  /** Such a trouble has begun. */
  hasBegun: boolean;
  /** Until when our own settings let nothing be sent; 0 = they do. */
  unsentUntilMs: number;
  readonly isSending: () => boolean;
  /** The content of our record in an answer; no list shows it. */
  witness: 'nothing' | 'an id' | 'a row';
  readonly isLying: boolean;
  readonly beside: Beside | null;
  isCalm: boolean;
  isOver: boolean;
  readonly logLine: (line: string) => void;
  /** Ends the history with an error. */
  fail: (error: unknown) => void;
}

export interface HistoryOptions {
  /** Of a mirror that is migrated, and empty. */
  readonly session: Session;
  /** All tables of it. */
  readonly tables: readonly string[];
  readonly trace?: (line: string) => void;
  /** Instead of the drawn one. */
  readonly personality?: Partial<Personality>;
  /** The way in which the service lies until it is calm; none where it is not given. */
  readonly lie?: LieName;
  /** The only kind that is served, instead of drawn ones. */
  readonly kind?: string;
  /** Makes what a process does by the way, again and again, while it works. */
  readonly beside?: Beside;
}

export type Beside = (parts: PullParts, stage: Stage) => () => Promise<void>;

const silent = createLogger({ level: 'silent', secrets: [], destination: process.stderr });
/**
 * The share of the histories in which the settings keep a field out: to look for it everywhere takes a while. None on
 * PostgreSQL, whose views would have to be made again each time.
 */
const WITH_SECRETS = 0.05;
const BASE_URL = 'http://service';
/** Of the user who may see all. */
export const TOKEN = canary('-world');
const OTHER_TOKEN = canary('-of-another-user');
const PULL_SETTINGS: Stage['pullSettings'] = {
  baseUrl: BASE_URL,
  acceptNewSource: false,
  retention: KEEP_ALL,
  deletions: { graceSeconds: 900, holdAbove: { rows: 1_000_000, share: 1 } },
  repeatBelowPages: 20,
  ignoreFields: {},
};

const WITH_HOLDS: Stage['pullSettings'] = {
  ...PULL_SETTINGS,
  deletions: { graceSeconds: 900, holdAbove: { rows: 5, share: 0.02 } },
};

export function setStage(
  seed: number,
  { session, tables, trace, personality: fixed, lie, kind: only, beside }: HistoryOptions,
): Stage {
  const random = randomFrom('history', seed);
  const personality = personalityOf(seed, lie === undefined && beside === undefined, fixed);
  const lasting = lastingTraits(personality);
  const secrets = secretsFor(session, personality, seed);
  const log: string[] = [];
  const mark = { sends: 0 };
  const drawn = random.chance(0.1) ? [...new Set([drawKind(random), drawKind(random)])] : [drawKind(random)];
  const served = only === undefined ? servedKinds(personality, drawn, seed) : [kindOf(only)];
  const applyLie = lie === undefined ? undefined : LIES[lie](randomFrom('lie', seed));
  const timeline = createTimeline({ random, together: random.pick([0, 0.1, 0.5]), togetherWithinMs: 2_000 });
  const usualRows = random.pick([0, 2, 5, 9, 14, 20, 30, 40]);
  const rows = showsWithFew(personality) ? usualRows : rowsFor(personality, randomFrom('rows', seed));
  const precedents = new Map(served.map(({ name }): [string, Content[]] => [name, []]));
  const seedRecord = (kind: ListedKind, number: number): Content => {
    const body = bodiesOf(kind).create(1_000 + number, random);
    precedents.get(kind.name)?.push(body);
    return personality.succession === 'none' ? body : { ...body, ...filledIn(kind, 1_000 + number) };
  };
  const stage: Stage = {
    seed,
    personality,
    random,
    timeline,
    session,
    tables,
    secrets,
    log,
    precedents,
    kinds: served.map((kind) => withoutSecrets(kind, secrets)),
    service: createService({
      seed,
      personality,
      kinds: served,
      rows,
      secrets,
      seedRecord,
      ...(applyLie && { lie: applyLie }),
    }),
    rules: { settleSeconds: 300, patienceSeconds: 86_400, graceSeconds: 900, ignoreFields: {} },
    pullSettings: lie === undefined && lasting.length === 0 ? PULL_SETTINGS : WITH_HOLDS,
    sourceSettings: {
      ...SOURCE_SETTINGS,
      baseUrl: BASE_URL,
      get token() {
        return stage.hasOtherToken ? OTHER_TOKEN : TOKEN;
      },
    },
    hasOtherToken: false,
    otherTokenUntilMs: 0,
    logger: secrets === NO_SECRETS ? silent : loggerInto(log),
    mark,
    sendCounter: createSendCounter(mark),
    lives: new Set(),
    goneBack: null,
    reader: null,
    forgotten: [],
    wakeUp: createWakeUp(timeline),
    intents: [],
    plans: [],
    lasting,
    hasBegun: false,
    unsentUntilMs: 0,
    isSending: () => timeline.nowMs() >= stage.unsentUntilMs,
    witness: 'nothing',
    pulls: [],
    verified: [],
    readAt: new Map(),
    readBefore: new Map(),
    dead: new Set(),
    remains: [],
    deathsLeft: personality.deaths === 'some' ? random.integer(1, 4) : 0,
    isLying: lie !== undefined,
    isCalm: false,
    isOver: false,
    beside: beside ?? null,
    logLine: (line) => trace?.(`${timeline.nowMs()} ${line}`),
    fail: (error) => {
      throw error;
    },
  };
  return stage;
}

const showsWithFew = (personality: Personality): boolean =>
  lastingTraits(personality).length === 0 && personality.ties === 'none';

/** Troubles that outlast patience are for histories in which nothing else is tried out. */
function personalityOf(seed: number, isPlain: boolean, fixed: Partial<Personality> = {}): Personality {
  const drawn = drawPersonality(seed);
  return { ...(isPlain ? drawn : withoutLasting(drawn)), ...fixed };
}

function secretsFor({ dialect }: Session, { volatile }: Personality, seed: number): Secrets {
  const keepsOut =
    dialect === 'sqlite' && volatile === 'none' && randomFrom('secrets', seed).chance(WITH_SECRETS);
  return keepsOut ? SOME_SECRETS : NO_SECRETS;
}

/** The kinds that are drawn, or one that shows a trouble longer than patience. */
function servedKinds(
  personality: Personality,
  drawn: readonly ListedKind[],
  seed: number,
): readonly ListedKind[] {
  const names = kindsFor(personality);
  if (names.length === 0) return drawn;
  return [kindOf(randomFrom('kind', seed).pick(names))];
}

function loggerInto(log: string[]): Logger {
  return createLogger({ level: 'trace', secrets: [], destination: { write: (line) => void log.push(line) } });
}
