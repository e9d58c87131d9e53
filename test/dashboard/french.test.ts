import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import french from '../../src/lib/text/locales/fr.json' with { type: 'json' };
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { AbsenceState } from '../../src/diff/absence.ts';
import { saveCheck } from '../../src/store/integrity-check.ts';
import { freeze } from '../../src/store/outbox/freeze-store.ts';
import { saveBlock } from '../../src/store/outbox/outbox-queue.ts';
import { insertPlan } from '../../src/features/plans/store.ts';
import { appendChanges } from '../../src/store/records/change-store.ts';
import { saveAbsences } from '../../src/store/records/deletion-store.ts';
import { insertUser } from '../../src/store/users/user-store.ts';
import { VERDICTS } from '../../src/words/verdicts.ts';
import { ENTRY_STATES } from '../../src/outbound/decisions/entry-list.ts';
import { TOKEN, serveMirror } from '../http/stage.ts';
import { NOON, NOON_TEXT, putRecords, tempMirror } from '../store/temp-mirror.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { linksIn, ourTextsIn } from './visible-text.ts';

const wordsOf = (texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => text.toLowerCase().match(/\p{L}+/gu) ?? []));

const NOT_ENGLISH = wordsOf(Object.values(french));

/** Words of our English texts and technical names, which no French text has. */
const ENGLISH = new Set(
  [...wordsOf(Object.keys(french)), ...KINDS.map(({ name }) => name)].filter(
    (word) => !NOT_ENGLISH.has(word),
  ),
);

/** The texts of a page that have an English word. */
const englishIn = (page: string): readonly string[] =>
  ourTextsIn(page).filter((text) => [...wordsOf([text])].some((word) => ENGLISH.has(word)));

/** The coloured words of a page. */
const statesIn = (page: string): readonly string[] =>
  [...page.matchAll(/<span class="state [a-z]+"[^>]*>([^<]+)</g)].map(([, state = '']) => state);

const SAID: ReadonlySet<string> = new Set(Object.values(french));

type Rows = readonly (readonly (string | number | null)[])[];

