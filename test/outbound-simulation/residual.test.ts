import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { Session } from '../../src/mirror/session/session.ts';
import { blankMirror } from '../simulation/blank-mirror.ts';
import { check } from './checkers/check.ts';
import { madeBy } from './checkers/creates.ts';
import { range } from './play.ts';
import type { Recording } from './recording.ts';
import { runSchedule } from './run-schedule.ts';
import { scheduleOf } from './schedule.ts';
import type { Schedule } from './schedule.ts';

/*
 * What no client can prevent where the service has no idempotency keys: counted here, and told where it can be seen.
 */

const SEEDS = process.env['BMS_TEST_DEEP'] === undefined ? 60 : 2_000;

const blank = blankMirror();
const HOUR = 3_600_000;
const CALM: Partial<Schedule> = {
  ...{
    crashes: [],
    pauses: 0,
    peoplesActs: 0,
    lookAlikes: 0,
    equals: 0,
    barredSpells: 0,
    updates: 0,
    decides: false,
  },
  readFaults: { passing: 0, nonsense: 0 },
};

async function playAll(
  fixed: Partial<Schedule>,
  look: (recording: Recording, session: Session) => Promise<void> | void,
): Promise<void> {
  for (const seed of range(1, SEEDS)) {
    const session = await blank();
    await look(await runSchedule(scheduleOf(seed, fixed), { session }), session);
  }
}

test(
  'B20 D05 a request that arrives days late, or twice, doubles a record, and the twin alarm tells of it',
  {
    timeout: 600_000,
  },
  async () => {
    const counts = { doubled: 0, told: 0, parked: 0 };
    const fixed = {
      ...CALM,
      troubles: 0.7,
      faults: ['late', 'late', 'dropped before'] as const,
      latestCommitMs: 60 * HOUR,
    };
    await playAll(fixed, async (recording, session) => {
      const issues = await session.query(sql`select kind, detail from issues where code = 'twins'`);
      for (const one of recording.entries) {
        const made = madeBy(recording, one);
        if (made.length < 2) continue;
        counts.doubled++;
        const { state, recordId } = one.entry;
        const second = made.find((id) => id !== recordId) ?? '';
        if (state === 'parked') counts.parked++;
        else if (issues.some(({ detail }) => String(detail).includes(`"${second}"`))) counts.told++;
      }
      const others = check(recording).filter(({ checker }) => /lost|journal|stranger|one send/.test(checker));
      expect(others).toEqual([]);
    });
    process.stdout.write(`later than patience: ${JSON.stringify(counts)}\n`);
    expect(counts.doubled).toBeGreaterThan(0);
    expect(counts.told + counts.parked).toBe(counts.doubled);
  },
);

test(
  "D13 a person's identical record in the window may be taken for ours, and nothing is doubled by it",
  {
    timeout: 600_000,
  },
  async () => {
    const counts = { creates: 0, strangers: 0, parked: 0 };
    await playAll({ ...CALM, troubles: 0.4, strangers: 0.5, creates: 3 }, (recording) => {
      const findings = check(recording);
      counts.creates += recording.entries.length;
      counts.strangers += findings.filter(({ checker }) => checker === 'stranger').length;
      counts.parked += recording.entries.filter(({ entry }) => entry.state === 'parked').length;
      expect(findings.filter(({ checker }) => /doubled|journal|one send|unsettled/.test(checker))).toEqual(
        [],
      );
    });
    process.stdout.write(`identical records by people: ${JSON.stringify(counts)}\n`);
  },
);
