import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';
import { FEATURES } from './support/features.ts';

/** The floors of ARCHITECTURE.md: what each folder may import. A folder that is not in the table fails. */
const BELOW_PAGES = [
  'lib', 'catalog', 'db', 'source', 'diff', 'words', 'store', 'views', 'pull', 'outbound', 'events', 'runs', 'needs', 'http', 'checks', 'operations',
]; // prettier-ignore

const MAY_IMPORT: Record<string, readonly string[]> = {
  lib: [],
  catalog: ['lib'],
  db: ['lib'],
  config: ['lib', 'catalog'],
  source: ['lib', 'catalog'],
  diff: ['lib', 'catalog'],
  words: ['lib', 'catalog'],
  store: ['lib', 'catalog', 'db', 'diff'],
  views: ['lib', 'catalog', 'db', 'diff', 'words', 'store'],
  pull: ['lib', 'catalog', 'db', 'source', 'diff', 'store', 'views'],
  outbound: ['lib', 'catalog', 'db', 'source', 'diff', 'words', 'store', 'views'],
  events: ['lib', 'catalog', 'db', 'words', 'store'],
  runs: ['lib', 'catalog', 'db', 'source', 'store', 'pull'],
  needs: ['lib', 'catalog', 'db', 'words', 'store', 'events'],
  http: ['lib', 'catalog', 'db', 'words', 'store', 'outbound', 'events', 'runs', 'needs'],
  checks: [
    'lib',
    'catalog',
    'config',
    'db',
    'source',
    'words',
    'store',
    'views',
    'pull',
    'outbound',
    'events',
    'runs',
    'needs',
  ],
  operations: ['lib', 'catalog', 'db', 'words', 'store', 'outbound', 'events', 'runs'],
  api: BELOW_PAGES,
  dashboard: BELOW_PAGES,
  'feature-hooks.ts': [],
  app: [...BELOW_PAGES, 'config', 'api', 'dashboard', 'features.ts', 'feature-hooks.ts'],
  cli: [...BELOW_PAGES, 'config', 'app', 'sandbox', 'features.ts', 'feature-hooks.ts'],
  sandbox: ['lib', 'catalog'],
  'features.ts': [],
  'main.ts': ['lib', 'config', 'app', 'cli'],
};

/** The files that may import a feature: the lists. */
const LISTS = ['features.ts', 'feature-hooks.ts', 'main.ts', 'config/settings.ts'];

/**
 * What a file of a feature is for, by its name or its folder, from the lowest to the highest; it may import what files of the core
 * of the same floor may. All others do the work of the feature: they import stages and below.
 */
const ROLES: Record<string, readonly string[]> = {
  tables: ['store'],
  store: ['store'],
  'table-owner': ['store'],
  work: ['needs', 'runs', 'pull', 'outbound', 'events'],
  needs: ['needs'],
  checks: ['checks'],
  operations: ['operations'],
  serve: ['app'],
  routes: ['api'],
  pages: ['dashboard'],
  commands: ['cli'],
};

/** Imports that break the rule today, each with the reason why it still does. */
const STILL: Record<string, string> = {};

/** The wings of each room, from the lowest to the highest: a wing imports only from wings before it. */
const WINGS: Record<string, readonly string[]> = {
  lib: ['', 'text', 'time', 'json', 'ids', 'log', 'net'],
  catalog: ['', 'kinds'],
  db: ['session', 'sqlite', 'postgres', 'rows', ''],
  config: ['groups', ''],
  source: ['http', 'paging', ''],
  diff: [''],
  words: [''],
  // prettier-ignore
  store: [
    'tables', 'kinds', 'users', '', 'outbox', 'notifications', 'sightings', 'records', 'runs', 'schema',
  ],
  views: [''],
  pull: ['', 'land', 'deletions', 'sweep', 'freshness'],
  outbound: ['', 'intake', 'send', 'decisions'],
  events: ['', 'webhooks'],
  runs: ['engine', 'bullmq', ''],
  needs: [''],
  http: [''],
  checks: [''],
  operations: [''],
  api: [''],
  dashboard: ['parts', ''],
  app: [''],
  cli: ['parts', 'demo', 'decisions', ''],
  sandbox: ['generate', ''],
};

/** The most files in one wing. */
const MOST_FILES = 20;

const ROOT = join(import.meta.dirname, '..');

/** The place of a file: within `src/`, or `sandbox/…` beside it. */
const placeOf = (file: string): string => relative(ROOT, file).replace(/^src\//, '');

function sourceFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? sourceFiles(path) : [path];
  });
}

/** Project files that a file imports, types included. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const pattern = /^(?:import|export)\s+(?:type\s)?[^'";]*?from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gm;
  return [...text.matchAll(pattern)]
    .map((match) => normalize(join(dirname(file), match[1] ?? match[2] ?? '')))
    .filter((target) => target.endsWith('.ts')); // Not the texts of locales/.
}

const floorOf = (file: string): string => placeOf(file).split('/')[0] ?? '';

const files = ['src', 'sandbox']
  .flatMap((folder) => sourceFiles(join(ROOT, folder)))
  .filter((file) => file.endsWith('.ts'));

/** Of `features/plans/pages/plan-page.ts`: `plans` and `pages`. */
function featureOf(file: string) {
  const [, name, part = ''] = /^features\/([^/]+)\/([^/]+)/.exec(placeOf(file)) ?? [];
  const role = part.replace(/\.ts$/, '');
  return name === undefined ? null : { name, role: role in ROLES ? role : 'work' };
}

