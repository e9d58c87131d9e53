import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/lib/log/logger.ts';
import { SyncError, UsageError } from '../../src/lib/sync-error.ts';
import { SourceError } from '../../src/source/http/errors.ts';
import { tempMirror } from '../store/temp-mirror.ts';
import { serveMirror } from '../http/stage.ts';
import { MARK, SANDBOX_TOKEN, canary } from '../support/canary.ts';
import { run } from '../support/command-line.ts';
import { bystander, freshDatabase } from '../support/postgres.ts';
import { findRedis, startRedis } from '../support/redis-server.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { expectAllWatched, sumOf, tallyText } from './tally.ts';
import { holds } from './spellings.ts';
import { createWatch, emptyTally, expectNoLeaks, watch } from './watch.ts';

/** A secret with characters that JSON, URLs and shells write otherwise. */
const SECRET = canary('/"$&+=? 1');

/** Its beginning as some programs escape JSON. */
const ESCAPED = Array.from(MARK, (letter) => `\\u00${Buffer.from(letter).toString('hex')}`).join('');

/** What has leaked so far, and no longer counts against the test that planted it. */
const leaked = (): string[] => watch.drainLeaks();

afterEach(() => {
  expect(leaked()).toEqual([]); // Every test has taken what it planted.
});

describe('a secret is found, by the very mechanism that watches every test, in', () => {
  test('a log line', () => {
    const written: string[] = [];
    const destination = { write: (line: string) => void written.push(line) };
    const logger = createLogger({ level: 'info', secrets: [], destination });
    logger.info({ headers: { cookie: `t=${SECRET}` } }, 'planted');
    expect(leaked()).toEqual([expect.stringMatching(/^log lines: .*\[secret\].*planted/)]);
    expect(written[0]).toContain('planted');
  });

  test.each(['stdout', 'stderr'])('what another program prints to %s', async (stream) => {
    const code = `process.${stream}.write(Buffer.from('${Buffer.from(SECRET).toString('hex')}', 'hex'))`;
    await promisify(execFile)(process.execPath, ['-e', code]);
    expect(leaked()).toEqual([expect.stringContaining(`output of other programs: ${stream} of`)]);
  });

  test('what a program of a program leaves in a file', async () => {
    const folder = tempFolder();
    const hex = Buffer.from(SECRET).toString('hex');
    const command = `"${process.execPath}" -e 'process.stdout.write(Buffer.from("${hex}", "hex"))' > out.log`;
    await promisify(execFile)('sh', ['-c', command], { cwd: folder });
    rmSync(folder, { recursive: true });
    expect(leaked()).toEqual([`other files: ${join(folder, 'out.log')}`]);
  });

  test('what a command prints', async () => {
    await run(['pull', SECRET]);
    expect(leaked()).toEqual([
      'errors: UsageError usage.kind (its message, stack, cause or what else is on it)',
      expect.stringMatching(/^output of commands in the tests: stderr of pull \[secret\]/),
    ]);
  });

  test('what a test prints', () => {
    console.debug(SECRET);
    expect(leaked()).toEqual([expect.stringContaining('output of the tests themselves')]);
  });

  test('a cell of a SQLite file, and in its write-ahead log, though it was overwritten', () => {
    const folder = tempFolder();
    const path = join(folder, 'mirror.db');
    const database = new Database(path);
    database.pragma('journal_mode = wal');
    database.pragma('secure_delete = on');
    database.exec('create table t (x text)');
    database.prepare('insert into t values (?)').run(SECRET);
    database.exec("update t set x = ''");
    database.close();
    expect(leaked()).toEqual([`SQLite write-ahead logs: ${path}-wal`]);
    const again = new Database(path);
    again.prepare('insert into t values (?)').run(Buffer.from(SECRET, 'utf16le'));
    again.close();
    leaked();
    rmSync(folder, { recursive: true });
    expect(leaked()).toEqual([`SQLite files: ${path}`]);
  });

  test('a cell of a PostgreSQL table, whatever its type', async () => {
    const { url, drop } = await freshDatabase();
    const client = await bystander(url);
    await client.query('create schema other');
    await client.query('create table other.t (x jsonb, y bytea)');
    await client.query('insert into other.t values ($1, null)', [JSON.stringify({ [SECRET]: 1 })]);
    await client.query('create table u (x text[], y bytea)');
    await client.query('insert into u values (null, $1)', [Buffer.from(SECRET)]);
    await drop();
    expect(leaked()).toEqual(['PostgreSQL tables: other.t', 'PostgreSQL tables: public.u']);
  });

  test('a job of a Redis, though it is gone by the end', async () => {
    const server = await startRedis(findRedis());
    const queue = new Queue('planted', { connection: { url: server.url } });
    const job = await queue.add('name', { token: SECRET });
    await job.remove();
    await queue.close();
    await server.stop();
    expect(leaked()).toEqual([expect.stringMatching(/^Redis commands: .*planted/)]);
  });

  test('a key of a Redis that was started again and asks for a password', async () => {
    const server = await startRedis(findRedis(), ['--requirepass', 'word']);
    await server.kill9();
    await server.start();
    const client = new Redis(server.port, { password: 'word' });
    await client.set(`key:${SECRET}`, '1');
    await client.quit();
    await server.stop();
    expect(leaked()).toEqual([expect.stringContaining('Redis commands: port')]);
  });

  test('the label of a metric', async () => {
    const queueMetrics = (): Promise<string> =>
      Promise.resolve(`jobs{queue="${encodeURIComponent(SECRET)}"} 1\n`);
    const stage = await serveMirror(await tempMirror(), { queueMetrics });
    const before = watch.tally.metrics.count;
    expect(await (await stage.get('/metrics')).text()).toContain(MARK);
    expect(watch.tally.metrics.count).toBe(before + 1);
    expect(leaked()).toEqual([expect.stringMatching(/^HTTP answers: .* HTTP\/1.1 200/)]);
  });

  test('the head of an answer, and in what is sent piece by piece', async () => {
    const stage = await serveMirror(await tempMirror());
    const { app } = stage;
    app.server.prependListener('request', (_request, response) => {
      response.setHeader('x-planted', Buffer.from(SECRET).toString('base64'));
    });
    await stage.get('/health');
    expect(leaked()).toHaveLength(1);
  });

  test('the answer of another process that says where it serves', async () => {
    const code = `
      const server = require('node:http').createServer((_, answer) => answer.end(process.argv[1]));
      server.listen(0, () => console.log('{"address":"http://127.0.0.1:' + server.address().port + '"}'));`;
    const child = spawn(process.execPath, ['-e', code, SECRET]);
    const [firstOutput] = (await once(child.stdout, 'data')) as [Buffer];
    const { address } = JSON.parse(firstOutput.toString()) as { address: string };
    expect(await (await fetch(address)).text()).toBe(SECRET);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(leaked()).toEqual([expect.stringContaining('HTTP answers of other processes: ')]);
  });

  test.each([
    ['message', () => new SyncError(`The token ${SECRET} is wrong.`, { code: 'planted' })],
    ['escaped message', () => new SourceError('not_json', `got "${ESCAPED}…`)],
    ['hint', () => new UsageError('Wrong.', { code: 'planted', hint: `Not ${SECRET}` })],
    ['cause', () => new SourceError('timeout', 'Late.', { cause: new TypeError(`bad header ${SECRET}`) })],
    [
      'cause of a cause',
      () =>
        new SyncError('Odd.', {
          code: 'planted',
          cause: new Error('Odd.', { cause: { headers: [SECRET] } }),
        }),
    ],
  ])('the %s of an error', async (_, make) => {
    make();
    await Promise.resolve();
    expect(leaked()).toEqual([
      expect.stringMatching(/^errors: (?:Sync|Usage|Source)Error \S+ \(its message/),
    ]);
  });
});

describe('a secret is known', () => {
  test.each(['a', 'ab', 'abc', 'abcd'])('in every spelling, after %j', (before) => {
    const text = `${before}${SECRET} and on`;
    const bytes = Buffer.from(text);
    const spelled = [
      text,
      JSON.stringify(text).slice(1, -1),
      encodeURIComponent(text),
      ...(['base64', 'base64url', 'hex'] as const).map((encoding) => bytes.toString(encoding)),
      bytes.toString('hex').toUpperCase(),
      Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ];
    for (const one of spelled) expect([one, holds(Buffer.from(one))]).toEqual([one, true]);
    expect(holds(Buffer.from(text, 'utf16le'))).toBe(true);
    expect(holds(Buffer.from(before + SANDBOX_TOKEN))).toBe(true);
    expect(holds(Buffer.from(before))).toBe(false);
  });

  test.each([0, 1_000, 2_048, 4_000, 5_000])(
    'wherever it stands in a file that is otherwise as one of %i bytes that is clean',
    (length) => {
      const clean = Buffer.alloc(length, '-');
      for (const size of [3_072, 4_000])
        for (let at = 0; at <= size - MARK.length; at++) {
          const bytes = Buffer.alloc(size, '-');
          bytes.write(MARK, at);
          if (!holds(bytes, { clean })) expect.fail(`not found at ${at} of ${size}`);
        }
      expect(holds(Buffer.alloc(3_072, '-'), { clean })).toBe(false);
    },
  );

  test('wherever it is cut in two', () => {
    const bytes = Buffer.from(`${'-'.repeat(40)}${SECRET}${'-'.repeat(40)}`);
    for (let at = 0; at <= bytes.length; at++)
      for (const second of [at + 1, bytes.length]) {
        const own = createWatch();
        const look = own.inPieces({ place: 'log lines', what: () => 'here' });
        for (const piece of [bytes.subarray(0, at), bytes.subarray(at, second), bytes.subarray(second)])
          look(piece);
        expect([at, second, own.drainLeaks()]).toEqual([at, second, ['log lines: here']]);
      }
  });
});

describe('what is no leak:', () => {
  test('settings that a test writes itself, as long as they are copied into no database', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'deep'));
    const file = join(folder, 'deep', '.env');
    writeFileSync(file, `BMS_TOKEN=${SECRET}\n`);
    writeFileSync(join(folder, 'copy.db'), `SQLite format 3\0${readFileSync(file, 'utf8')}`);
    rmSync(folder, { recursive: true });
    expect(leaked()).toEqual([`SQLite files: ${join(folder, 'copy.db')}`]);
  });

  test('the token of the sandbox where the sandbox names it, and there no other one', async () => {
    await run(['sandbox', '--help']);
    expect(leaked()).toEqual([]);
    await run(['sandbox', '--port', SECRET]);
    expect(leaked()).toEqual([expect.stringContaining('sandbox --port [secret]')]);
  });
});

describe('the run', () => {
  test('fails a test by the name of the place, without the secret', () => {
    const own = createWatch();
    own.look({ place: 'errors', what: () => `of --token=${SECRET}` }, SECRET);
    expect(() => {
      expectNoLeaks(own);
    }).toThrow(/errors: of \[secret\]/);
    expect(() => {
      expectNoLeaks(own);
    }).not.toThrow();
  });

  test('fails where a place was never looked at', () => {
    const own = createWatch();
    own.look({ place: 'errors', what: () => 'x' }, 'x');
    expect(() => {
      expectAllWatched(own.tally);
    }).toThrow(/Redis commands/);
    const all = emptyTally();
    for (const looked of Object.values(all)) looked.count = 1;
    expectAllWatched(sumOf([all, own.tally]));
    expect(tallyText(sumOf([all, own.tally]))).toContain('2 errors');
  });
});
