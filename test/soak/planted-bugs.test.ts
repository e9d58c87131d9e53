import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { PLANTED_BUGS as WRITE_BUGS } from '../outbound-simulation/planted-bugs.ts';
import { blankMirror } from '../simulation/blank-mirror.ts';
import { PLANTED_BUGS as READ_BUGS } from '../simulation/planted-bugs.ts';
import { soakPlan } from './plan.ts';
import { plant } from './planting.ts';
import { playSoak } from './play.ts';

const planted = await vi.hoisted(() => import('./planting.ts'));

vi.mock('../../src/diff/certify.ts', planted.withDoubles);
vi.mock('../../src/diff/plan-deletions.ts', planted.withDoubles);
vi.mock('../../src/outbound/attempt/grade.ts', planted.withDoubles);

const blank = blankMirror();

/** One day with little but what the bugs are about. */
const DAY = { days: 1, cron: '0 */2 * * *', creates: 5, updates: 0, peoplesActs: 10 };

test.each([
  // On lists of several pages that are swept every hour, every seed that was tried gives ten findings or more.
  ['P02', READ_BUGS, { ...DAY, churn: 2, rows: 40, cron: '0 * * * *' }, /false deletion/],
  ['P08', WRITE_BUGS, { ...DAY, churn: 0, creates: 15, writeFaults: ['dropped after'] }, /doubled/],
] as const)(
  'a day with the planted bug %s does not pass',
  { timeout: 300_000 },
  async (wanted, bugs, day, caught) => {
    plant(bugs.find(({ id }) => id === wanted)?.parts ?? {});
    const folder = mkdtempSync(join(tmpdir(), 'bms-sync-soak-'));
    const { findings } = await playSoak(
      { ...soakPlan(1, false), ...day },
      { session: await blank(), archiveFile: join(folder, 'events.jsonl') },
    ).finally(() => {
      plant({});
      rmSync(folder, { recursive: true, force: true });
    });
    process.stdout.write(`${wanted}: ${findings.length} findings, such as ${findings[0] ?? 'none'}\n`);
    expect(findings.join('\n')).toMatch(caught);
  },
);
