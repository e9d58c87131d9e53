import { hash, type Random } from '../../sandbox/generate/draw.ts';
import { failure, json, type Answer } from './answers.ts';
import { isOurs, type Records, type Row } from './records.ts';
import { listedRow } from './spelled.ts';
import type { Personality } from './traits.ts';

/** A trouble that outlasts patience, as the service has it in itself. */
export interface Lasting {
  /** From when until when it lasts; what lasts for ever does not mind the end. */
  fromMs: number;
  untilMs: number;
  /** By kind, the records that those without rights do not see. */
  readonly hidden: Map<string, ReadonlySet<string>>;
  /** By kind, records that are forbidden alone, or that no list shows any more. */
  readonly apart: Map<string, ReadonlySet<string>>;
  /** How many rows of a kind a cut list has. */
  readonly most: ReadonlyMap<string, number>;
  /** What becomes of a single record that a list does not show. */
  readonly unseen: 'answers' | 'forbidden' | 'not found';
  readonly unlisted: (typeof UNLISTED)[number];
  /** How much later our own writes are shown in lists. */
  readonly laterMs: number;
  /** From when until when no single record is found, in turn. */
  readonly edges: number[];
  /** How often something was looked at. */
  looks: number;
  /** How many pages were asked for. */
  turns: number;
  /** Whether the user who asks has all rights. */
  seesAll: boolean;
}

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
const UNLISTED = ['inactive', 'forbidden', 'a sign-in page', 'null'] as const;

export function createLasting(
  { token }: Personality,
  all: ReadonlyMap<string, Records>,
  random: Random,
): Lasting {
  const unseen = random.pick(['answers', 'forbidden', 'not found'] as const);
  return {
    fromMs: Infinity,
    untilMs: Infinity,
    hidden: new Map(),
    apart: new Map(),
    most: new Map([...all].map(([kind, records]) => [kind, records.at(0).length])),
    unseen: token === 'one user’s' ? unseen : 'not found',
    unlisted: random.pick(UNLISTED),
    laterMs: random.integer(1, 6) * HOUR,
    edges: [],
    looks: 0,
    turns: 0,
    seesAll: false,
  };
}

/** A service with what lasts in it. */
interface Troubled {
  readonly personality: Personality;
  readonly random: Random;
  readonly records: ReadonlyMap<string, Records>;
  readonly lasting: Lasting;
}

/** The trouble begins: from now on it is known which records it is about. */
export function beginLasting(
  { personality, random, records, lasting }: Troubled,
  fromMs: number,
  untilMs: number,
): void {
  lasting.fromMs = fromMs;
  lasting.untilMs = untilMs;
  for (const [kind, known] of records) {
    const rows = known.at(fromMs).toSorted((a, b) => hash(`h${a.id}`) - hash(`h${b.id}`));
    if (personality.rights !== 'kept') lasting.hidden.set(kind, hiddenOf(rows, personality));
    if (personality.token !== 'one user’s')
      lasting.hidden.set(kind, new Set(rows.slice(0, random.pick(HIDDEN_FROM_OTHER)).map(({ id }) => id)));
    const old = rows.filter(({ id }) => !isOurs(known, id)).toSorted((a, b) => a.born - b.born);
    lasting.apart.set(kind, new Set(old.slice(0, random.integer(1, 2)).map(({ id }) => id)));
  }
  for (let at = fromMs; at < fromMs + 6 * HOUR;) {
    at += random.integer(30_000, 20 * MINUTE);
    lasting.edges.push(at);
    at += random.integer(6_000, 10 * MINUTE);
    lasting.edges.push(at);
  }
}

/** How many records another user does not see: so few could as well have been deleted. */
const HIDDEN_FROM_OTHER = [1, 1, 2, 3, 8] as const;

/** Fewer than three, or than a third, could as well have been deleted: who sees only the lists cannot know. */
const LEAST_HIDDEN = 3;

function hiddenOf(rows: readonly Row[], { rights }: Personality): ReadonlySet<string> {
  const share = rights === 'most lost of few' ? 0.6 : 0.5;
  const count = Math.max(LEAST_HIDDEN, Math.ceil(rows.length * share));
  return new Set(rows.length <= LEAST_HIDDEN ? [] : rows.slice(0, count).map(({ id }) => id));
}

/** For some minutes nothing is there. */
const isDown = ({ personality, lasting }: Troubled, atMs: number): boolean =>
  personality.downtimes !== 'none' && lasting.edges.filter((edge) => edge <= atMs).length % 2 === 1;

const isOn = ({ fromMs, untilMs }: Lasting, atMs: number): boolean => atMs >= fromMs && atMs < untilMs;

/** What of a kind lists show at an instant, and how. */
export function listedRows(inside: Troubled, records: Records, ofMs: number, atMs: number): readonly Row[] {
  const { personality, lasting } = inside;
  if (isDown(inside, atMs) || (personality.maintenance !== 'none' && isOn(lasting, atMs))) return [];
  const shown = records.at(ofMs).filter((row) => !isLeftOut(inside, records, row, { ofMs, atMs }));
  const rows = shown.flatMap((row) => timely(inside, records, row, ofMs));
  const cut =
    personality.cut === 'whole' ? rows : rows.toSorted(byCode).slice(0, lasting.most.get(records.kind.name));
  return cut.map((row) => listedRow(row, records.kind, personality, lasting.looks++));
}

