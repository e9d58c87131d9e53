import type { HttpClient, SendRequest, SentAnswer } from '../../src/source/http/http.ts';
import { isObject, parseJson } from '../../src/lib/json/json.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { textOf } from '../simulation/records.ts';
import { openNetwork } from '../simulation/network.ts';
import { Killed } from '../simulation/watched-session.ts';
import type { Life } from '../simulation/watched-session.ts';
import { answerTo, refused } from './answers.ts';
import { committedAfter, drawFate } from './fates.ts';
import type { Fate } from './fates.ts';
import type { Service, Stage } from './stage.ts';
import { working } from './working.ts';
import { storedFields } from './written-value.ts';

/** A write that has left us. */
export interface Send {
  readonly number: number;
  /** The entry that it was sent for. */
  readonly entry: number;
  readonly epoch: number;
  readonly kind: string;
  readonly operation: 'create' | 'update';
  readonly body: JsonObject;
  readonly fate: Fate | 'refused';
  readonly atMs: number;
  /** When reading began of what it was made from; null for a create. */
  readonly readSince: number | null;
  /** When the service did it, and to which record. */
  committed: { readonly atMs: number; readonly id: string } | null;
}

const DEADLINE_MS = 30_000;

/** The way to the simulated service, of one process. */
export function openWritableNetwork(stage: Stage, life: Life): HttpClient {
  const { timeline, random, services, alsoServed } = stage;
  const reading = openNetwork({
    ...{ timeline, random, served: [...alsoServed, ...services.map(({ served }) => served)] },
    plan: () => stage.reads,
    trace: stage.say,
  });
  return {
    ...reading,
    get: async (request, signal) => {
      if (life.isOver) throw new Killed();
      const answer = await reading.get(request, signal);
      const inHand = working.getStore();
      if (inHand?.operation === 'update' && !inHand.hasWritten) stage.onRead(inHand);
      return answer;
    },
    send: (request, signal) => {
      timeline.stir();
      if (life.isOver) return Promise.reject(new Killed());
      return new Promise((resolve) => {
        const answered = send(stage, request, resolve);
        signal.addEventListener(
          'abort',
          () => {
            answered();
            resolve({ is: 'lost', why: 'interrupted' });
          },
          { once: true },
        );
      });
    },
  };
}

/** Plans what will happen to a write: when the service does it, and what is answered; returns what calls the answer off. */
function send(stage: Stage, request: SendRequest, resolve: (answer: SentAnswer) => void): () => void {
  const { timeline, random, say } = stage;
  const service = serviceOf(stage, request);
  const sent = note(stage, service, request);
  const { fate } = sent;
  say(`→ ${request.where} for ${sent.entry} (${fate}) ${request.body}`);
  const isSlow = (fate === 'late' || fate.startsWith('dropped')) && random.chance(0.5);
  const tookMs = isSlow ? DEADLINE_MS : random.integer(1, stage.schedule.slowestWriteMs);
  const target = request.target.split('/').at(-1) ?? '';
  const there = { id: target, text: null as string | null };
  const commit = (): void => {
    there.id = carryOut(service, sent, target);
    const content = service.world.content(there.id);
    there.text = content ? textOf(content) : null;
    if (there.text !== null) sent.committed = { atMs: timeline.nowMs(), id: there.id };
  };
  const latestMs = stage.schedule.latestCommitMs;
  const afterMs = fate === 'refused' ? undefined : committedAfter(fate, { random, latestMs });
  if (afterMs === null) timeline.after(random.integer(0, tookMs), commit);
  else if (afterMs !== undefined) timeline.after(tookMs + afterMs, commit);
  if (stage.schedule.replays && random.chance(0.3)) timeline.after(tookMs + 60_000, commit);
  return timeline.after(tookMs, () => {
    const answer = fate === 'refused' ? refused() : answerTo(fate, there, { shape: service.shape, random });
    say(`← ${request.where} ${answer.is === 'answered' ? Buffer.from(answer.bytes).toString() : answer.why}`);
    timeline.stir();
    resolve(answer);
  });
}

function serviceOf({ services }: Stage, { method, target }: SendRequest): Service {
  const service = services.find(({ world: { kind } }) =>
    method === 'POST'
      ? kind.create?.path === target
      : target.startsWith((kind.update?.path ?? '?').replace(':id', '')),
  );
  if (service === undefined) throw new TypeError(`Nothing is served under ${target}.`);
  return service;
}

function note(stage: Stage, { world }: Service, { method, body }: SendRequest): Send {
  const { random, sends, timeline, schedule } = stage;
  const inHand = working.getStore();
  if (inHand === undefined) throw new TypeError('A write was sent outside of any work.');
  inHand.hasWritten = true;
  const value = parseJson(body);
  const isBarred = stage.barred.has(world.kind.name);
  const sent: Send = {
    ...{ number: sends.length, entry: inHand.entry, epoch: inHand.epoch, kind: world.kind.name },
    operation: method === 'POST' ? 'create' : 'update',
    body: isObject(value) ? value : {},
    fate: isBarred ? 'refused' : drawFate(random, stage.isCalm ? 0 : schedule.troubles, schedule.faults),
    atMs: timeline.nowMs(),
    ...{ readSince: inHand.readSince, committed: null },
  };
  sends.push(sent);
  return sent;
}

/** What the service does with a write; returns the id of the record. */
function carryOut(
  { world, normalizer }: Service,
  { fate, body, operation, number }: Send,
  id: string,
): string {
  const fields = storedFields(world.kind, body, normalizer);
  if (fate === 'ignores a field') fields.delete([...fields.keys()].at(-1) ?? '');
  const doer = { send: number };
  if (operation === 'create') return world.create(fields, doer);
  world.edit(id, fields, doer);
  return id;
}
