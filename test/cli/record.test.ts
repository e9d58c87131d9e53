import { describe, expect, test } from 'vitest';
import { openSession } from '../../src/db/open-session.ts';
import { appendChanges } from '../../src/store/records/change-store.ts';
import { saveAbsences, saveProofs } from '../../src/store/records/deletion-store.ts';
import { saveFieldIssues } from '../../src/store/records/issue-store.ts';
import { closeAttempt, openAttempt, saveLink } from '../../src/store/outbox/attempts-and-links.ts';
import { writeMeta } from '../../src/store/kinds/meta.ts';
import { insertEntry } from '../store/outbox/entries.ts';
import type { Transaction } from '../../src/db/session/session.ts';
import { NOON, NOON_JSON, NOON_TEXT, NOON_PRINTED, later, putRecords } from '../store/temp-mirror.ts';
import { document, run, type Env } from '../support/command-line.ts';
import { DOCUMENTED_URLS } from '../support/grown-urls.ts';
import { freshMirror } from '../support/temp-folder.ts';

const BEFORE = '{"id":17,"client_id":5,"nom":"Pont","description":"10.10"}';
const RAW = '{"id":17,"client_id":5,"nom":"Pont neuf","description":"10.10"}';

describe.each(Object.entries(DOCUMENTED_URLS).slice(0, 1))('record in %s', (_name, place) => {
  async function mirror(fill: (tx: Transaction) => Promise<unknown>): Promise<Env> {
    const url = await place();
    await using session = await openSession(url);
    await session.atomically(fill);
    return { DATABASE_URL: url };
  }

  const put = (tx: Transaction, deletedAt: string | null = null) =>
    putRecords(tx, 'projects', [{ id: '17', _raw: RAW, _deleted_at: deletedAt }]);

  const absent = (tx: Transaction, state: 'suspected' | 'held') =>
    saveAbsences(tx, 'projects', [
      {
        id: '17',
        state,
        sweep: 3,
        absentSince: NOON,
        lastSeenAt: null,
        firstGoneAt: null,
        isCertified: true,
      },
    ]);

  /** A record that we created, somebody changed, and that has an issue. */
  async function whole(tx: Transaction): Promise<void> {
    await put(tx);
    const change = { recordId: '17', observedFrom: null };
    const log = { kind: 'projects', runId: null };
    const fields = '{"nom":["Pont","Pont neuf"]}';
    await appendChanges(tx, {
      ...log,
      origin: 'outbox:1',
      now: NOON,
      events: [{ ...change, change: 'created', before: null, after: BEFORE, fields: '{}' }],
    });
    await appendChanges(tx, {
      ...log,
      origin: 'service',
      now: later(1000),
      events: [{ ...change, observedFrom: NOON_TEXT, change: 'updated', before: BEFORE, after: RAW, fields }],
    });
    const issue = { recordId: '17', field: 'description', code: 'odd', detail: '"x"' };
    await saveFieldIssues(tx, { kind: 'projects', recordIds: ['17'], found: [issue], now: NOON });
    await insertEntry(tx, {
      key: 'pont',
      kind: 'projects',
      operation: 'create',
      recordId: '17',
      payload: '{"name":"Pont"}',
      base: null,
      naturalKey: null,
      pushedBy: 'Anna',
      now: NOON,
    });
    await openAttempt(tx, { outboxId: 1, n: 1, request: 'POST /api/projects', now: NOON });
    await closeAttempt(tx, {
      outboxId: 1,
      n: 1,
      grade: 'done',
      status: 201,
      responseStart: '{}',
      now: later(5),
    });
    await saveLink(tx, { kind: 'projects', recordId: '17', outboxId: 1 }, NOON);
  }

  test('tells the whole story to a program', async () => {
    const ended = await run(['record', 'projects', '17', '--json'], await mirror(whole));
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(document(ended)).toMatchObject({
      kind: 'projects',
      id: '17',
      state: 'live',
      deletedAt: null,
      absence: null,
      firstSeenAt: NOON_JSON,
      changedAt: NOON_JSON,
      record: { id: 17, client_id: 5, nom: 'Pont neuf', description: '10.10' },
      versions: [
        { seq: 1, change: 'created', origin: 'outbox:1', pushedBy: 'Anna', fields: {} },
        {
          seq: 2,
          change: 'updated',
          origin: 'service',
          pushedBy: null,
          fields: { nom: ['Pont', 'Pont neuf'] },
        },
      ],
      issues: [{ field: 'description', code: 'odd', firstSeenAt: NOON_JSON, closedAt: null }],
      entries: [{ id: 1, key: 'pont', history: [{ n: 1, grade: 'done', status: 201 }] }],
      endedEntries: [],
      links: { createdBy: 1, refersTo: [{ field: 'client_id', kind: 'clients', id: '5' }] },
    });
  });

  test('tells the whole story to a person', async () => {
    const { code, stdout } = await run(['record', 'projects', '17'], await mirror(whole));
    expect(code).toBe(0);
    for (const line of [
      'Record 17 of projects is live.',
      'First seen 2026-03-01 12:00:00 UTC, last changed 2026-03-01 12:00:00 UTC.',
      'Entry 1 of the outbox created it.',
      'nom          "Pont neuf"',
      `  ${NOON_PRINTED}  created by entry 1 of Anna (event 1)`,
      `  2026-03-01 12:00:01 UTC  updated in the service, after ${NOON_PRINTED} (event 2)`,
      '    nom: "Pont" → "Pont neuf"',
      '    Attempt 1, 2026-03-01 12:00:00 UTC: done, status 201',
      '  client_id: bms-sync record clients 5',
    ])
      expect(stdout.split('\n')).toContain(line);
    expect(stdout).toMatch(/\n2026-03-01 12:00:00Z +open +description +odd /);
  });

  test.each(['suspected', 'held'] as const)('tells that its deletion is %s', async (state) => {
    const env = await mirror(async (tx) => {
      await put(tx);
      await absent(tx, state);
    });
    const story = document(await run(['record', 'projects', '17', '--json'], env));
    expect(story).toMatchObject({ state, absence: { state, absentSince: NOON_JSON, concludedAt: null } });
    const { stdout } = await run(['record', 'projects', '17'], env);
    expect(stdout).toContain('is live, but no longer in the list');
    expect(stdout).toContain(`Not in the list since ${NOON_PRINTED}.`);
  });

  test('tells that it is deleted, and by which proof', async () => {
    const env = await mirror(async (tx) => {
      await put(tx, NOON_TEXT);
      await absent(tx, 'suspected');
      await saveProofs(tx, 'projects', { ids: ['17'], proof: 'list', now: NOON });
    });
    expect(document(await run(['record', 'projects', '17', '--json'], env))).toMatchObject({
      state: 'deleted',
      deletedAt: NOON_JSON,
      absence: { proof: 'list', concludedAt: NOON_JSON },
    });
    expect((await run(['record', 'projects', '17'], env)).stdout).toContain(
      `Deleted ${NOON_PRINTED}: later certified lists do not contain it.`,
    );
  });

  test('does not deny a change without an event', async () => {
    const env = await mirror((tx) =>
      putRecords(tx, 'clients', [{ id: '17', _first_seen_at: '2026-02-28 12:00:00.000' }]),
    );
    const { stdout } = await run(['record', 'clients', '17'], env);
    expect(stdout).toContain('Its last change made no event, or its events are no longer kept.');
    expect(stdout).not.toContain('No change since');
  });

  test('of words lists the records that have them', async () => {
    const env = await mirror(async (tx) => {
      const raw = '{"id":17,"code":"07","name":"Zoé Roy"}';
      await putRecords(tx, 'clients', [
        { id: '17', code: '07', name: 'Zoé Roy', _search: '07|zoeroy', _raw: raw },
      ]);
    });
    for (const words of [['07'], ['zoe'], ['roy', 'zoé'], ['17']]) {
      const ended = await run(['record', 'clients', ...words, '--json'], env);
      expect([words, ended.stdout.includes('Zoé Roy')]).toEqual([words, true]);
    }
    expect((await run(['record', 'clients', 'roy'], env)).stdout).toContain('07 · Zoé Roy');
    expect((await run(['record', 'clients', 'Lévis'], env)).stderr).toContain(
      'clients "Lévis": No record has all of these words in its code, name, phone number or e-mail.',
    );
    for (const words of ['x; drop table clients', '9223372036854775808'])
      expect(document(await run(['record', 'clients', words, '--json'], env))).toMatchObject({
        error: { code: 'record.absent' },
      });
  });

  test('of words that more than a hundred have says that more follow', async () => {
    const ids = Array.from({ length: 101 }, (_, at) => String(at + 1));
    const rows = ids.map((id) => ({ id, _search: 'roy', _raw: `{"id":${id},"name":"Roy"}` }));
    const { stdout, stderr } = await run(
      ['record', 'clients', 'roy'],
      await mirror((tx) => putRecords(tx, 'clients', rows)),
    );
    expect([stdout.match(/live/g)?.length, stderr]).toEqual([100, '… and more: add a word\n']);
  });

  test('of words says that the search is being prepared, until rows of an older release have their texts', async () => {
    const env = await mirror(async (tx) => {
      await putRecords(tx, 'clients', [{ id: '17', name: 'Zoé' }]);
      await writeMeta(tx, 'filled.clients._search', '0');
    });
    const ended = await run(['record', 'clients', 'zoe', '--json'], env);
    expect([ended.code, document(ended)]).toMatchObject([1, { error: { code: 'search.preparing' } }]);
    expect((await run(['record', 'clients', '17'], env)).code).toBe(0);
  });

  test('of a record that the mirror does not know fails with 1', async () => {
    const env = await mirror(() => Promise.resolve());
    const ended = await run(['record', 'projects', '9223372036854775807', '--json'], env);
    expect(ended.code).toBe(1);
    expect(document(ended)).toMatchObject({ error: { code: 'record.absent' } });
  });
});

test.each([[['cleints', '17'], 'Unknown record kind "cleints"; did you mean clients?']])(
  'record %j is refused with 2',
  async (argv, words) => {
    const ended = await run(['record', ...argv], { DATABASE_URL: `file:${freshMirror()}` });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(words);
  },
);

test('numbers of a record keep their digits', async () => {
  const path = freshMirror();
  const env = { DATABASE_URL: `file:${path}` };
  await run(['migrate'], env);
  {
    await using session = await openSession(env.DATABASE_URL);
    const raw = '{"id":9007199254740993,"credit":12345678901234567890.10}';
    await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '9007199254740993', _raw: raw }]));
  }
  for (const argv of [['--json'], []])
    expect((await run(['record', 'clients', '9007199254740993', ...argv], env)).stdout).toContain(
      '12345678901234567890.10',
    );
});
