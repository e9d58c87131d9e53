import { existsSync, readFileSync } from 'node:fs';
import { Session, type Profiler, type Runtime } from 'node:inspector/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The stages of a pull by the files that do their work; the first that fits counts. */
const STAGES: readonly (readonly [stage: string, files: RegExp])[] = [
  [
    'receive',
    /undici|src\/source\/http|node:(?:net|http|buffer|internal\/(?:stream|streams|js_stream|url|buffer))/,
  ],
  ['parse', /src\/source|node:internal\/(?:encoding|crypto)/],
  ['commit', /src\/mirror\/sqlite\/session|src\/mirror\/postgres\/transaction/],
  ['SQL', /src\/mirror|drizzle-orm|node_modules\/pg/],
  ['decode', /src\/diff\/(?:decode-record|observe-fields)/],
  ['compare', /src\/diff\/(?:judge-page|change-event)|src\/pull\/land/],
  [
    'event loop',
    /node:(?:internal\/(?:timers|process|async_hooks|event_target|abort_controller)|events|timers)/,
  ],
];

/** The profiler itself. */
const OWN = /node:inspector/;

const UNCALLED: Readonly<Record<string, string>> = {
  '(garbage collector)': 'collector',
  '(idle)': 'waiting',
  '(program)': 'event loop',
  runMicrotasks: 'event loop',
};

/** Runs work under V8's profiler; returns the microseconds of each stage beside the result. */
export async function inStages<T>(
  work: () => Promise<T>,
): Promise<{ result: T; stages: Map<string, number> }> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 250 });
  await session.post('Profiler.start');
  const result = await work();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return { result, stages: stagesOf(profile) };
}

/** A function of no stage, such as a native one or one of `lib/`, counts for the stage that called it. */
function stagesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<string, number> {
  const stageOf = new Map<number, string | null>();
  const maps = new Map<string, SourceMap | null>();
  const visit = (id: number, caller: string | null): void => {
    const node = byId.get(id);
    if (node === undefined) return;
    const file = sourceOf(node.callFrame, maps);
    const own = OWN.test(file) ? null : STAGES.find(([, files]) => files.test(file))?.[0];
    const stage = own === undefined ? (UNCALLED[node.callFrame.functionName] ?? caller) : own;
    stageOf.set(id, stage);
    for (const child of node.children ?? []) visit(child, stage);
  };
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const child of nodes[0]?.children ?? []) visit(child, 'other');
  const stages = new Map<string, number>();
  for (const [at, id] of samples.entries()) {
    const stage = stageOf.get(id);
    if (typeof stage === 'string') stages.set(stage, (stages.get(stage) ?? 0) + (timeDeltas[at] ?? 0));
  }
  return new Map([...stages].sort(([, a], [, b]) => b - a));
}

/** The source file of a function of the bundle; of any other function, its own file. */
function sourceOf(
  { url, lineNumber, columnNumber }: Runtime.CallFrame,
  maps: Map<string, SourceMap | null>,
): string {
  if (!maps.has(url)) maps.set(url, readMap(url));
  const found = maps.get(url)?.findEntry(lineNumber, columnNumber);
  return found !== undefined && 'originalSource' in found ? found.originalSource : url;
}

function readMap(url: string): SourceMap | null {
  const path = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : '';
  if (!existsSync(path)) return null;
  return new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
}
