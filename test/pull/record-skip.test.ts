import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Row, Session } from '../../src/mirror/session/session.ts';
import { randomFrom } from '../../src/sandbox/random.ts';
import type { Random } from '../../src/sandbox/random.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Source } from '../../src/source/source.ts';
import type { PartialPage } from '../../src/source/page/list-page.ts';
import { mirror, openSandboxSource, rewriting, rowsOf, sandbox } from './support.ts';
import { DATABASES, MIRRORS, clockAt, eventsOf, openIssueCodes, pullOne } from './steps.ts';
import type { Step } from './steps.ts';

const kind = 'clients';

interface Watched {
  readonly source: Source;
  /** Of every page that was landed in part. */
  readonly partial: PartialPage[];
  /** Pages that were parsed whole in the end. */
  readonly whole: number[];
}

/** A source of which a test can say what was parsed; or one that parses whatever it reads. */
function watched(service: Sandbox, { minute = 0, parsesAll = false } = {}): Watched {
  const source = openSandboxSource(service, clockAt(minute));
  const [partial, whole]: [PartialPage[], number[]] = [[], []];
  const watching: Source = {
    ...source,
    async *sweep(listed, options) {
      const sweep = parsesAll ? { ...options, recordDigests: undefined, knownPages: undefined } : options;
      for await (const response of source.sweep(listed, sweep)) {
        if (response.partial !== null) partial.push(response.partial);
        else if (!response.isKnown) whole.push(response.page);
        const read = (): ReturnType<typeof response.read> => {
          whole.push(response.page);
          return response.read();
        };
        yield response.partial === null ? response : { ...response, read };
      }
    },
  };
  return { source: watching, partial, whole };
}

/** Pulls clients; tells which records were parsed on pages landed in part, and which pages whole. */
async function pullWatched(service: Sandbox, session: Session, step: Omit<Step, 'kind'> = {}) {
  const { source, partial, whole } = watched(service, step);
  const report = await pullOne(service, session, { ...step, kind, parts: { source } });
  await source.close();
  const changed = partial.flatMap((page) => page.changed).map((record) => (record as { id: number }).id);
  return { ...report, changed: [...new Set(changed)], whole: [...new Set(whole)] };
}

async function pulled(open: () => Promise<Session> = mirror, size = 260) {
  const [service, session] = [await sandbox({ size }), await open()];
  await pullOne(service, session, { kind });
  return { service, session };
}

describe.each(DATABASES)('%s', (database) => {
  test('of a page that changed, only the records that changed are parsed', async () => {
    const { service, session } = await pulled(MIRRORS[database]);
    const ids = service.world.ids(kind);
    for (const index of [3, 150, 151])
      service.world.update(kind, ids[index] ?? 0, { website: 'https://neuf.test' });
    expect(await pullWatched(service, session, { minute: 10 })).toMatchObject({
      ...{ changed: [ids[3], ids[150], ids[151]], updated: 3, rows: 260, unchanged: 257, state: 'certified' },
    });
    service.world.update(kind, ids[200] ?? 0, { website: 'https://neuf.test' });
    expect(await pullWatched(service, session, { minute: 20 })).toMatchObject({
      changed: [ids[200]],
      updated: 1,
    });
    expect(await pullWatched(service, session, { minute: 30 })).toMatchObject({
      changed: [],
      whole: [],
      updated: 0,
    });
  });
});

/** Everything that a mirror says of a kind, but for when pages were found as they had been, and the order of their fields. */
async function everything(session: Session): Promise<Record<string, readonly Row[]>> {
  const tables = {
    sightings: sql`select page, ids, rows, end_rows, total, sent, answered from sightings order by answered`,
    fields: sql`select * from fields where kind = ${kind} order by field`,
    drift: sql`select kind, code, field, detail from drift order by id`,
    issues: sql`select record_id, field, code, detail, closed_at from issues order by id`,
    pages: sql`select page, digest, bytes, ids, fields, records from pages order by page`,
    deletions: sql`select record_id, state, proof from deletions order by record_id`,
  };
  const entries = await Promise.all(
    Object.entries(tables).map(async ([name, statement]) => [name, await session.query(statement)] as const),
  );
  return {
    ...Object.fromEntries(entries),
    rows: await rowsOf(session, kind),
    events: await eventsOf(session),
  };
}

