import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import type { HttpAnswer } from '../../src/source/http/http.ts';
import { presenceAt } from './ledger.ts';
import { addMeta, listBody, readRows } from './list-page.ts';
import type { Asked, Lie, PageDraft, Paging, Scene } from './list-page.ts';
import type { RetrieveLie } from './personalities.ts';
import type { World } from './world.ts';

/** One kind as the service shows it: its world, cut into pages, with its way of lying. */
export interface ServedKind {
  readonly world: World;
  readonly paging: Paging;
  /** Replaced by an honest one once the service behaves. */
  lie: Lie;
  retrieve: RetrieveLie | undefined;
}

/** An answer that is being made: rows and total may be read at different instants. */
export interface Reading {
  readonly readRows: (nowMs: number, random: Random) => void;
  readonly readTotal: (nowMs: number, random: Random) => void;
  readonly answer: () => HttpAnswer;
}

export function answerTo(served: readonly ServedKind[], target: string): Reading {
  const url = new URL(target, 'http://service');
  const list = served.find(({ world }) => world.kind.list.path === url.pathname);
  if (list) return listReading(list, url.searchParams);
  const one = served.find(({ world: { kind } }) => isRecordOf(kind, url.pathname));
  const id = url.pathname.split('/').at(-1) ?? '';
  return one ? recordReading(one, id) : fixedReading(recordOfAnotherKind(id));
}

/** A misprinted path answers with whatever has the same number in another table. */
function recordOfAnotherKind(id: string): HttpAnswer {
  return /[02468]$/.test(id) ? json(200, `{"id":${id},"name":"of another kind"}`) : nothingThere();
}

function listReading(kind: ServedKind, query: URLSearchParams): Reading {
  const [page, perPage] = [query.get('page'), query.get('per_page')];
  const asked: Asked = { page: Number(page ?? 1), perPage: perPage === null ? null : Number(perPage) };
  const { lie, paging, world } = kind; // As it was when the request came in.
  let draft: PageDraft | null = null;
  let addTotal = (rows: PageDraft): PageDraft => rows;
  const scene = (nowMs: number, random: Random): Scene => ({ world, nowMs, random });
  return {
    readRows: (nowMs, random) => (draft = readRows(paging, asked, { lie, scene: scene(nowMs, random) })),
    readTotal: (nowMs, random) => {
      addTotal = (rows) => addMeta(paging, rows, { lie, scene: scene(nowMs, random) });
    },
    answer: () => json(200, draft === null ? '' : listBody(addTotal(draft))),
  };
}

function recordReading(kind: ServedKind, id: string): Reading {
  const { retrieve } = kind;
  let answer = nothingThere();
  return {
    readRows: (nowMs, random) => {
      const text = retrieve === 'gone' ? undefined : textAt(kind.world, id, nowMs);
      if (retrieve === 'web page' && !isShown(kind, id, { nowMs, random }))
        answer = json(404, '<html>Not found');
      else if (text !== undefined) answer = json(200, `{"data":${text},"success":true}`);
    },
    readTotal: () => undefined,
    answer: () => answer,
  };
}

function textAt({ ledger }: World, id: string, nowMs: number): string | undefined {
  const history = ledger.histories.get(id);
  if (history === undefined || presenceAt(history, nowMs) !== 'listed') return undefined;
  return history.states.findLast(({ sinceMs }) => sinceMs <= nowMs)?.text;
}

/** Whether the list, with its way of lying, shows a record. */
function isShown({ world, lie }: ServedKind, id: string, at: Omit<Scene, 'world'>): boolean {
  const list = world.listAt(at.nowMs);
  return (lie.list?.(list, { world, ...at }) ?? list).some((row) => row.id === id);
}

function fixedReading(answer: HttpAnswer): Reading {
  return { readRows: () => undefined, readTotal: () => undefined, answer: () => answer };
}

/** The service's own words for what it does not have. */
export function nothingThere(): HttpAnswer {
  return json(404, '{"message":"Not found.","success":false}');
}

function isRecordOf({ retrieve }: ListedKind, path: string): boolean {
  if (retrieve === null || retrieve.misprint !== undefined) return false;
  return path.startsWith(retrieve.path.replace(':id', ''));
}

function json(status: number, body: string): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json' }, bytes: Buffer.from(body) };
}
