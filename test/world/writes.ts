import type { ListedKind } from '../../src/catalog/kind.ts';
import { failure, json, keyOf, refusal, writtenAnswer, type Answer, type Outcome } from './answers.ts';
import { isOut, latenessOf } from './lateness.ts';
import { updateInstead } from './lasting.ts';
import type { Content, Records } from './records.ts';
import { blankOf, recordsOf, type Inside, type Request, type Send } from './service.ts';
import { storedFields } from './stored.ts';

/** Carries out a POST or a PUT, at once, later or never, and answers it, or does not. */
export function write(inside: Inside, { method, target, body }: Request, atMs: number): Outcome {
  const operation = method === 'POST' ? 'create' : 'update';
  const kind = inside.kinds.find(({ create, update }) =>
    operation === 'create'
      ? create?.path === target
      : target.startsWith(update?.path.replace(':id', '') ?? '?'),
  );
  if (kind === undefined) return failure(404, 'There is no such path.');
  const id = operation === 'create' ? '' : (target.split('/').at(-1) ?? '');
  const { sends } = inside;
  const send: Send = {
    number: sends.length,
    kind: kind.name,
    operation,
    id,
    body,
    atMs,
    committed: null,
    outcome: 'answered',
  };
  sends.push(send);
  return answered(inside, send);
}

function answered(inside: Inside, send: Send): Outcome {
  const instead = insteadOf(inside, send);
  if (instead !== null) return instead;
  const { is, commits } = drawTrouble(inside, send.atMs) ?? DONE;
  send.outcome = is;
  if (is === 'unreachable') return 'unreachable';
  const reply = is === 'refused' ? refusal(inside.personality, send.atMs) : 'lost';
  const lateMs = latenessOf(inside, send, is);
  if (lateMs !== null) carryOutLater(inside, send, lateMs);
  if (lateMs !== null || !commits) return reply;
  return done(inside, send, is === 'answered' ? null : reply);
}

const DONE = { is: 'answered', commits: true } as const;

/** What comes of a write that is carried out as it is drawn. @param reply The answer in place of its own. */
function done(inside: Inside, send: Send, reply: Outcome | null): Outcome {
  const delayMs = drawDelay(inside, send);
  if (delayMs !== null) return putOff(inside, send, delayMs);
  const answer = commit(inside, send, send.atMs);
  return reply ?? answer;
}

/** What a PUT comes to while a trouble lasts; null = it is carried out. */
function insteadOf(inside: Inside, send: Send): Answer | null {
  if (send.operation === 'create') return null;
  const instead = updateInstead(inside, recordsOf(inside, send.kind), send.id, send.atMs);
  if (instead !== null) send.outcome = 'refused';
  return instead;
}

interface Trouble {
  readonly is: 'lost' | 'refused' | 'unreachable';
  /** The service has done it all the same. */
  readonly commits: boolean;
}

const DOWN: Trouble = { is: 'refused', commits: false };
const TROUBLED = 0.5;

function drawTrouble({ personality, random, isCalm, outage }: Inside, atMs: number): Trouble | null {
  if (isOut(outage, atMs)) return DOWN;
  const { lost, refusal: refuses, refusedWhen } = personality;
  const isRough = !isCalm && (lost !== 'never' || refuses !== 'never');
  if (!isRough || !random.chance(TROUBLED)) return null;
  const isLost = refuses === 'never' || (lost !== 'never' && random.chance(0.5));
  const when = isLost ? lost : refusedWhen;
  if (when === 'unreachable') return { is: 'unreachable', commits: false };
  const commits = when === 'before or after' ? random.chance(0.5) : when === 'after the commit';
  return { is: isLost ? 'lost' : 'refused', commits };
}

/** How much later the service does it; null = at once. */
function drawDelay({ personality, random, isCalm }: Inside, { operation }: Send): number | null {
  if (isCalm) return null;
  if (personality.commit === 'minutes later' && random.chance(TROUBLED))
    return random.integer(1, 600) * 1_000;
  return operation === 'update' && personality.put === 'late' ? random.integer(1, 60) * 1_000 : null;
}

function carryOutLater(inside: Inside, send: Send, delayMs: number): void {
  const atMs = send.atMs + delayMs;
  inside.putOff.push({
    atMs,
    act: () => {
      commit(inside, send, atMs);
    },
  });
}

function putOff(inside: Inside, send: Send, delayMs: number): Outcome {
  carryOutLater(inside, send, delayMs);
  send.outcome = 'put off';
  return inside.random.chance(0.5) ? json(202, '{"success":true}') : 'lost';
}

function commit(inside: Inside, send: Send, atMs: number): Answer {
  const { personality } = inside;
  const body = parsed(send.body);
  if (body === null) return failure(400, 'The body is not a JSON object.');
  const records = recordsOf(inside, send.kind);
  const id = carryOut(records, { send, body, atMs }, inside);
  const row = id === null ? undefined : records.find(id, atMs);
  if (id === null || row === undefined) return failure(404, 'Record not found.');
  send.committed = { atMs, id };
  return writtenAnswer(row, {
    operation: send.operation,
    kind: records.kind,
    personality,
  });
}

interface Order {
  readonly send: Send;
  readonly body: Content;
  readonly atMs: number;
}

/** Null where there is no such record. */
function carryOut(records: Records, { send, body, atMs }: Order, { personality }: Inside): string | null {
  const { operation, id, number } = send;
  const fields = storedFields(records.kind, body, personality);
  const actor = { send: number };
  if (operation === 'create') return records.create(fields, atMs, actor);
  if (records.find(id, atMs) === undefined) return null;
  const whole = personality.put === 'whole' ? { ...blanked(records.kind), ...fields } : fields;
  if (personality.put !== 'ignored') records.edit(id, whole, { atMs, actor });
  return id;
}

/** The texts that a write may name, emptied: what a PUT leaves out is gone where it replaces the whole record. */
function blanked(kind: ListedKind): Content {
  const blank = blankOf(kind);
  const texts = kind.fields.filter(({ name, type }) => type === 'text' && !keyOf(kind).includes(name));
  return Object.fromEntries(texts.map(({ name }) => [name, blank[name]]));
}

function parsed(body: string): Content | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Content) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
