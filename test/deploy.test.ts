import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ROLES } from '../src/app/serve.ts';
import { EXIT } from '../src/cli/parts/command.ts';
import { SETTING_NODES, SETTINGS, settings } from '../src/config/settings.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { checkRedisInfo } from '../src/checks/queue.ts';
import { CLOSE_MS } from '../src/http/limits.ts';
import { run } from './support/command-line.ts';
import { exportedMetrics, faultsIn, metricsIn } from './support/exported-metrics.ts';
import { tempFolder } from './support/temp-folder.ts';

const ROOT = join(import.meta.dirname, '..');
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, object>>;
}

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly (string | { readonly source: string })[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: unknown;
  readonly restart: string;
  readonly read_only: boolean;
  readonly stop_grace_period: string;
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

interface Resources {
  readonly cpu: string;
  readonly memory: string;
  readonly 'ephemeral-storage': string;
}

interface Container {
  readonly image: string;
  readonly imagePullPolicy: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly resources: { readonly requests: Resources; readonly limits: Resources };
  readonly securityContext: object;
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface StatefulSet {
  readonly kind: string;
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number };
        readonly containers: readonly [Container];
      };
    };
  };
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const docs = text('docs/log.md');
const compose = parse(text('deploy/compose.yaml'), { merge: true }) as Compose;
const worker = compose.services['bms-sync'];
const manifests = parseAllDocuments(text('deploy/kubernetes.yaml'));
const set = manifests
  .map((document) => document.toJS() as StatefulSet)
  .find((one) => one.kind === 'StatefulSet');
