import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The parts of the test suite: `tests` after every change, of which `fast` needs neither a server nor the built program; `all` in
 * continuous integration: the same, and what stands around the program; `proofs`, which give the same answer as long as the code they
 * prove is the same (`npm run proofs`); `acceptance`, which needs real time, and `clients`, which needs the reporting clients:
 * both run apart from continuous integration; `root`, what only root may start.
 */
export type Tier = 'tests' | 'fast' | 'all' | 'proofs' | 'acceptance' | 'clients' | 'root';

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
  'features/deletable',
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

/**
 * Documents and the commands that they show, deployment, scripts, the simulated service, the tools of these tests, and rules that
 * random requests, histories and kills show once more.
 */
const AROUND = [
  ...['canary', 'docs', 'sandbox', 'scripts', 'support'].map((name) => `test/${name}/**/*.test.ts`),
  ...pathsOf([
    'api/generated-client',
    'app/further-kinds-doc',
    'both/released',
    'catalog/new-kind',
    'cli/mistakes',
    'dashboard/french',
    'deploy',
    'docs',
    'end-to-end/answer-memory',
    'end-to-end/back-up-and-restore',
    'end-to-end/demo-and-sandbox',
    'end-to-end/kill',
    'end-to-end/mcp',
    'end-to-end/outbound-kill',
    'end-to-end/readme',
    'end-to-end/secrets',
    'events/webhooks/recorded-day',
    'http/fuzz',
    'http/haproxy',
    'http/nginx',
    'http/slow-clients',
    'package-lock',
    'world/service',
    'world/share',
  ]),
];

/** What has several sizes, or bounds by the clock; `npm test` runs it at its smallest size. */
function sizedFiles(): string[] {
  const folder = join(import.meta.dirname, '..');
  const hasSize = (path: string) =>
    /\b(?:sized|tries|byTheClock)\(/.test(readFileSync(join(folder, path), 'utf8'));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((path) => path.endsWith('.test.ts') && hasSize(path)).map((path) => `test/${path}`);
}

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
        shared: { include: [...CLOCK_FILES, ...sizedFiles()], exclude: [...ALONE] },
        alone: { include: sizedFiles().filter((path) => ALONE.includes(path)), exclude: [] },
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
    case 'all': {
      const left = tier === 'tests' ? AROUND : [];
      return {
        shared: { ...shared, exclude: [...shared.exclude, CLIENTS, ROOT, ...CLOCK_FILES, ...left] },
        alone: { include: [...ALONE], exclude: left },
      };
    }
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

/** How many random cases a property tries: a tenth, and not less than a hundred, of what it tries in `npm run acceptance`. */
export const tries = (most: number): number =>
  sized({ quick: Math.max(100, most / 10), acceptance: most, deep: most });

/** A bound by the clock: it holds where nothing else runs, in `npm run acceptance`. */
export const byTheClock = (most: number): number => (tierOf(process.env) === 'acceptance' ? most : Infinity);

const TIERS: readonly Tier[] = ['tests', 'fast', 'all', 'proofs', 'acceptance', 'clients', 'root'];

/** The tier that `BMS_TEST_TIER` names; none where it is not set. */
export function tierOf(env: Readonly<Record<string, string | undefined>>): Tier | null {
  const named = env['BMS_TEST_TIER'];
  if (named === undefined) return null;
  const tier = TIERS.find((one) => one === named);
  if (tier === undefined) throw new Error(`BMS_TEST_TIER is ${named}, expected one of ${TIERS.join(', ')}.`);
  return tier;
}