/** What a file of a feature may import of the core. */
function coreFor(role: string): readonly string[] {
  const floors = ROLES[role] ?? [];
  return [...floors, ...floors.flatMap((floor) => MAY_IMPORT[floor] ?? [])];
}

function mayImport(file: string, target: string): boolean {
  if (LISTS.includes(placeOf(file))) return true;
  const [from, to] = [featureOf(file), featureOf(target)];
  if (from === null) return to === null && (MAY_IMPORT[floorOf(file)] ?? []).includes(floorOf(target));
  if (to === null) return coreFor(from.role).includes(floorOf(target));
  if (from.name !== to.name && FEATURES[from.name]?.includes(to.name) !== true) return false;
  const heights = Object.keys(ROLES);
  return heights.indexOf(to.role) <= heights.indexOf(from.role);
}

test('every folder has its floor', () => {
  expect(files.filter((file) => !(floorOf(file) in MAY_IMPORT) && featureOf(file) === null)).toEqual([]);
  expect(readdirSync(join(ROOT, 'src/features')).sort()).toEqual(Object.keys(FEATURES).sort());
});

test('a folder imports only from lower floors, and only the lists import a feature', () => {
  const broken = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => featureOf(file) !== null || floorOf(target) !== floorOf(file))
      .filter((target) => !mayImport(file, target))
      .map((target) => `${placeOf(file)} imports ${placeOf(target)}`),
  );
  expect(broken.filter((line) => !(line in STILL))).toEqual([]);
  expect(Object.keys(STILL).filter((line) => !broken.includes(line))).toEqual([]);
});

const wingOf = (file: string): string => dirname(placeOf(file)).split('/').slice(1).join('/');

test('a wing imports only from the wings before it', () => {
  const broken = files.flatMap((file) => {
    const wings = WINGS[floorOf(file)];
    if (wings === undefined) return [];
    const height = wings.indexOf(wingOf(file));
    if (height < 0) return [`${placeOf(file)} is in a wing that the table does not know`];
    return importsOf(file)
      .filter((target) => floorOf(target) === floorOf(file) && wings.indexOf(wingOf(target)) > height)
      .map((target) => `${placeOf(file)} imports ${placeOf(target)}`);
  });
  expect(broken).toEqual([]);
});

test('no wing is crowded', () => {
  const counts = new Map<string, number>();
  for (const file of files.filter((each) => floorOf(each) in WINGS || featureOf(each) !== null))
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});

test('no file imports itself, however many files lie between', () => {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file))
      cycles.push([...path.slice(path.indexOf(file)), file].map((f) => placeOf(f)).join(' → '));
    if (path.includes(file) || done.has(file)) return;
    for (const target of importsOf(file)) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(cycles).toEqual([]);
});

/** Names that a pattern finds in more than one file, with these files. */
function declaredTwice(declaration: RegExp): (readonly [name: string, declaredIn: string[]])[] {
  const places = new Map<string, string[]>();
  for (const file of files)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(declaration))
      places.set(name, [...(places.get(name) ?? []), placeOf(file)]);
  return [...places].filter(([, declaredIn]) => declaredIn.length > 1);
}

test('an exported type name has one meaning: it is declared once', () => {
  expect(declaredTwice(/^export (?:interface|type) (\w+)/gm)).toEqual([]);
});

test('an exported function name is declared once', () => {
  expect(declaredTwice(/^export (?:(?:async )?function\*?|const|class) +(\w+)/gm)).toEqual([]);
});

test('only main.ts reads the environment or ends the process', () => {
  const offenders = files.filter((file) => /process\.(env|exit)\b/.test(readFileSync(file, 'utf8')));
  expect(offenders.map((file) => placeOf(file)).filter((file) => file !== 'main.ts')).toEqual([]);
});

const ARCHITECTURE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

test('every function that ARCHITECTURE.md names in a file stands there', () => {
  const named = [...ARCHITECTURE.matchAll(/`(\w+)`\s+in\s+`(?:src\/)?([\w/-]+\.ts)`/g)];
  const isThere = ([, name = '', path = '']: RegExpExecArray): boolean =>
    files.some((file) => placeOf(file).endsWith(path) && readFileSync(file, 'utf8').includes(name));
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((each) => !isThere(each)).map(([words]) => words)).toEqual([]);
});

test('every file that ARCHITECTURE.md names is there', () => {
  const named = [...ARCHITECTURE.matchAll(/`(?:src\/)?([\w/-]+\.ts)`/g)].map(([, name = '']) => name);
  const known = files.map((file) => `/${placeOf(file)}`);
  const isThere = (name: string): boolean =>
    known.some((file) => file.endsWith(`/${name}`)) || existsSync(join(ROOT, name));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});
