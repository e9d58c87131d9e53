import { expect, test } from 'vitest';
import type { Beat } from '../../src/jobs/bell.ts';
import { STEADY, feelPulse } from '../../src/jobs/heartbeat.ts';

/** The cures that these beats come to, one after the other. */
function cures(beats: readonly Beat[]): readonly string[] {
  let pulse = STEADY;
  return beats.map((beat) => {
    const felt = feelPulse(pulse, beat);
    pulse = felt.pulse;
    return felt.cure;
  });
}

const times = (count: number, beat: Beat): Beat[] => Array<Beat>(count).fill(beat);

test('three beats that are lost ask for a new worker, three more end it', () => {
  expect(cures(times(6, 'lost'))).toEqual(['none', 'none', 'restart', 'none', 'none', 'give up']);
});

test('a beat that is heard forgets those before it', () => {
  expect(cures([...times(5, 'lost'), 'heard', ...times(5, 'lost')])).not.toContain('give up');
});

test('a bell that cannot be reached is tried anew again and again, and never given up', () => {
  expect(cures(times(100, 'unsent')).filter((cure) => cure === 'restart')).toHaveLength(33);
  expect(cures(times(100, 'unsent'))).not.toContain('give up');
});

test('beats that wait behind full hands say nothing', () => {
  expect(new Set(cures(times(100, 'busy')))).toEqual(new Set(['none']));
});

test('an outage in between does not save a bell that brings nothing', () => {
  expect(cures([...times(3, 'lost'), 'unsent', ...times(3, 'lost')]).at(-1)).toBe('give up');
});
