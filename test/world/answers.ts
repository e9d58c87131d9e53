import type { Random } from '../../sandbox/generate/draw.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Row } from './records.ts';
import type { Personality } from './traits.ts';

/** An answer as it leaves the service, or the intermediary before it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `lost`: nothing comes back. `unreachable`: no connection was made, so nothing was sent. */
export type Outcome = Answer | 'lost' | 'unreachable';

export const json = (status: number, body: string): Answer => ({
  status,
  body,
  headers: { 'content-type': 'application/json' },
});

export const failure = (status: number, message: string): Answer =>
  json(status, JSON.stringify({ success: false, message }));

const page = (status: number): Answer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<!doctype html><html><head><title>${status}</title></head><body><center>nginx</center></body></html>`,
});

/** One record that was asked for; undefined = there is none. */
export function recordAnswer(row: Row | undefined, { envelope }: Personality): Answer {
  return row === undefined ? failure(404, 'Record not found.') : json(200, ENVELOPES[envelope](row.text));
}

const ENVELOPES: Readonly<Record<Personality['envelope'], (text: string) => string>> = {
  'data and success': (text) => `{"data":${text},"success":true}`,
  data: (text) => `{"data":${text}}`,
  'array of one': (text) => `{"data":[${text}],"success":true}`,
  bare: (text) => text,
  'result and code': (text) => `{"data":${text},"success":true,"code":0,"message":"Saved."}`,
};

/** What comes back from a write that was carried out; `key` names the identifying fields. */
export function writtenAnswer(
  row: Row,
  {
    operation,
    kind,
    personality,
  }: {
    readonly operation: 'create' | 'update';
    readonly kind: ListedKind;
    readonly personality: Personality;
  },
): Answer {
  const { envelope, shown, named, status: words } = personality;
  if (operation === 'create' && named !== 'as drawn') return namedAnswer(named, row, kind.list.path);
  const status = operation === 'update' ? 200 : Number.parseInt(words, 10);
  if (status === 204) return { status, headers: {}, body: '' };
  if (status === 303)
    return { ...page(303), headers: { location: `/${row.id}`, 'content-type': 'text/html' } };
  const { text } = shownRow(row, kind, personality);
  const bodies: Readonly<Record<Personality['shown'], () => string>> = {
    whole: () => ENVELOPES[envelope](text),
    partly: () => ENVELOPES[envelope](text),
    altered: () => ENVELOPES[envelope](text),
    absent: () => '{"success":true}',
    'as a list': () =>
      `{"data":[${row.text}],"meta":{"current_page":1,"last_page":1,"per_page":1,"total":1},"success":true}`,
  };
  return json(status, bodies[shown]());
}

/** How far the numbers of jobs are from those of records: most are records' as well. */
const JOBS = [-3, 2, 500] as const;

function namedAnswer(named: Exclude<Personality['named'], 'as drawn'>, row: Row, path: string): Answer {
  const location = `${path}/${row.id}`;
  if (named === 'by the number of a job')
    return json(202, `{"data":{"id":${Number(row.id) + (JOBS[row.born % 3] ?? 0)},"status":"queued"}}`);
  if (named === 'by its id of 200') return json(200, `{"data":{"id":${row.id}},"success":true}`);
  if (named === 'nowhere') return { status: 201, headers: {}, body: '' };
  return named === 'by Location of 201'
    ? { status: 201, headers: { location }, body: '' }
    : { ...page(303), headers: { location, 'content-type': 'text/html' } };
}

/** The record as the answer to a write shows it. */
export function shownRow(row: Row, kind: ListedKind, { shown }: Personality): Row {
  if (shown !== 'partly' && shown !== 'altered') return row;
  const key = keyOf(kind);
  const name = key[0] ?? 'id';
  const content =
    shown === 'partly'
      ? { id: row.content['id'], [name]: row.content[name] }
      : { ...row.content, ...alter(row.content, key) };
  return { ...row, content, text: JSON.stringify(content) };
}

/** The fields by which people know a record. */
export const keyOf = ({ naturalKey }: ListedKind): readonly string[] =>
  naturalKey === 'all sent fields' ? ['name'] : naturalKey;

function alter(content: Row['content'], key: readonly string[]): Record<string, unknown> {
  const texts = key.filter((name) => typeof content[name] === 'string');
  return Object.fromEntries(texts.map((name) => [name, `${String(content[name])} (new)`]));
}

/** How the service, or what stands before it, says no. */
export function refusal({ refusal: how, refusedWith, retryAfter }: Personality, atMs: number): Answer {
  const status = Number(refusedWith);
  const answers: Readonly<Record<Personality['refusal'], () => Answer>> = {
    never: () => failure(status, 'Refused.'),
    'in its own JSON': () => failure(status, 'Refused.'),
    'as HTML of an intermediary': () => page(status),
    'as JSON of an intermediary': () => json(status, `{"error":{"code":${status}},"request_id":"f00"}`),
  };
  const answer = answers[how]();
  const after = { none: '', seconds: '7', 'a date': new Date(atMs + 9_000).toUTCString(), garbage: 'soon' }[
    retryAfter
  ];
  return after === '' ? answer : { ...answer, headers: { ...answer.headers, 'retry-after': after } };
}

/** What may come back instead of what was read. */
export function spoiltRead(
  answer: Answer,
  {
    personality,
    random,
    atMs,
  }: { readonly personality: Personality; readonly random: Random; readonly atMs: number },
): Outcome {
  const { reads } = personality;
  if (reads === 'sometimes lost') return 'lost';
  if (reads === 'sometimes refused')
    return refusal(
      {
        ...personality,
        refusal: 'as HTML of an intermediary',
        refusedWith: random.pick(['429', '502', '503', '504']),
      },
      atMs,
    );
  const cut = { ...answer, body: answer.body.slice(0, random.integer(0, answer.body.length - 1)) };
  return random.pick([page(200), cut, failure(200, 'Error'), json(200, '{"data":null,"success":true}')]);
}
