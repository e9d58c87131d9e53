import { copyFileSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { run, settingsFor } from '../support/command-line.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { tempFolder } from '../support/temp-folder.ts';

const COMMANDS: readonly (readonly string[])[] = [
  ['pull'],
  ['pull', '--new-source'],
  ['backfill', 'clients', '--ids', '1'],
  ['verify'],
  ['status'],
  ['runs'],
  ['changes'],
  ['deletions'],
  ['outbox'],
  ['push', 'create', 'clients', '--data', '{"code":"A"}'],
  ['migrate'],
  ['doctor'],
  ['serve'],
];

test('a file that ends early is refused by every command, exit 1, and stays as it is', async () => {
  await using sandbox = await startSandbox({ size: 20 });
  const path = await grownMirror();
  await run(['pull'], settingsFor(sandbox, path));
  const { size } = statSync(path);
  for (const cut of [1, 9_000, 16_384, Math.floor(size / 2)]) {
    const damaged = join(tempFolder(), 'mirror.db');
    copyFileSync(path, damaged);
    truncateSync(damaged, size - cut);
    const before = readFileSync(damaged);
    for (const argv of COMMANDS) {
      const ended = await run(argv, settingsFor(sandbox, damaged));
      expect([argv, ended.code]).toEqual([argv, 1]);
      const output = ended.stdout + ended.stderr;
      expect(output).toContain(`The mirror ${damaged} is not a healthy SQLite database`);
      expect(output).toContain('Restore it from a copy');
      for (const unknown of argv[0] === 'doctor' ? ['tenant', 'serve', 'writes'] : [])
        expect(output).toContain(`?    ${unknown}: not known, because the database cannot be read\n`);
    }
    expect(readFileSync(damaged).equals(before)).toBe(true);
  }
});
