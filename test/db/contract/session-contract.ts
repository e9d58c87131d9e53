import fc from 'fast-check';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { identifier } from '../../../src/db/session/sql-text.ts';
import type { Session, Transaction } from '../../../src/db/session/session.ts';
import { gate } from '../../store/temp-mirror.ts';

const LARGEST_ID = '9223372036854775807';

type Open = () => Promise<Session>;

/** The tools of a contract. `open` gives a session on an empty database. */
function toolsFor(open: Open) {
  /** A session with one table, as plain as a kind's. */
  async function openWithTable(): Promise<Session> {
    const session = await open();
    onTestFinished(() => session.close());
    await session.atomically((tx) =>
      tx.execute('create table things (id BIGINT NOT NULL PRIMARY KEY, name TEXT, amount BIGINT)'),
    );
    return session;
  }

  const put = (tx: Transaction, ...ids: readonly number[]): Promise<void> =>
    tx.upsertRows({ table: 'things', columns: ['id', 'name'], rows: ids.map((id) => [id, `thing ${id}`]) });

  const idsIn = async (session: Session): Promise<number[]> =>
    (await session.query(sql`select id from things order by id`)).map((row) => Number(row['id']));
  return { openWithTable, put, idsIn };
}

/** What every database must do for us, whatever its dialect. */
export function sessionContract(name: string, open: Open): void {
  const { openWithTable, put, idsIn } = toolsFor(open);
  queryContract(name, open);

  describe(`${name}: atomically`, () => {
    test('lands everything at once and gives back what the work returned', async () => {
      const session = await openWithTable();
      const answer = await session.atomically(async (tx) => {
        await put(tx, 1);
        await put(tx, 2);
        return 'done';
      });
      expect(answer).toBe('done');
      expect(await idsIn(session)).toEqual([1, 2]);
    });

    test('lands nothing when the work throws after it has put rows, and passes the very error on', async () => {
      const session = await openWithTable();
      const fault = new Error('half-way');
      const failed = session.atomically(async (tx) => {
        await put(tx, 1, 2, 3);
        await tx.query(sql`update things set name = 'other'`);
        throw fault;
      });
      await expect(failed).rejects.toBe(fault);
      expect(await idsIn(session)).toEqual([]);
    });

    test('lands nothing when one of many rows is refused by the database', async () => {
      const session = await openWithTable();
      const failed = session.atomically((tx) =>
        tx.insertRows({ table: 'things', columns: ['id'], rows: [[1], [2], [1]] }),
      );
      await expect(failed).rejects.toThrow();
      expect(await idsIn(session)).toEqual([]);
    });

    test('inserts the rows whose key is free, and names these alone', async () => {
      const session = await openWithTable();
      await session.atomically((tx) => tx.execute('create unique index by_name on things (name)'));
      await session.atomically((tx) => put(tx, 1));
      const ids = Array.from({ length: 1_200 }, (_, at) => at + 1);
      const rows = ids.map((id) => [id, `thing ${id}`]);
      const batch = { table: 'things', columns: ['id', 'name'], rows: [...rows, [1_201, 'thing 2']] };
      const inserted = await session.atomically((tx) => tx.insertNew(batch, 'name'));
      expect([...inserted]).toEqual(ids.slice(1).map((id) => [`thing ${id}`, id]));
      expect(await idsIn(session)).toEqual(ids);
    });

    test('undoes a drawn table together with the rows', async () => {
      const session = await openWithTable();
      const failed = session.atomically(async (tx) => {
        await tx.execute('create table others (id BIGINT)');
        await tx.execute('alter table things add column colour TEXT');
        throw new Error('half-way');
      });
      await expect(failed).rejects.toThrow('half-way');
      const columns = await session.atomically(async (tx) => [
        ...(await tx.listColumns('others')),
        ...(await tx.listColumns('things')),
      ]);
      expect(columns).toEqual(['id', 'name', 'amount']);
    });

    test('runs transactions started at once one after the other, in the order in which they were started', async () => {
      const session = await openWithTable();
      const steps: string[] = [];
      await Promise.all(
        ['a', 'b', 'c', 'd'].map((who, index) =>
          session.atomically(async (tx) => {
            steps.push(`${who} begins`);
            await put(tx, index);
            await new Promise(setImmediate);
            await tx.query(sql`select count(*) from things`);
            steps.push(`${who} ends`);
          }),
        ),
      );
      expect(steps).toEqual(['a', 'b', 'c', 'd'].flatMap((who) => [`${who} begins`, `${who} ends`]));
    });

    test('adds up exactly when many transactions read and then write the same row', async () => {
      const session = await openWithTable();
      await session.atomically((tx) =>
        tx.upsertRows({ table: 'things', columns: ['id', 'amount'], rows: [[1, 0]] }),
      );
      await Promise.all(
        Array.from({ length: 50 }, () =>
          session.atomically(async (tx) => {
            const [row] = await tx.query(sql`select amount from things where id = 1`);
            await new Promise(setImmediate);
            await tx.query(sql`update things set amount = ${Number(row?.['amount']) + 1} where id = 1`);
          }),
        ),
      );
      const [row] = await session.query(sql`select amount from things`);
      expect(Number(row?.['amount'])).toBe(50);
    });

    test('is not held up by one that failed', async () => {
      const session = await openWithTable();
      const settled = await Promise.allSettled([
        session.atomically((tx) => put(tx, 1)),
        session.atomically(async (tx) => {
          await put(tx, 2);
          throw new Error('no');
        }),
        session.atomically((tx) => tx.execute('this is not SQL')),
        session.atomically((tx) => put(tx, 3)),
      ]);
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
      expect(await idsIn(session)).toEqual([1, 3]);
    });

    test('a reader neither waits for a writer nor sees what is not committed, not even deletions', async () => {
      const session = await openWithTable();
      await session.atomically((tx) => put(tx, 1));
      const written = gate();
      const checked = gate();
      const writing = session.atomically(async (tx) => {
        await put(tx, 2);
        await tx.query(sql`delete from things where id = 1`);
        written.open();
        await checked.opened;
      });
      await written.opened;
      expect(await idsIn(session)).toEqual([1]); // The transaction cannot end before this.
      checked.open();
      await writing;
      expect(await idsIn(session)).toEqual([2]);
    });

    test('work that goes on after its transaction has ended lands nothing', async () => {
      const session = await openWithTable();
      const ended = gate();
      let straggler: Promise<void> = Promise.resolve();
      const failed = session.atomically((tx) => {
        straggler = ended.opened.then(() => put(tx, 1)); // As a branch of Promise.all that another one overtook.
        return Promise.reject(new Error('another branch failed'));
      });
      await expect(failed).rejects.toThrow('another branch failed');
      ended.open();
      await straggler.catch(() => undefined);
      expect(await idsIn(session)).toEqual([]);
    });

    test('close waits for the transactions that were started', async () => {
      const session = await openWithTable();
      const landed: number[] = [];
      const writing = session.atomically(async (tx) => {
        await put(tx, 1);
        await new Promise(setImmediate);
        landed.push(1);
      });
      await session.close();
      expect(landed).toEqual([1]);
      await writing;
    });
  });

  describe(`${name}: bulk verbs`, () => {
    test.each([0, 1, 1000])('rowsById finds %i ids among absent ones', async (count) => {
      const session = await openWithTable();
      const present = Array.from({ length: count }, (_, index) => 2 * index + 1);
      const rows = await session.atomically(async (tx) => {
        await put(tx, ...present, 5001);
        const asked = present.flatMap((id) => [String(id), String(id + 1)]);
        return tx.readRowsById('things', ['name', 'id', 'amount'], asked);
      });
      expect([...rows.keys()].sort()).toEqual(present.map(String).sort());
      expect([...rows].every(([id, [name, , amount]]) => name === `thing ${id}` && amount === null)).toBe(
        true,
      );
    });

    test('G14: rowsById knows 64-bit ids apart and gives 64-bit integers to the digit', async () => {
      const session = await openWithTable();
      const ids = ['9007199254740992', '9007199254740993', '9223372036854775806', LARGEST_ID];
      const rows = await session.atomically(async (tx) => {
        await tx.upsertRows({ table: 'things', columns: ['id', 'amount'], rows: ids.map((id) => [id, id]) });
        return tx.readRowsById('things', ['id', 'amount'], ids);
      });
      expect([...rows].map(([id, values]) => [id, ...values.map(String)])).toEqual(
        ids.map((id) => [id, id, id]),
      );
    });

    test('putRows inserts new rows and gives known ones only the given columns', async () => {
      const session = await openWithTable();
      const columns = ['id', 'name', 'amount'];
      await session.atomically((tx) =>
        tx.upsertRows({
          table: 'things',
          columns,
          rows: [
            [1, 'one', 10],
            [2, 'two', 20],
          ],
        }),
      );
      await session.atomically((tx) =>
        tx.upsertRows({
          table: 'things',
          columns: ['amount', 'id'],
          rows: [
            [21, 2],
            [31, 3],
          ],
        }),
      );
      const rows = await session.query(
        sql`select name, cast(amount as text) as amount from things order by id`,
      );
      expect(rows).toEqual([
        { name: 'one', amount: '10' },
        { name: 'two', amount: '21' },
        { name: null, amount: '31' },
      ]);
    });

    test('putRows takes rows that have nothing but an id, known ones too', async () => {
      const session = await openWithTable();
      for (const ids of [[1], [1, 2]]) {
        await session.atomically((tx) =>
          tx.upsertRows({ table: 'things', columns: ['id'], rows: ids.map((id) => [id]) }),
        );
      }
      expect(await idsIn(session)).toEqual([1, 2]);
    });

    test('append inserts, refuses an id that is there, and leaves the row as it was', async () => {
      const session = await openWithTable();
      const append = (name: string): Promise<void> =>
        session.atomically((tx) =>
          tx.insertRows({ table: 'things', columns: ['id', 'name'], rows: [[1, name]] }),
        );
      await append('first');
      await expect(append('second')).rejects.toThrow();
      expect(await session.query(sql`select name from things`)).toEqual([{ name: 'first' }]);
    });

    test('putRows takes 20,000 rows in one call', async () => {
      const session = await openWithTable();
      const ids = Array.from({ length: 20_000 }, (_, index) => index + 1);
      await session.atomically((tx) => put(tx, ...ids));
      const [row] = await session.query(sql`select count(*) as count, min(name) as first from things`);
      expect([Number(row?.['count']), row?.['first']]).toEqual([20_000, 'thing 1']);
    });

    test('columnsOf names the columns in order, derived ones too, and none of a table that is not there', async () => {
      const session = await openWithTable();
      await session.atomically(async (tx) => {
        expect([...(await tx.listColumns('things'))]).toEqual(['id', 'name', 'amount']);
        expect([...(await tx.listColumns('nothing'))]).toEqual([]);
        await tx.execute('alter table things add column "Colour" TEXT');
        expect([...(await tx.listColumns('things'))]).toEqual(['id', 'name', 'amount', 'Colour']);
      });
    });
  });

  describe(`${name}: values`, () => {
    const texts = [
      '',
      ' ',
      `it's "quoted" \`so\` \\ and $1 ? :a @b %s ;--`,
      'line\r\nline\ttab',
      'Ünïcödé, 日本語, العربية, \u200b\u202e, e\u0301 and \u00e9',
      '🧾👩‍👩‍👧‍👦🇨🇦',
      'null',
      '00012',
      '1e5',
      '12.50',
      'x'.repeat(100_000),
      '🧾'.repeat(25_000),
    ];

    test('text comes back exactly, quotes, emoji and 100,000 characters included', async () => {
      const session = await openWithTable();
      const rows = await session.atomically(async (tx) => {
        await tx.upsertRows({
          table: 'things',
          columns: ['id', 'name'],
          rows: texts.map((text, index) => [index, text]),
        });
        return tx.readRowsById(
          'things',
          ['name'],
          texts.map((_, index) => String(index)),
        );
      });
      expect([...rows.values()].map(([text]) => text)).toEqual(texts);
    });

    test('any storable text comes back exactly', async () => {
      const session = await openWithTable();
      const text = fc.string({ unit: 'grapheme' }).filter((candidate) => !candidate.includes('\0'));
      await fc.assert(
        fc.asyncProperty(fc.array(text, { maxLength: 50 }), async (names) => {
          const ids = names.map((_, index) => String(index));
          const rows = await session.atomically(async (tx) => {
            await tx.upsertRows({
              table: 'things',
              columns: ['id', 'name'],
              rows: names.map((name, index) => [index, name]),
            });
            return tx.readRowsById('things', ['name'], ids);
          });
          expect(ids.map((id) => rows.get(id)?.[0])).toEqual(names);
        }),
      );
    });

    test('null is null, and neither empty text nor zero', async () => {
      const session = await openWithTable();
      await session.atomically((tx) =>
        tx.upsertRows({
          table: 'things',
          columns: ['id', 'name', 'amount'],
          rows: [
            [1, null, null],
            [2, '', 0],
          ],
        }),
      );
      const rows = await session.query(
        sql`select name, cast(amount as text) as amount from things order by id`,
      );
      expect(rows).toEqual([
        { name: null, amount: null },
        { name: '', amount: '0' },
      ]);
    });

    test('G17: table and column names may hold quotes, spaces and SQL', async () => {
      const session = await openWithTable();
      const table = `a "table"; drop table things; --`;
      const column = `it's "so" ü %s ?`;
      const rows = await session.atomically(async (tx) => {
        await tx.execute(
          `create table ${identifier(table)} (id BIGINT NOT NULL PRIMARY KEY, ${identifier(column)} TEXT)`,
        );
        await tx.upsertRows({ table, columns: ['id', column], rows: [['1', 'one']] });
        await tx.upsertRows({ table, columns: ['id', column], rows: [['1', 'uno']] });
        await tx.insertRows({ table, columns: ['id', column], rows: [['2', 'two']] });
        expect([...(await tx.listColumns(table))]).toEqual(['id', column]);
        return tx.readRowsById(table, ['id', column], ['1', '2']);
      });
      expect([...rows.values()].map(([, value]) => value)).toEqual(['uno', 'two']);
      expect(
        await session.query(sql`select ${sql.identifier(column)} from ${sql.identifier(table)}`),
      ).toEqual([{ [column]: 'uno' }, { [column]: 'two' }]);
      expect(await idsIn(session)).toEqual([]);
    });
  });
}

