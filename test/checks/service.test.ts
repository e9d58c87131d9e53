import { expect, test } from 'vitest';
import { checkClock } from '../../src/checks/service.ts';

const NOON = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number): Date => new Date(NOON.getTime() + seconds * 1000);

test.each([
  { theirs: NOON, ours: after(60), ok: true, detail: /60 s ahead of the service/ },
  { theirs: NOON, ours: after(61), ok: false, detail: /61 s ahead/ },
  { theirs: NOON, ours: after(-61), ok: false, detail: /61 s behind the service/ },
  { theirs: null, ours: NOON, ok: true, detail: /no Date header/ },
])('a clock: $detail', ({ theirs, ours, ok, detail }) => {
  const check = checkClock(theirs, ours);
  expect(check).toMatchObject({ ok, code: ok ? null : 'clock.differs' });
  expect(check.detail).toMatch(detail);
});
