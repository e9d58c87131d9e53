import { expect, test } from 'vitest';
import type { Fault } from '../../src/sandbox/faults.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { kindIn, run, settingsFor } from '../support/command-line.ts';
import { ask, expectEqual, expectSound } from '../support/mirror-file.ts';
import { freshMirror } from '../support/temp-folder.ts';

const slow = (page: number, latencyMs: number): Fault => ({
  on: { kind: 'clients', page },
  do: { latencyMs },
});

test('answers that overtake one another never turn the counter of ticks back (E10)', async () => {
  const clamp: Fault = { do: { clampPerPage: 10 } };
  await using sandbox = await startSandbox({ size: 55, faults: [clamp] });
  const path = freshMirror();
  const env = settingsFor(sandbox, path);
  await run(['pull', 'clients'], env);

  sandbox.setFaults([clamp, slow(2, 150), slow(3, 100), slow(4, 50)]); // Page 5 is answered before them.
  expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });

  const [ticks] = ask(
    path,
    `select (select tick from kind_state where kind = 'clients') as tick,
            (select max(answered) from sightings where kind = 'clients') as answered`,
  );
  expect(ticks?.['tick']).toBeGreaterThanOrEqual(ticks?.['answered'] as bigint);

  sandbox.setFaults([clamp]);
  for (const id of sandbox.world.ids('clients'))
    sandbox.world.update('clients', id, { city: 'Nulle-Part-sur-Mer' });
  const next = await run(['pull', 'clients', '--json'], env);
  expect(next).toMatchObject({ code: 0, stderr: '' });
  expect(kindIn(next, 'clients')).toMatchObject({ updated: 55 });
  expectSound(path);
  await run(['pull'], env);
  expectEqual(path, sandbox);
});
