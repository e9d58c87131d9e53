import { execFileSync } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { run, settingsFor } from '../support/command-line.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** A mirror with clients. */
async function stage() {
  await using service = await startSandbox({ size: 3 });
  const mirror = await grownMirror();
  const env = settingsFor(service, mirror);
  await run(['pull', 'clients'], env);
  return { mirror, run: (argv: readonly string[]) => run(argv, env) };
}

type Stage = Awaited<ReturnType<typeof stage>>;

/** Each command that writes a file, without its name, and how the file begins. */
const COMMANDS: readonly (readonly [string, (file: string) => readonly string[], string])[] = [
  ['export', (file) => ['export', 'clients', '--format', 'csv', '--out', file], 'id,'],
  ['snapshot', (file) => ['snapshot', file], 'SQLite format 3'],
];

describe.each(COMMANDS)('the file of %s', (_, command, beginning) => {
  const write = (staged: Stage, file: string) => staged.run(command(file));
  const refused = (what: string) => ({ code: 2, stderr: expect.stringContaining(what) as string });

  test('is its owner’s only', async () => {
    const path = join(tempFolder(), 'file');
    const before = process.umask(0);
    try {
      expect(await write(await stage(), path)).toMatchObject({ code: 0 });
    } finally {
      process.umask(before);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'latin1')).toContain(beginning);
  });

  test.each([
    ['to a file', 'there', ['file', 'folder', 'link']],
    ['to nothing yet', 'later', ['file', 'folder', 'link']],
  ])('is where a link %s leads', async (_, name) => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'folder'));
    if (name === 'there') writeFileSync(join(folder, 'folder', name), '');
    symlinkSync(join('folder', name), join(folder, 'link'));
    expect(await write(await stage(), join(folder, 'link'))).toMatchObject({ code: 0 });
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'folder', name), 'latin1')).toContain(beginning);
    expect(readdirSync(join(folder, 'folder'))).toEqual([name]);
  });

  test('is refused where a pipe or a socket is, or a link to one, or links in a circle are', async () => {
    const folder = tempFolder();
    const [pipe = '', socket = '', link = '', circle = ''] = ['pipe', 'socket', 'link', 'circle'].map(
      (name) => join(folder, name),
    );
    execFileSync('mkfifo', [pipe]);
    const server = createServer().listen(socket);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    symlinkSync('pipe', link);
    symlinkSync('circle', circle);
    const staged = await stage();
    for (const each of [pipe, socket, link])
      expect(await write(staged, each)).toMatchObject(refused('is a device, a pipe or a socket, not a file'));
    expect(await write(staged, circle)).toMatchObject(refused('circle'));
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  test('is refused where it is the mirror or a file beside it, by any name', async () => {
    const staged = await stage();
    const { mirror } = staged;
    const folder = tempFolder();
    const alias = join(folder, 'alias');
    symlinkSync(join(mirror, '..'), alias);
    writeFileSync(`${mirror}.sends`, '7\n');
    linkSync(`${mirror}.sends`, `${mirror}.hard`);
    const names = ['', '-wal', '-shm', '-journal', '.sends'].flatMap((end) => [
      `${mirror}${end}`,
      join(alias, `mirror.db${end}`),
    ]);
    for (const each of [...names, `${mirror}.hard`])
      expect(await write(staged, each), each).toMatchObject(refused('belongs to the mirror'));
    expect(readFileSync(`${mirror}.sends`, 'utf8')).toBe('7\n');
  });
});