/** Something of everything that a page may show. */
async function everything(session: Session): Promise<void> {
  const put = (table: string, columns: readonly string[], rows: Rows): Promise<void> =>
    session.atomically((tx) => tx.insertRows({ table, columns, rows }));
  // prettier-ignore
  const states: readonly AbsenceState[] = [
    'suspected', 'held', 'approved', 'rejected', 'unlisted',
  ];
  const absence = { sweep: 1, absentSince: NOON, firstGoneAt: null, isCertified: true, lastSeenAt: null };
  const ids = ['1', '2', '3', '4', '5', '6', '7'];
  const raw = (id: string): string => JSON.stringify({ id, code: `C-${id}`, contacts: [{ nom: 'Zoé' }] });
  await session.atomically(async (tx) => {
    const deleted = { id: '8', _raw: raw('8'), _deleted_at: NOON_TEXT };
    await putRecords(tx, 'clients', [...ids.map((id) => ({ id, _raw: raw(id) })), deleted]);
    await saveAbsences(
      tx,
      'clients',
      states.map((state, at) => ({ ...absence, id: String(at + 1), state })),
    );
    for (const change of ['created', 'updated', 'deleted', 'restored'] as const) {
      const event = { recordId: '7', change, observedFrom: NOON_TEXT, before: '{}', after: raw('7') };
      const fields = JSON.stringify(Object.fromEntries(ids.map((id) => [`n${id}`, ['1', '2']])));
      const events = [{ ...event, fields }] as never;
      await appendChanges(tx, { kind: 'clients', events, origin: 'outbox:1', runId: 1, now: NOON });
    }
    await saveBlock(tx, { kind: 'products', reason: 'forbidden', now: NOON, probeAt: NOON });
    await saveCheck(tx, ['row 5 is missing from the index'], NOON);
    await freeze(tx, 'the mirror has creates that are not in its outbox', NOON);
    const change = { position: 2, operation: 'update', recordId: '7', refusal: 'it is gone' } as const;
    const cells = '[{"field":"code","old":"C-7","new":"C-77"}]';
    const plan = { kind: 'clients', origin: 'clients.csv', createdBy: 'Ada', createdAt: NOON_TEXT };
    await insertPlan(tx, plan, [{ ...change, cells }]);
    await insertUser(tx, { name: 'Marie', role: 'operator', token: MARIE });
  });
  const awaited = JSON.stringify({ awaits: { since: NOON_TEXT, why: 'it was never read' } });
  const entries = Object.keys(VERDICTS).map((verdict): readonly [string, string | null] => [
    'parked',
    verdict,
  ]);
  const inStates = ENTRY_STATES.map((state): readonly [string, string | null] => [state, null]);
  await put(
    'outbox',
    // prettier-ignore
    [
      'idempotency_key', 'kind', 'operation', 'record_id', 'payload', 'state', 'verdict', 'result',
      'settlement',
    ],
    [...entries, ...inStates].map(([state, verdict], at) => {
      const settlement = verdict === 'twins' ? '{"ids":["7"]}' : state === 'ready' ? awaited : null;
      return [
        `k${at}`,
        'clients',
        at === 1 ? 'update' : 'create',
        '7',
        '{"nom":"Zoé"}',
        state,
        verdict,
        '{"conflicts":[{"field":"nom"}]}',
        settlement,
      ];
    }),
  );
  const grades = ['accepted', 'rejected', 'unsent', 'ambiguous', null];
  await put(
    'outbox_attempts',
    ['outbox_id', 'n', 'opened_at', 'closed_at', 'grade', 'status', 'request', 'response_start'],
    grades.map((grade, at) => [
      1,
      at,
      NOON_TEXT,
      grade === null ? null : NOON_TEXT,
      grade,
      200,
      'POST /',
      '{}',
    ]),
  );
  const RUN_STATES = ['requested', 'running', 'done', 'incomplete', 'failed', 'interrupted'];
  await put(
    'runs',
    ['command', 'kinds', 'state', 'reason', 'requested_at', 'started_at', 'finished_at'],
    RUN_STATES.map((state) => {
      const times =
        state === 'requested' ? [null, null] : [NOON_TEXT, state === 'running' ? null : NOON_TEXT];
      return [
        'pull',
        '["clients","products","projects","punches"]',
        state,
        'kinds_failed',
        NOON_TEXT,
        ...times,
      ];
    }),
  );
  const NUMBERS = ['pages', 'rows', 'created', 'updated', 'deleted', 'restored', 'unchanged', 'quarantined'];
  const OTHERS = ['requests', 'retries', 'duration_ms'];
  const ENDS: Rows = [
    [4, 'clients', 'complete', 'rows_unseen', 'figures of the pages', NOON_TEXT],
    [4, 'products', 'aborted', 'unavailable', 'page 3 of clients answered 502', NOON_TEXT],
    [5, 'clients', 'invalid', 'html', 'a web page', NOON_TEXT],
    [3, 'clients', 'certified', null, null, NOON_TEXT],
  ];
  await put(
    'run_kinds',
    ['run_id', 'kind', 'state', 'reason', 'detail', 'started_at', ...NUMBERS, ...OTHERS],
    ENDS.map((row) => [...row, ...[...NUMBERS, ...OTHERS].map((_, at) => at)]),
  );
  await put(
    'webhook_endpoints',
    // prettier-ignore
    [
      'name', 'public_id', 'url', 'kinds', 'changes', 'cursor', 'state', 'disabled_reason', 'failures',
      'failing_since', 'failing_told_at',
    ],
    [
      ['erp', 'a', 'https://example.com/', null, null, 7, 'disabled', 'gone', 0, null, null],
      [
        'shop',
        'b',
        'https://example.com/',
        '["clients"]',
        '["updated"]',
        7,
        'active',
        null,
        3,
        NOON_TEXT,
        NOON_TEXT,
      ],
      ['ok', 'c', 'https://example.com/', null, null, 7, 'active', null, 0, null, null],
    ],
  );
  await put(
    'webhook_deliveries',
    ['endpoint_id', 'webhook_id', 'type', 'kind', 'record_id', 'seq', 'state', 'error'],
    ['ready', 'waiting', 'delivered', 'failed', 'dropped'].map((state, at) => [
      1,
      state,
      'clients.updated',
      at === 0 ? null : 'clients',
      '7',
      1,
      state,
      'timeout',
    ]),
  );
  const columns = ['kind', 'record_id', 'field', 'code', 'detail', 'first_seen_at', 'closed_at'];
  const codes = [
    ...codesIn('diff/decode-record.ts', 'type MisfitCode ='),
    ...codesIn('diff/compare-page.ts', 'type IdFault ='),
  ];
  await put(
    'issues',
    columns,
    [
      ...codes,
      'twins',
      'too_deep',
      'two_versions',
      'too_many_rows',
      'retrieve_unusable',
      'baseline_uncertified',
    ].map((code, at) => [
      'clients',
      '7',
      'nom',
      code,
      'What is this?',
      NOON_TEXT,
      at === 0 ? NOON_TEXT : null,
    ]),
  );
  await put(
    'drift',
    ['kind', 'code', 'field', 'detail', 'seen_at'],
    codesIn('store/tables/engine-tables.ts', '.$type<\n      | (').map((code) => [
      'clients',
      code,
      'nom',
      'sent as text',
      NOON_TEXT,
    ]),
  );
}

