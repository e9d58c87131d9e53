import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { textTable } from '../../src/cli/parts/io.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { ONLY_PROGRESS, run, settingsFor } from '../support/command-line.ts';
import { ask } from '../support/mirror-file.ts';
import { tempFolder } from '../support/temp-folder.ts';

const DOC = readFileSync(join(import.meta.dirname, '../../docs/further-kinds.md'), 'utf8');

/** What stands between the fences, in the document's order. */
const blocksIn = (language: string): string[] =>
  [...DOC.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , block]) => block ?? '');

const first = (found: RegExpExecArray | null): string => found?.[1] ?? expect.fail('not in the document');

/** A pull's report without its durations. */
const timeless = (report: string): string => report.replace(/ +\d+\.\d\d$/gm, '').replace(/took .* s\./, '');

describe('the worked example of docs/further-kinds.md', () => {
  const [yaml = ''] = blocksIn('yaml');
  const commands = blocksIn('sh').join('\n');
  const [pulled = '', answered = ''] = blocksIn('');

  test('runs as it is written, and answers as it says', async () => {
    await using sandbox = await startSandbox();
    const folder = tempFolder();
    const path = join(folder, 'further.db');
    const file = join(folder, 'further.yaml');
    writeFileSync(file, yaml);
    const argv = first(/^npm start -- (pull .*)$/m.exec(commands)).replace('further.yaml', file);

    const ended = await run(argv.split(' '), settingsFor(sandbox, path));

    expect(ended).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
    expect(timeless(ended.stdout)).toBe(timeless(pulled));
    const rows = ask(path, first(/^sqlite3 [^"]*"([^"]*)"/m.exec(commands)));
    const table = textTable(
      Object.keys(rows[0] ?? {}),
      rows.map((row) => Object.values(row).map(String)),
    );
    expect(`${table.join('\n')}\n`).toBe(answered);
  });

  test('has its settings: the sandbox’s own address and token', () => {
    expect(commands).toContain('BMS_BASE_URL=http://127.0.0.1:4010 BMS_TOKEN=sandbox-token');
  });

  test('has a one-line form that is valid', () => {
    const BMS__KINDS = first(/`BMS__KINDS=(\{.*\})`/.exec(DOC));
    expect(loadConfig({ env: { BMS__KINDS } }).kinds).toHaveProperty('purchases');
  });
});