const keyOf = ({ content }: Row): string => {
  const key = content['code'] ?? content['nom'];
  return typeof key === 'string' ? key : '';
};
const byCode = (a: Row, b: Row): number =>
  keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : a.born - b.born;

interface When {
  readonly ofMs: number;
  readonly atMs: number;
}

function isLeftOut(inside: Troubled, records: Records, row: Row, { atMs }: When): boolean {
  const { personality, lasting } = inside;
  const { name } = records.kind;
  if (personality.unlisted !== 'none' && atMs >= lasting.fromMs && isApart(lasting, name, row.id))
    return true;
  if (personality.window !== 'whole' && row.born < dropped(inside, records, atMs)) return true;
  return isHidden(lasting, records, row.id, atMs) || waitsForApproval(inside, records, row.id, atMs);
}

const isApart = ({ apart }: Lasting, kind: string, id: string): boolean => apart.get(kind)?.has(id) === true;

/** Of the records that came later, those without rights see one half, too. */
function isHidden(lasting: Lasting, records: Records, id: string, atMs: number): boolean {
  const hidden = lasting.hidden.get(records.kind.name);
  if (lasting.seesAll || hidden === undefined || hidden.size === 0 || !isOn(lasting, atMs)) return false;
  const isNew = records.find(id, lasting.fromMs) === undefined;
  return hidden.has(id) || (isNew && hash(`h${id}`) % 2 === 0);
}

function waitsForApproval(
  { personality, lasting }: Troubled,
  records: Records,
  id: string,
  atMs: number,
): boolean {
  if (personality.approval === 'none' || atMs < lasting.fromMs || !isOurs(records, id)) return false;
  const made = records.actions.findLast((action) => action.id === id && action.is === 'created');
  if ((made?.atMs ?? 0) < lasting.fromMs || (made?.atMs ?? 0) >= lasting.untilMs) return false;
  return personality.approval === 'of creates, for ever' || atMs < lasting.untilMs;
}

const WAVE_MS = 3 * HOUR;

/** How many of the oldest records are outside a list of the newest ones. */
function dropped({ personality, lasting }: Troubled, records: Records, atMs: number): number {
  if (atMs < lasting.fromMs) return 0;
  const waves = 1 + Math.floor((Math.min(atMs, lasting.untilMs) - lasting.fromMs) / WAVE_MS);
  const first = lasting.most.get(records.kind.name) ?? 0;
  return Math.min(Math.max(0, first - 3), waves * (personality.window === 'by threes' ? 3 : 1));
}

/** The record as lists show it where what we write is shown late; none where they do not show it yet. */
function timely(
  { personality, lasting }: Troubled,
  records: Records,
  row: Row,
  ofMs: number,
): readonly Row[] {
  if (personality.ownShown === 'at once') return [row];
  const since = ofMs - lasting.laterMs;
  const early = records.actions.find(
    ({ id, actor, atMs }) => id === row.id && typeof actor === 'object' && atMs > since && atMs <= ofMs,
  );
  if (early === undefined || early.is === 'deleted' || early.is === 'restored') return [row];
  return early.before === null ? [] : [early.before];
}

/** What becomes of a single record that is asked for; null = it is answered as usual. */
export function singleInstead(inside: Troubled, records: Records, id: string, atMs: number): Answer | null {
  const { personality, lasting } = inside;
  const { name } = records.kind;
  const isThere = records.find(id, atMs) !== undefined;
  if (isDown(inside, atMs)) return NOT_FOUND;
  if (!isThere) return null;
  if (personality.maintenance !== 'none' && isOn(lasting, atMs)) return UNSEEN[lasting.unseen];
  if (isHidden(lasting, records, id, atMs)) return UNSEEN[lasting.unseen] ?? FORBIDDEN;
  if (waitsForApproval(inside, records, id, atMs)) return UNSEEN[lasting.unseen];
  if (atMs < lasting.fromMs || !isApart(lasting, name, id)) return null;
  if (personality.unlisted !== 'none') return APART[lasting.unlisted];
  return personality.forbidden === 'to read' ? FORBIDDEN : null;
}

/** What a PUT comes to instead of being done; null = it is done as usual. */
export function updateInstead(
  { personality, lasting }: Troubled,
  records: Records,
  id: string,
  atMs: number,
): Answer | null {
  if (isHidden(lasting, records, id, atMs)) return lasting.unseen === 'not found' ? NOT_FOUND : FORBIDDEN;
  const isForbidden =
    personality.forbidden !== 'none' && atMs >= lasting.fromMs && isApart(lasting, records.kind.name, id);
  return isForbidden ? FORBIDDEN : null;
}

const NOT_FOUND = failure(404, 'Record not found.');
const FORBIDDEN = failure(403, 'This action is unauthorized.');
const SIGN_IN: Answer = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><html><head><title>Sign in</title></head><body></body></html>',
};

const UNSEEN: Readonly<Record<Lasting['unseen'], Answer | null>> = {
  answers: null,
  forbidden: FORBIDDEN,
  'not found': NOT_FOUND,
};

const APART: Readonly<Record<Lasting['unlisted'], Answer | null>> = {
  inactive: null,
  forbidden: FORBIDDEN,
  'a sign-in page': SIGN_IN,
  null: json(200, '{"data":null,"success":true}'),
};

/** For how long a page is kept where they are kept for hours; 0 = it is not. */
export function keptMs({ personality, lasting }: Troubled, target: string, atMs: number): number {
  if (personality.keeping === 'short' || !isOn(lasting, atMs)) return 0;
  return (20 + (hash(target) % 50)) * MINUTE;
}