const pod = set?.spec.template.spec;
const { groups } = parse(text('deploy/alerts.yaml')) as { groups: readonly { rules: readonly Rule[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);
const dashboard = JSON.parse(text('deploy/grafana-dashboard.json')) as {
  panels: readonly { id: number; title: string; targets?: readonly { expr: string }[] }[];
};

const unit = text('deploy/bms-sync.service');
/** Every value that the unit gives under a name. */
const unitValues = (name: string): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

test('a metric, a label or a state that does not exist would be found', async () => {
  const exported = await exportedMetrics();
  expect(faultsIn('max by (kind) (bms_sync_row) > 0', exported)).toEqual(['bms_sync_row']);
  expect(faultsIn('rate(bms_sync_rows{state="x"}[5m]) or up', exported)).toEqual([
    'bms_sync_rows has no label state',
    'x',
  ]);
  expect(faultsIn('time() - bms_sync_rows offset 1d > 1', exported)).toEqual([]);
});

test('alerts name metrics that are exported', async () => {
  const exported = await exportedMetrics();
  expect(alerts.filter(({ expr }) => metricsIn(expr).length === 0)).toEqual([]);
  expect(alerts.flatMap(({ expr }) => faultsIn(expr, exported))).toEqual([]);
});

test('the docs have one line of what to do for each alert, and for no other', () => {
  const described = [...docs.matchAll(/^### (BmsSync\w+)\n\n\S.*\n(?=\n|$)/gm)].map(([, name]) => name);
  expect(described).toEqual(expect.arrayContaining(alerts.map(({ alert }) => alert)));
  expect(described).toHaveLength(alerts.length);
  for (const { alert, annotations } of alerts)
    expect(annotations.runbook).toBe(`docs/log.md#${alert.toLowerCase()}`);
});

test('the docs have every metric of ours, and the eight panels of the dashboard no other', async () => {
  const exported = await exportedMetrics();
  const own = [...exported.metrics.keys()].filter((name) => name.startsWith('bms_sync_'));
  const documented = [...docs.matchAll(/^\| `(bms_sync_\w+)/gm)].map(([, name = '']) => name);
  expect(documented.toSorted()).toEqual(own.toSorted());
  const shown = dashboard.panels.flatMap(({ targets }) => targets ?? []).map(({ expr }) => expr);
  expect(shown.flatMap((expr) => faultsIn(expr, exported))).toEqual([]);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(8);
});

const VARIABLES = SETTINGS.flatMap(({ info: about, variable }) => [variable, ...(about.variables ?? [])]);
const GROUPS = [...new Set(SETTING_NODES.map(({ path }) => path[0]))].join('|');
const FILE_NAME = /\.(?:conf|db|env|json|md|service|sh|ya?ml)$/;
const assigned = (of: string): string[] =>
  [...of.matchAll(/^\s*(?:# ?)?([A-Z][A-Z_]*)=/gm)].map(([, name = '']) => name);

/** The settings that a text names or sets, as variables or as paths, and that do not exist. */
function unknownSettings(of: string): string[] {
  const variables = [...assigned(of), ...[...of.matchAll(/\bBMS_[A-Z_]*[A-Z]/g)].map(([name]) => name)];
  const quoted = [...of.matchAll(/`([a-z]\w*(?:\.[a-zA-Z]+)+)`/g)].map(([, name = '']) => name);
  const bare = [...of.matchAll(new RegExp(`(?<![\\w./-])(?:${GROUPS})(?:\\.[a-zA-Z]+)+`, 'g'))].map(
    ([name]) => name,
  );
  const paths = [...quoted, ...bare].filter((name) => !FILE_NAME.test(name));
  const unknown = [
    ...variables.filter((name) => ![...VARIABLES, 'NODE_ENV'].includes(name)),
    ...paths.filter((name) => !SETTING_NODES.some((place) => place.name === name)),
  ];
  return [...new Set(unknown)];
}

test('a misspelt setting would be found', () => {
  const misspelt = [
    'BMS__SERVER__NAME=["x"]\n  ADMIN_TOKN=\n# LOG_LEVL=info',
    'in `server.name`, `sever.names` or BMS_WRITE; more than shutdown.graceSecond (25)',
  ];
  expect(unknownSettings(misspelt.join('\n')).toSorted()).toEqual(
    // prettier-ignore
    [
      'ADMIN_TOKN', 'BMS_WRITE', 'BMS__SERVER__NAME', 'LOG_LEVL', 'server.name', 'sever.names',
      'shutdown.graceSecond',
    ].toSorted(),
  );
  expect(unknownSettings('`server.names`, BMS__SERVER__NAMES=[], `compose.yaml`, BMS_TOKEN')).toEqual([]);
});

test.each(readdirSync(join(ROOT, 'deploy')).filter((name) => statSync(join(ROOT, 'deploy', name)).isFile()))(
  'every setting that %s names exists',
  (name) => {
    expect(unknownSettings(text(`deploy/${name}`))).toEqual([]);
  },
);

test('only variables that are settings are set', () => {
  const set = [
    ...Object.keys(worker?.environment ?? {}),
    ...(pod?.containers[0].env ?? []).map(({ name }) => name),
    ...unitValues('Environment')
      .flatMap((value) => value.split(' '))
      .map((pair) => pair.split('=')[0] ?? ''),
  ];
  expect(set.filter((name) => ![...VARIABLES, 'NODE_ENV'].includes(name))).toEqual([]);
  expect(assigned(text('deploy/example.env'))).toEqual(
    expect.arrayContaining(['BMS_BASE_URL', 'BMS_TOKEN', 'ADMIN_TOKEN', 'DATABASE_URL', 'QUEUE_URL']),
  );
});

test('the API answers under the name of its service in Compose and in Kubernetes', () => {
  const service = manifests.map(
    (document) => document.toJS() as { kind: string; metadata: { name: string } },
  );
  const name = service.find(({ kind }) => kind === 'Service')?.metadata.name;
  const inPod = Object.fromEntries((pod?.containers[0].env ?? []).map(({ name, value }) => [name, value]));
  expect(loadConfig({ env: inPod }).server).toMatchObject({ host: '0.0.0.0', names: [name] });
  expect(loadConfig({ env: worker?.environment ?? {} }).server).toMatchObject({
    host: '0.0.0.0',
    names: ['bms-sync'],
  });
  expect(Object.keys(compose.services)).toContain('bms-sync');
});

describe('make-secrets.sh', () => {
  const madeWith = (token: string, folder = tempFolder()): string => {
    copyFileSync(join(ROOT, 'deploy/make-secrets.sh'), join(folder, 'make-secrets.sh'));
    writeFileSync(join(folder, 'token'), token); // A script that refuses at once would break a pipe.
    const command = 'sh make-secrets.sh https://acme.example < token';
    execFileSync('sh', ['-c', command], { cwd: folder, stdio: 'pipe' });
    return folder;
  };
  const read = (folder: string, name: string): string => readFileSync(join(folder, 'secrets', name), 'utf8');

  test('writes every secret that compose.yaml asks for, and settings that load and fit them', () => {
    const token = 'a-token';
    const folder = madeWith(`${token}\n`);
    const files = Object.values(compose.secrets).map(({ file }) => file.replace('secrets/', ''));
    expect(readdirSync(join(folder, 'secrets')).toSorted()).toEqual(files.toSorted());
    expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700);
    const config = loadConfig({ env: parseEnv(read(folder, 'bms-sync.env')) });
    expect(config.source).toMatchObject({ baseUrl: 'https://acme.example', token });
    expect(new URL(config.database.url).password).toBe(read(folder, 'postgres-password'));
    expect(`requirepass ${new URL(config.queue.url ?? '').password}\n`).toBe(read(folder, 'redis.conf'));
    const { environment } = compose.services['postgres'] ?? {};
    const { username, hostname, pathname } = new URL(config.database.url);
    expect([username, hostname, pathname]).toEqual([
      environment?.['POSTGRES_USER'],
      'postgres',
      `/${environment?.['POSTGRES_DB'] ?? ''}`,
    ]);
    expect(read(madeWith(token), 'postgres-password')).not.toBe(read(folder, 'postgres-password'));
  });

  test('keeps every character of the token, and refuses the one that the file cannot hold', () => {
    const token = String.raw`a #b"c\$d\n=e`;
    const { BMS_TOKEN } = parseEnv(read(madeWith(`${token}\n`), 'bms-sync.env'));
    expect(BMS_TOKEN).toBe(token);
    expect(() => madeWith("it's")).toThrow(/cannot be written/);
  });

  test('leaves secrets alone that are there, and refuses an empty token', () => {
    const folder = madeWith('first');
    const before = read(folder, 'bms-sync.env');
    expect(() => madeWith('second', folder)).toThrow(/there already/);
    expect(read(folder, 'bms-sync.env')).toBe(before);
    expect(() => madeWith('')).toThrow(/No token/);
  });
});

test('the example loads as it stands', () => {
  expect(loadConfig({ env: parseEnv(text('deploy/example.env')) })).toMatchObject({
    source: { baseUrl: null, token: null },
    schedules: { everything: { kinds: 'all' } },
    outbound: { writes: 'off' },
  });
});

test('no file holds a secret: those of the example are empty', () => {
  expect(text('deploy/example.env')).toMatch(/^BMS_TOKEN=$/m);
  expect(text('deploy/example.env')).toMatch(/^ADMIN_TOKEN=$/m);
  expect(manifests.map((document) => document.get('kind'))).not.toContain('Secret');
  expect(text('.gitignore').split('\n')).toContain('deploy/secrets/');
  expect(text('.dockerignore').split('\n')).toContain('deploy');
  for (const { file } of Object.values(compose.secrets)) expect(file).toMatch(/^secrets\//);
});

const COMMAND = /(?:bms-sync bms-sync|-- bms-sync|dist\/main\.js) (\w+)/g;

test('every command that is named exists, and every role', async () => {
  const names = ['compose.yaml', 'kubernetes.yaml', 'bms-sync.service', 'README.md'];
  const files = names.map((name) => text(`deploy/${name}`)).join('\n');
  const started = [
    ...unitValues('ExecStart').map((line) => line.split('dist/main.js ')[1]?.split(' ')),
    worker?.command,
    pod?.containers[0].args,
    JSON.parse(/^CMD (.*)$/m.exec(text('Dockerfile'))?.[1] ?? '') as readonly string[],
  ];
  expect(started).toEqual([['serve'], ['serve'], ['serve'], ['serve']]);
  const typed = new Set([...files.matchAll(COMMAND)].map(([, command = '']) => command));
  expect([...typed]).toEqual(expect.arrayContaining(['serve', 'doctor', 'status']));
  for (const command of typed) expect(await run([command, '--help'])).toMatchObject({ code: EXIT.done });
  const roles = [...files.matchAll(/--only ([\w,]+)/g)].flatMap(([, list = '']) => list.split(','));
  expect(roles.filter((role) => !ROLES.some((known) => known === role))).toEqual([]);
});

test('whoever stops it waits longer than it takes to stop', () => {
  const needed = settings.parse({}).shutdown.graceSeconds + CLOSE_MS / 1000;
  const seconds = (duration: string | undefined): number => Number.parseInt(duration ?? '', 10);
  expect(worker?.stop_grace_period).toMatch(/^\d+s$/);
  expect(seconds(worker?.stop_grace_period)).toBeGreaterThan(needed);
  expect(seconds(unitValues('TimeoutStopSec')[0])).toBeGreaterThan(needed);
  expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(needed);
});

test('wrong settings do not make systemd start again; all else does', () => {
  expect(unitValues('Restart')).toEqual(['on-failure']);
  expect(unitValues('RestartPreventExitStatus')).toEqual([String(EXIT.usage)]);
});

test('no container is root or writes into its image, and each says how it is', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    expect(service).toMatchObject({ read_only: true, restart: 'unless-stopped', cap_drop: ['ALL'] });
    if (name !== 'bms-sync')
      expect(service).toMatchObject({ user: name, healthcheck: expect.anything() as unknown });
    for (const secret of service.secrets ?? [])
      expect(Object.keys(compose.secrets)).toContain(typeof secret === 'string' ? secret : secret.source);
  }
  expect(text('Dockerfile')).toMatch(/^USER 1000:1000$/m);
  expect(text('Dockerfile')).toMatch(/install -d -o node -g 0 -m 770 data$/m); // For any user of group 0.
  expect(text('Dockerfile')).toMatch(/^HEALTHCHECK [^]*\/health/m);
});

test('no volume of the image is left behind without a name', () => {
  const declared = [...text('Dockerfile').matchAll(/^VOLUME (\S+)$/gm)].map(([, folder = '']) => folder);
  const mounted = (worker?.volumes ?? []).map((volume) => volume.split(':'));
  expect(mounted.map(([, folder]) => folder)).toEqual(declared);
  for (const [name] of mounted) expect(Object.keys(compose.volumes)).toContain(name);
});

test('PostgreSQL is not process 1, which would take the end of an orphan for a crash of its own', () => {
  expect(compose.services['postgres']).toMatchObject({ init: true });
});

test('what is typed for Compose names its services, and the user and the databases of PostgreSQL', () => {
  const typed = `${text('docs/back-up.md')}\n${text('deploy/README.md')}`.matchAll(
    /docker compose exec (?:-T )?([\w-]+) ([^`\n]+)/g,
  );
  const lines = Array.from(typed, ([, service = '', command = '']) => ({ service, command }));
  expect(lines.length).toBeGreaterThan(6);
  for (const { service } of lines) expect(Object.keys(compose.services)).toContain(service);
  const inPostgres = lines.filter(({ command }) => command.includes('-U ')).map(({ command }) => command);
  const { POSTGRES_USER, POSTGRES_DB } = compose.services['postgres']?.environment ?? {};
  const names = [POSTGRES_DB, `${POSTGRES_DB ?? ''}_before`, 'postgres'].join('|');
  const known = new RegExp(`-U ${POSTGRES_USER ?? ''} .*\\b(?:${names})(?: |$)`);
  expect(inPostgres.filter((command) => !known.test(command))).toEqual([]);
});

test('Redis is set up as `doctor` wants it', () => {
  const optionValue = (option: string): string => {
    const command = compose.services['redis']?.command ?? [];
    return command[command.indexOf(option) + 1] ?? '';
  };
  const info = `redis_version:8.0.0\nmaxmemory_policy:${optionValue('--maxmemory-policy')}`;
  expect(checkRedisInfo(info).map(({ ok, detail }) => [ok, detail])).toEqual([
    [true, 'Redis 8.0.0 answers'],
    [true, 'maxmemory-policy is noeviction'],
  ]);
  expect(optionValue('--appendonly')).toBe('yes');
});

test('Kubernetes asks paths that are served, of one pod, of the release', () => {
  const { version } = JSON.parse(text('package.json')) as { version: string };
  const container = pod?.containers[0];
  expect(set?.spec.replicas).toBe(1);
  expect([container?.image, worker?.image]).toEqual([`bms-sync:${version}`, `bms-sync:${version}`]);
  const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe];
  expect(probes.map((probe) => probe?.httpGet.path)).toEqual(['/health', '/health', '/ready']);
});

test('Kubernetes bounds what a pod takes, and who it is', () => {
  const container = pod?.containers[0];
  const bounds = ['cpu', 'ephemeral-storage', 'memory'];
  expect(Object.keys(container?.resources.requests ?? {}).toSorted()).toEqual(bounds);
  expect(Object.keys(container?.resources.limits ?? {}).toSorted()).toEqual(bounds);
  expect(container).toMatchObject({
    imagePullPolicy: 'Always',
    securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
  });
  expect(pod?.securityContext.runAsUser).toBeGreaterThan(10_000);
  expect(pod?.securityContext.runAsGroup).toBeGreaterThan(10_000);
});

test('Kubernetes bounds what a pod reaches, and how many go at once', () => {
  const specOf = (kind: string): object | undefined =>
    manifests
      .map((document) => document.toJS() as { kind: string; spec: object })
      .find((manifest) => manifest.kind === kind)?.spec;
  expect(specOf('NetworkPolicy')).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
  expect(specOf('PodDisruptionBudget')).toMatchObject({ maxUnavailable: 1 });
});
