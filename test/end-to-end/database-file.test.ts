import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { ONLY_PROGRESS, document, run, settingsFor } from '../support/command-line.ts';
import { dump, expectEqual, expectSound } from '../support/mirror-file.ts';
import { MAIN, runProgram } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { freshMirror, tempFolder } from '../support/temp-folder.ts';

const NOBODY = 65_534;
/** Root may write everywhere, so these tests run the program as nobody then. */
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY } : {};

/** Pulls onto a disk with room for little more than an empty mirror until it is full, keeps a copy of the file, makes room, and pulls again. */
const FULL_DISK = `
mount -t tmpfs -o size=64m tmpfs "$DISK" && head -c 53M /dev/zero > "$DISK/filler" || exit 99
"$NODE" "$MAIN" pull --json > "$OUT/full.json" 2> "$OUT/full.stderr"; echo $? > "$OUT/full.code"
cp "$DISK"/mirror.db* "$OUT/"
rm "$DISK/filler"
"$NODE" "$MAIN" pull --json > "$OUT/room.json" 2> "$OUT/room.stderr"; echo $? > "$OUT/room.code"
mkdir "$OUT/healed" && cp "$DISK"/mirror.db* "$OUT/healed/"`;

describe('a place where the mirror cannot be written', () => {
  test('a full disk fails the pull with 1, the file stays whole, and room heals it (G03)', async () => {
    await using sandbox = await startSandbox({ size: 500 });
    const disk = tempFolder();
    const out = tempFolder();

    await promisify(execFile)('unshare', ['--mount', '--map-root-user', 'sh', '-c', FULL_DISK], {
      cwd: out,
      env: {
        PATH: process.env['PATH'],
        NODE: process.execPath,
        MAIN,
        DISK: disk,
        OUT: out,
        ...settingsFor(sandbox, join(disk, 'mirror.db')),
      },
    });

    const read = (name: string) => readFileSync(join(out, name), 'utf8');
    expect(read('full.code').trim()).toBe('1');
    expect(JSON.parse(read('full.json'))).toMatchObject({ error: { code: 'mirror.disk_full' } });
    expect(read('full.stderr')).toContain(`${disk}/mirror.db has no room: the disk is full`);
    expectSound(join(out, 'mirror.db'));
    expect(read('room.stderr')).toEqual(ONLY_PROGRESS);
    expect(read('room.code').trim()).toBe('0');
    expectSound(join(out, 'healed', 'mirror.db'));
    expectEqual(join(out, 'healed', 'mirror.db'), sandbox);
  });

  test('a read-only folder fails the pull with 1', async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const path = freshMirror();
    chmodSync(dirname(path), 0o555);

    const ended = await runProgram(['pull', '--json'], { env: settingsFor(sandbox, path), ...asNobody });

    expect(ended.code).toBe(1);
    expect(document(ended)).toMatchObject({ error: { code: 'mirror.not_writable' } });
    expect(ended.stderr).toContain(`The mirror ${path} cannot be written`);
    expect(ended.stderr).toContain('DATABASE_URL');
    expect(existsSync(path)).toBe(false);
  });

  test('a read-only mirror fails the pull with 1 and stays as it is', async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const path = await grownMirror();
    const env = settingsFor(sandbox, path);
    await run(['pull'], env);
    const before = dump(path);
    chmodSync(path, 0o444);
    chmodSync(dirname(path), 0o555);

    const ended = await runProgram(['pull'], { env, ...asNobody });

    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('cannot be written');
    expect(dump(path)).toEqual(before);
    chmodSync(dirname(path), 0o755);
  });
});

describe('a file that is no mirror of ours fails every command with 1', () => {
  test('text in place of a database stays untouched', async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const path = freshMirror();
    const text = 'Dear diary, '.repeat(1000);
    writeFileSync(path, text);

    for (const command of ['pull', 'status', 'migrate', 'runs', 'doctor']) {
      const ended = await run([command], settingsFor(sandbox, path));
      expect([command, ended.code]).toEqual([command, 1]);
      expect(ended.stderr + ended.stdout).toContain(`The mirror ${path} is not a healthy SQLite database`);
    }
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test("another program's database", async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const path = freshMirror();
    const other = new Database(path);
    other.exec(
      "create table clients (number integer primary key, name text); insert into clients values (1, 'Ann')",
    );
    other.close();

    const ended = await run(['pull'], settingsFor(sandbox, path));

    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain(path);
    const after = new Database(path, { readonly: true });
    expect(after.prepare('select * from clients').all()).toEqual([{ number: 1, name: 'Ann' }]);
    after.close();
  });
});
