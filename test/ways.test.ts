import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { filesThatRun, type FilesThatRun } from '../scripts/house/running-files.ts';

const TEXT = readFileSync(join(import.meta.dirname, '../ARCHITECTURE.md'), 'utf8');

/** The files that ARCHITECTURE.md lists for a way: `source/http/http.ts`. */
function listedFiles(way: keyof FilesThatRun): string[] {
  const section = TEXT.slice(TEXT.indexOf(`## The way of ${way === 'page' ? 'a' : 'an'} ${way}`));
  const block = /These files work on every [^\n]*\n\n```\n(.*?)```/s.exec(section)?.[1] ?? '';
  let folder = '';
  return block.split('\n').flatMap((line) => {
    const [, place, names = ''] = /^ (\S+\/)?\s+(.*)$/.exec(line) ?? [];
    folder = place ?? folder;
    return names
      .split(' · ')
      .filter((name) => name !== '')
      .map((name) => `${folder}${name}.ts`);
  });
}

let running: FilesThatRun;
beforeAll(async () => {
  running = await filesThatRun();
});

test.each(['page', 'entry', 'event'] as const)(
  'ARCHITECTURE.md names every file that each %s passes',
  (way) => {
    expect(running[way].length).toBeGreaterThan(5);
    expect(running[way].filter((file) => !listedFiles(way).includes(file))).toEqual([]);
  },
);
