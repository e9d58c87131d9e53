import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REPLAYED } from '../outbound-simulation/play.ts';
import { blankMirror } from '../simulation/blank-mirror.ts';
import { grown, shown } from './figures.ts';
import { soakPlan } from './plan.ts';
import { playSoak } from './play.ts';
import type { Tally } from './tally.ts';

const IS_DEEP = process.env['BMS_TEST_DEEP'] !== undefined;
const SEED = Number(REPLAYED ?? 1);
const SIZE = IS_DEEP ? 'BMS_TEST_DEEP=1 ' : '';
const REPLAY = `replay: ${SIZE}BMS_SIM_SEED=${SEED} npx vitest run test/soak/soak.test.ts`;

const blank = blankMirror();

test(
  'day after day with all that can go wrong: nothing false, nothing lost, nothing doubled, and the memory stays flat',
  { timeout: 3_600_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bms-sync-soak-'));
    const traceFile = join(folder, 'trace.log');
    const trace = (line: string): void => {
      appendFileSync(traceFile, `${line}\n`);
    };
    const { days, findings, tally } = await playSoak(soakPlan(SEED, IS_DEEP), {
      session: await blank(),
      archiveFile: join(folder, 'events.jsonl'),
      ...(REPLAYED !== undefined && { trace }),
    }).catch((error: unknown) => {
      throw new Error(`seed ${SEED} ended in an error\n  ${REPLAY}`, { cause: error });
    });
    process.stdout.write(shown(days, tally));
    if (REPLAYED !== undefined) process.stdout.write(`everything that happened: ${traceFile}\n`);
    else rmSync(folder, { recursive: true, force: true });

    expect(findings.slice(0, 10), REPLAY).toEqual([]);
    expect(grown(days), REPLAY).toEqual([]);
    if (REPLAYED === undefined) expect(missing(tally), 'what did not happen').toEqual([]);
  },
);

const HAPPENS = [
  ...(['crashes', 'deadPulls', 'outages', 'storms', 'slowSpells', 'lies', 'bars', 'clockSteps'] as const),
  ...(['badReads', 'badWrites', 'adopted', 'resent', 'parked'] as const),
];

/** A soak that meets no trouble proves nothing. */
const missing = (tally: Tally): string[] => HAPPENS.filter((name) => tally[name] === 0);
