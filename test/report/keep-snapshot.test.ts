import { describe, expect, test } from 'vitest';
import { isSnapshotDue } from '../../src/report/keep-snapshot.ts';

const at = (seconds: number): Date => new Date(Date.UTC(2026, 2, 1) + seconds * 1000);
const state = {
  ...{ sweptAt: at(100), takenOf: at(50), triedAt: at(50), startedAt: at(0) },
  ...{ isIdle: true, minSeconds: 60 },
};

describe('a snapshot is due', () => {
  test('after a sweep, once the last one is old enough', () => {
    expect(isSnapshotDue(state, at(109))).toBe(false);
    expect(isSnapshotDue(state, at(110))).toBe(true);
    expect(isSnapshotDue({ ...state, takenOf: null, triedAt: null }, at(101))).toBe(true);
  });

  test('not before a sweep, nor again without another one', () => {
    expect(isSnapshotDue({ ...state, sweptAt: null }, at(1000))).toBe(false);
    expect(isSnapshotDue({ ...state, takenOf: at(100) }, at(1000))).toBe(false);
  });

  test('not during a run, whose kinds belong together; but a run that never ends does not hold it up', () => {
    expect(isSnapshotDue({ ...state, isIdle: false }, at(169))).toBe(false);
    expect(isSnapshotDue({ ...state, isIdle: false }, at(170))).toBe(true);
    expect(isSnapshotDue({ ...state, isIdle: false, triedAt: null, takenOf: null }, at(119))).toBe(false);
    expect(isSnapshotDue({ ...state, isIdle: false, triedAt: null, takenOf: null }, at(120))).toBe(true);
  });
});
