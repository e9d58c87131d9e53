import { sql } from 'drizzle-orm';
import { NOON_TEXT, kindNamed, putRecords, tempMirror } from '../store/temp-mirror.ts';
import { serveMirror } from '../http/stage.ts';

/** What `/metrics` exports. */
export interface Exported {
  /** Each metric, with its type and the labels that it carries. */
  readonly metrics: ReadonlyMap<string, Metric>;
  /** The values of the label `state`. */
  readonly states: ReadonlySet<string>;
}

interface Metric {
  readonly type: string;
  readonly labels: ReadonlySet<string>;
}

/** Scrapes a fully known mirror, by a process that has answered and refused, with a queue. */
export async function exportedMetrics(): Promise<Exported> {
  const session = await tempMirror([kindNamed('clients'), kindNamed('products')]);
  await session.atomically(async (tx) => {
    await putRecords(tx, 'clients', [{ id: '1' }]);
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, last_sweep_at, certified_at, last_change_at, epoch)
      values ('clients', 0, 'certified', 1, ${NOON_TEXT}, ${NOON_TEXT}, ${NOON_TEXT}, 1)`);
    await tx.query(sql`
      insert into webhook_endpoints (name, public_id, url, cursor) values ('erp', 'p', 'https://example.com/', 0)`);
  });
  const stage = await serveMirror(session, { queueMetrics: () => Promise.resolve('') });
  await stage.get('/v1/runs', { authorization: 'Bearer wrong' });
  const text = await (await stage.get('/metrics')).text();
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
  }));
  return {
    metrics: new Map(types.map(({ name, type }) => [name, { type, labels: labelsOf(text, name, type) }])),
    states: new Set([...text.matchAll(/\{state="(\w+)"\}/g)].map(([, state = '']) => state)),
  };
}

function labelsOf(text: string, name: string, type: string): ReadonlySet<string> {
  const lines = text.matchAll(
    new RegExp(`^${name}${type === 'histogram' ? '_bucket' : ''}\\{(.*)\\} `, 'gm'),
  );
  const labels = [...lines].flatMap(([, list = '']) => [...list.matchAll(/(\w+)="/g)]);
  return new Set(labels.map(([, label = '']) => label));
}

const WORDS = ['and', 'or', 'unless', 'offset', 'bool'];
const ADDED_BY_PROMETHEUS = ['job', 'instance'];
const OF_PROMETHEUS = 'up';

/** The metrics that an expression of PromQL names. */
export function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\b(?:by|on|without|ignoring)\s*\([^)]*\)/g, '');
  const names = [...bare.matchAll(/(?<!\w)[a-z_:][\w:]*(?!\w|\s*\()/gi)].map(([name]) => name);
  return names.filter((name) => !WORDS.includes(name));
}

/** The metrics, labels and states of an expression that are not exported. */
export function faultsIn(expression: string, { metrics, states }: Exported): string[] {
  const metric = (name: string): Metric | undefined => {
    const base = metrics.get(name.replace(/_(?:bucket|sum|count)$/, ''));
    return base?.type === 'histogram' ? base : metrics.get(name);
  };
  const unknown = metricsIn(expression).filter(
    (name) => name !== OF_PROMETHEUS && metric(name) === undefined,
  );
  const labels = [...expression.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, name = '', selector = '']) =>
    [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)]
      .map(([, label = '']) => label)
      .filter((label) => !ADDED_BY_PROMETHEUS.includes(label) && metric(name)?.labels.has(label) !== true)
      .map((label) => `${name} has no label ${label}`),
  );
  const named = [...expression.matchAll(/state="(\w+)"/g)].map(([, state = '']) => state);
  return [...unknown, ...labels, ...named.filter((state) => !states.has(state))];
}