/** The part about reading outside transactions. */
export function queryContract(name: string, open: Open): void {
  const { openWithTable, put, idsIn } = toolsFor(open);

  describe(`${name}: query`, () => {
    test('gives rows by column name and takes parameters as values, never as SQL', async () => {
      const session = await openWithTable();
      const hostile = `'; drop table things; --`;
      await session.atomically((tx) =>
        tx.upsertRows({ table: 'things', columns: ['id', 'name'], rows: [[1, hostile]] }),
      );
      expect(await session.query(sql`select name from things where name = ${hostile}`)).toEqual([
        { name: hostile },
      ]);
    });

    test('outside a transaction only reads', async () => {
      const session = await openWithTable();
      await expect(session.query(sql`insert into things (id) values (1)`)).rejects.toThrow();
      expect(await idsIn(session)).toEqual([]);
    });

    test('sees columns that were added since it was first asked', async () => {
      const session = await openWithTable();
      await session.atomically((tx) => put(tx, 1));
      const statement = sql`select * from things`;
      expect(await session.query(statement)).toEqual([
        { id: expect.anything() as unknown, name: 'thing 1', amount: null },
      ]);
      await session.atomically((tx) => tx.execute('alter table things add column colour TEXT'));
      expect(await session.query(statement)).toEqual([
        { id: expect.anything() as unknown, name: 'thing 1', amount: null, colour: null },
      ]);
    });

    test('G14: gives a 64-bit integer to the digit', async () => {
      const session = await openWithTable();
      for (const id of ['9007199254740993', LARGEST_ID]) {
        await session.atomically((tx) =>
          tx.upsertRows({ table: 'things', columns: ['id', 'amount'], rows: [[id, `-${id}`]] }),
        );
        const [row] = await session.query(sql`select id, amount from things where id = ${id}`);
        expect([String(row?.['id']), String(row?.['amount'])]).toEqual([id, `-${id}`]);
      }
    });
  });
}