/** Something that happens to the list: the order of clients is that of their codes. */
function change({ world }: Sandbox, random: Random): void {
  const id = random.pick(world.ids(kind));
  const content = Object.fromEntries(
    Object.entries(world.get(kind, id) ?? {}).filter(([name]) => name !== 'id'),
  );
  const deeds = [
    () => world.update(kind, id, { website: `https://${random.integer(1, 3)}.test` }),
    () => world.update(kind, id, { code: `${random.integer(10, 99)}` }),
    () => world.update(kind, id, { mood: random.pick(['sunny', 'grey', 7]) }),
    () => world.update(kind, id, { credit: random.pick(['1,50', '2.50']) }),
    () => world.insert(kind, { ...content, code: `${random.integer(10, 99)}` }),
    () => {
      world.remove(kind, id);
    },
  ];
  random.pick(deeds)();
}

test.each([1, 2, 3, 4, 5, 6])(
  'a mirror that skips records is one that parses them all (%i)',
  { timeout: 120_000 },
  async (seed) => {
    const service = await sandbox({ size: 260 });
    const random = randomFrom('record-skip', seed);
    const [skipping, parsing] = [await mirror(), await mirror()];
    const rules = { deletions: { graceSeconds: 0, holdAbove: { rows: 1000, share: 1 } } };
    let inPart = 0;
    for (let minute = 0; minute < 60; minute += 10) {
      const [some, all] = [watched(service, { minute }), watched(service, { minute, parsesAll: true })];
      const report = await pullOne(service, skipping, {
        kind,
        minute,
        rules,
        parts: { source: some.source },
      });
      const expected = await pullOne(service, parsing, {
        kind,
        minute,
        rules,
        parts: { source: all.source },
      });
      expect({ ...report, durationMs: 0 }).toEqual({ ...expected, durationMs: 0 });
      expect(await everything(skipping)).toEqual(await everything(parsing));
      inPart += some.partial.length;
      for (let count = random.integer(0, 4); count > 0; count--) change(service, random);
      for (const source of [some.source, all.source]) await source.close();
    }
    expect(inPart).toBeGreaterThan(0);
  },
);

describe('a page that changed is parsed whole', () => {
  test('where a record that did not change was written by something else since', async () => {
    const { service, session } = await pulled();
    const [edited = 0, overwritten = 0] = service.world.ids(kind).slice(150);
    await session.atomically(async (tx) => {
      await tx.query(sql`update clients set _raw = '{}', _response = 1000 where id = ${overwritten}`);
      await tx.append({
        table: 'touched',
        columns: ['kind', 'response', 'record_id'],
        rows: [[kind, 1000, String(overwritten)]],
      });
      await tx.query(sql`update kind_state set tick = 1000 where kind = ${kind}`);
    });
    service.world.update(kind, edited, { website: 'https://neuf.test' });
    expect(await pullWatched(service, session, { minute: 10 })).toMatchObject({ updated: 2, whole: [2] });
    expect(await pullWatched(service, session, { minute: 20 })).toMatchObject({ updated: 0, whole: [] });
  });

  test('where what changed cannot become a row', async () => {
    const honest = await sandbox({ size: 260 });
    const session = await mirror();
    const [a = 0] = honest.world.ids(kind).slice(110);
    let rewrite = (body: string): string => body;
    const service = await rewriting(honest, (body) => rewrite(body));
    await pullOne(service, session, { kind });
    rewrite = (body) => body.replace(`{"id":${a},`, '{"id":"007",');
    const faulty = await pullWatched(service, session, { minute: 10 });
    expect(faulty).toMatchObject({ whole: [2], quarantined: 1, rows: 259 });
    expect(await openIssueCodes(session)).toContain('id_not_an_integer');
  });

  test('where a field that the page had may have gone from it', async () => {
    const [service, session] = [await sandbox({ size: 260 }), await mirror()];
    const [first = 0, second = 0] = service.world.ids(kind);
    service.world.update(kind, second, { mood: 'sunny' });
    for (const minute of [0, 10]) await pullOne(service, session, { kind, minute });
    service.world.update(kind, first, { website: 'https://neuf.test' });
    expect(await pullWatched(service, session, { minute: 20 })).toMatchObject({ whole: [1], updated: 1 });
    expect(await session.query(sql`select code from drift`)).toEqual([]);
  });
});
