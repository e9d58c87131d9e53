import { Session } from 'node:inspector/promises';
import type { Profiler } from 'node:inspector/promises';

/** The stages of a pull by the files that do their work; the first that fits counts. */
const STAGES: readonly (readonly [stage: string, files: RegExp])[] = [
  [
    'receive',
    /undici|dist\/source\/http|node:(?:net|http|buffer|internal\/(?:stream|streams|js_stream|url|buffer))/,
  ],
  ['parse', /dist\/source|node:internal\/(?:encoding|crypto)/],
  ['commit', /dist\/mirror\/sqlite\/session|dist\/mirror\/postgres\/transaction/],
  ['SQL', /dist\/mirror|drizzle-orm|node_modules\/pg/],
  ['decode', /dist\/diff\/(?:decode-record|observe-fields)/],
  ['compare', /dist\/diff\/(?:judge-page|change-event)|dist\/pull\/land/],
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

/** Runs work under V8's profiler; tells the microseconds of each stage beside the result. */
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
  const visit = (id: number, caller: string | null): void => {
    const node = byId.get(id);
    if (node === undefined) return;
    const { url, functionName } = node.callFrame;
    const own = OWN.test(url) ? null : STAGES.find(([, files]) => files.test(url))?.[0];
    const stage = own === undefined ? (UNCALLED[functionName] ?? caller) : own;
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
