import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { ONLY_PROGRESS, json, run, settingsFor } from '../support/command-line.ts';
import { KIND_NAMES, ask, expectEqual, expectSound } from '../support/mirror-file.ts';
import { start } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { freshMirror } from '../support/temp-folder.ts';
import { requestNumber } from '../support/requests.ts';

test.each([
  ['at once', 0],
  ['one a little later', 5],
])(
  'two pulls into one file, %s: each kind is read by one of them at a time, and all is whole (A26, G08)',
  async (_name, requests) => {
    await using sandbox = await startSandbox({
      size: 60,
      faults: [{ do: { clampPerPage: 10 } }, { do: { latencyMs: 5 } }],
    });
    const path = requests === 0 ? freshMirror() : await grownMirror();
    const env = settingsFor(sandbox, path);
    const reached = requestNumber(sandbox, requests);
    const first = start(['pull', '--json'], { env });
    if (requests > 0) await reached;
    const second = start(['pull', '--json'], { env });

    const [one, two] = await Promise.all([first.ended, second.ended]);

    expect([one.stderr, two.stderr]).toEqual([ONLY_PROGRESS, ONLY_PROGRESS]);
    expectSound(path);
    expectEqual(path, sandbox);
    for (const kind of KIND_NAMES) {
      const ends = [one, two].map((ended) => json(ended).kinds.find((report) => report.kind === kind));
      expect(ends.some((end) => end?.state === 'certified')).toBe(true);
      for (const end of ends)
        if (end?.state !== 'certified') expect(end).toMatchObject({ state: 'busy', reason: 'busy' });
    }
    expect([one.code, two.code]).toEqual([0, 0]); // Kinds that the other one reads are not fault.
    expect(ask(path, "select id from runs where state = 'running'")).toEqual([]);
    expect(ask(path, 'select kind from kind_state where owner is not null')).toEqual([]);
    expect(await run(['pull'], env)).toMatchObject({ code: 0 });
  },
);