const SRC = join(import.meta.dirname, '../../src');

/** The codes of a union of types, which stands behind these words. */
function codesIn(file: string, words: string): readonly string[] {
  const [, union = ''] = readFileSync(join(SRC, file), 'utf8').split(words);
  const [codes = ''] = union.split(/;|>\(/);
  return [...codes.matchAll(/'(\w+)'/g)].map(([, code = '']) => code);
}

const MARIE = 'the-token-of-marie-of-the-french-pages';
const FRENCH = { 'accept-language': 'fr' };

test('no page has an English word of ours for who reads French', async () => {
  const session = await tempMirror(TWO_KINDS);
  await everything(session);
  const stage = await serveMirror(session, { plans: { approvals: 1 } });
  const signedIn = { ...FRENCH, authorization: `Bearer ${TOKEN}` };
  for (const done of ['pull', 'retry', 'approve'])
    expect(englishIn(await (await stage.get(`/?done=${done}`, signedIn)).text())).toEqual([]);
  await stage.post('/outbox/1/abandon', {}, signedIn);
  // prettier-ignore
  const ways = [
    '/', '/find?q=zoe', '/find?q=nothing', '/runs/99', '/changes?kind=zzz', '/changes?before=x',
  ];
  const seen = new Set(ways);
  for (const way of seen) {
    const page = await (await stage.get(way, signedIn)).text();
    expect([way, englishIn(page)]).toEqual([way, []]);
    expect([way, statesIn(page).filter((state) => !SAID.has(state))]).toEqual([way, []]);
    for (const link of linksIn(page).filter((to) => !to.startsWith('/v1/'))) seen.add(link);
  }
  expect(seen.size).toBeGreaterThan(60);
});

test('the sign-in form and its refusals are French for who reads French', async () => {
  const stage = await serveMirror(await tempMirror(TWO_KINDS));
  const asked = await (await fetch(stage.url, { headers: FRENCH })).text();
  const body = new URLSearchParams({ token: 'wrong' });
  const refused = await (await fetch(`${stage.url}/login`, { method: 'POST', body, headers: FRENCH })).text();
  const used = await (await fetch(`${stage.url}/login?code=used`, { headers: FRENCH })).text();
  for (const page of [asked, refused, used]) expect(englishIn(page)).toEqual([]);
  expect(refused).toContain(french['Unknown token.']);
});

test('an English text that were left would be found, whether it is shown or spoken', () => {
  expect(englishIn('<p>Latest changes</p>')).toEqual(['Latest changes']);
  expect(englishIn('<p aria-label="Find a record">x</p>')).toEqual(['Find a record']);
  expect(englishIn('<p lang="en">Latest <b>runs</b></p><code>runs</code>')).toEqual([]);
});
