/**
 * The parts of the test suite: `tests` after every change, of which `fast` needs neither a server nor the built program; `proofs`, which give the same answer as long as the code they
 * prove is the same (`npm run proofs`); `acceptance`, which needs real time, and `clients`, which needs the reporting clients:
 * both run apart from continuous integration; `root`, what only root may start.
 */
export type Tier = 'tests' | 'fast' | 'proofs' | 'acceptance' | 'clients' | 'root';

const PROOF_FOLDERS = ['enumeration', 'malformed'].map((name) => `test/${name}`);

const pathsOf = (names: readonly string[]): string[] => names.map((name) => `test/${name}.test.ts`);

/**
 * Proofs beside the tests whose set-up they share: every point at which a process can die, every order of steps,
 * any instant, any answer that lies or invents fields, every minute of a schedule, every attack on a query.
 */
const PROOF_FILES = pathsOf([
  'both/dying-migration',
  'both/equal-dumps',
  'diff/decide-deletions-properties',
  'end-to-end/hostile-uploads',
  'end-to-end/move-kill',
  'end-to-end/move-race',
  'end-to-end/outbound-start',
  'end-to-end/plans-kill',
  'end-to-end/racing-starts',
  'end-to-end/three-processes',
  'end-to-end/webhooks-kill',
  'features/mcp/query',
  'runs/schedule',
  'views/as-of',
  'outbound/interleavings',
  'outbound/send/promoted-standby',
  'pull/crash',
  'pull/freshness/seeded-schedules',
  'pull/many-fields',
  'source/garbled',
  'ways',
  'world/first-half',
  'world/lies',
  'world/planted-bugs',
  'world/postgres',
  'world/second-half',
]);

export const isProof = (path: string): boolean =>
  PROOF_FILES.includes(path) ||
  (path.endsWith('.test.ts') && PROOF_FOLDERS.some((folder) => path.startsWith(`${folder}/`)));

/** What shows something only by the clock, by a million rows: no part of `npm test`. */
const CLOCK_FILES = pathsOf([
  'end-to-end/export-memory',
  'end-to-end/freshness-budget',
  'end-to-end/frozen-process',
  'end-to-end/outages',
  'end-to-end/webhooks-latency',
]);

/** What is killed or cut off again and again, sent far too much, or has bounds by the clock; `npm test` runs them at a smaller size. */
const SIZED_FILES = pathsOf([
  'features/verify/compare-record',
  'features/verify/commands',
  'api/push',
  'diff/certify',
  'end-to-end/demo-and-sandbox',
  'end-to-end/kill',
  'end-to-end/move-kill',
  'end-to-end/outbound-kill',
  'end-to-end/outbound-start',
  'end-to-end/plans-kill',
  'end-to-end/racing-starts',
  'end-to-end/stop',
  'end-to-end/three-processes',
  'end-to-end/webhooks-kill',
  'end-to-end/answer-memory',
  'views/as-of',
  'outbound/lost-answers',
  'db/sqlite/session',
  'store/tables/kind-table',
  'pull/crash',
  'pull/freshness/seeded-schedules',
  'pull/land/land-pages',
  'lib/json/json',
  'features/mcp/tools',
  'pull/many-fields',
  'source/paging/list-page',
  'http/fuzz',
  'http/slow-clients',
  'runs/bullmq/redis-loss',
  'sandbox/large-company',
]);

const LONG_FILES = [...CLOCK_FILES, ...SIZED_FILES];

const FAST_FOLDERS = ['lib', 'catalog', 'diff', 'source', 'config', 'words'].map((name) => `test/${name}`);
/** Build the program, or start another one. */
const SLOW_FILES = pathsOf(['catalog/new-kind', 'source/proxy']);

/** Read both mirrors through the clients of docs/reporting, once `npm run test:clients` has installed them. */
const CLIENTS = 'test/clients/**/*.test.ts';

/** What only root may start: Postfix, a mount. */
const ROOT = 'test/root/**/*.test.ts';

/**
 * Files that get a worker of their own, as they put doubles in the place of modules, or measure their process. So do the
 * proofs. All others share workers, so that each worker loads our code once.
 */
export const ALONE: readonly string[] = pathsOf([
  'canary/sings',
  'lib/time/clock',
  'db/sqlite/session',
  'sandbox/generate/from-catalogue',
  'sandbox/large-company',
  'http/slow-clients',
]);

interface Files {
  readonly include: string[];
  readonly exclude: string[];
}

/** Which files vitest runs; all of them where no tier is named, so that any file can be run by its name. */
export function filesOf(tier: Tier | null): { readonly shared: Files; readonly alone: Files } {
  const proofs = [...PROOF_FOLDERS.map((folder) => `${folder}/**/*.test.ts`), ...PROOF_FILES];
  const browser = 'test/browser/**'; // By `scripts/vitest-browser.config.ts`.
  const shared = { include: ['test/**/*.test.ts'], exclude: [...proofs, ...ALONE, browser] };
  switch (tier) {
    case 'proofs':
      return { shared: NONE, alone: { include: proofs, exclude: [] } };
    case 'acceptance':
      return {
        shared: { include: LONG_FILES.filter((path) => !ALONE.includes(path)), exclude: [] },
        alone: { include: LONG_FILES.filter((path) => ALONE.includes(path)), exclude: [] },
      };
    case 'clients':
      return { shared: { include: [CLIENTS], exclude: [] }, alone: NONE };
    case 'root':
      return { shared: { include: [ROOT], exclude: [] }, alone: NONE };
    case 'fast':
      return {
        shared: {
          include: FAST_FOLDERS.map((folder) => `${folder}/**/*.test.ts`),
          exclude: [...shared.exclude, ...SLOW_FILES],
        },
        alone: NONE,
      };
    case 'tests':
      return {
        shared: { ...shared, exclude: [...shared.exclude, CLIENTS, ROOT, ...CLOCK_FILES] },
        alone: { include: [...ALONE], exclude: [] },
      };
    case null:
      return { shared, alone: { include: [...ALONE, ...proofs], exclude: [] } };
  }
}

const NONE: Files = { include: [], exclude: [] };

/** How much a test does: within `npm test` (or run by its name), in `npm run acceptance`, in `npm run test:deep`. */
export interface Sizes {
  readonly quick: number;
  readonly acceptance: number;
  readonly deep: number;
}

/** The size for this run. */
export function sized({ quick, acceptance, deep }: Sizes): number {
  if (process.env['BMS_TEST_DEEP'] === '1') return deep;
  return tierOf(process.env) === 'acceptance' ? acceptance : quick;
}

/** A bound by the clock: it holds where nothing else runs, in `npm run acceptance`. */
export const byTheClock = (most: number): number => (tierOf(process.env) === 'acceptance' ? most : Infinity);

const TIERS: readonly Tier[] = ['tests', 'fast', 'proofs', 'acceptance', 'clients', 'root'];

/** The tier that `BMS_TEST_TIER` names; none where it is not set. */
export function tierOf(env: Readonly<Record<string, string | undefined>>): Tier | null {
  const named = env['BMS_TEST_TIER'];
  if (named === undefined) return null;
  const tier = TIERS.find((one) => one === named);
  if (tier === undefined) throw new Error(`BMS_TEST_TIER is ${named}, expected one of ${TIERS.join(', ')}.`);
  return tier;
}
