import { expect, test } from 'vitest';
import { logText } from '../../../src/lib/text/log-text.ts';
import { createLogger } from '../../../src/lib/log/logger.ts';
import type { Logger } from '../../../src/lib/log/logger.ts';
import { SyncError } from '../../../src/lib/sync-error.ts';

function textOf(write: (logger: Logger) => void): string {
  let text = '';
  write(
    createLogger({ level: 'debug', secrets: [], destination: { write: (line) => (text += logText(line)) } }),
  );
  return text.replace(/^\d\d:\d\d:\d\d/, 'TIME');
}

test('an outcome is its message', () => {
  const facts = { event: 'source.unreachable', since: '2026-01-01T14:03:10.000Z', failures: 1 };
  expect(
    textOf((logger) => {
      logger.warn(facts, 'the service is unreachable');
    }),
  ).toBe('TIME WARN the service is unreachable\n');
});

test('another line has its members, a hint in brackets, and its level unless that is info', () => {
  const write = (logger: Logger): void => {
    logger.info({ kind: 'clients', ids: [1], hint: 'see there' }, 'swept');
  };
  expect(textOf(write)).toBe('TIME swept kind=clients ids=[1] (see there)\n');
});

test('a bug has its stack, a fault only its message, and neither steers the terminal', () => {
  expect(
    textOf((logger) => {
      logger.error({ err: new Error('a bug\u001b[2J') }, 'failed');
    }),
  ).toMatch(/^TIME ERROR failed\n {2}Error: a bug�\[2J\n {6}at /);
  const fault = new SyncError('The mirror is away.', { code: 'mirror.unreachable' });
  expect(
    textOf((logger) => {
      logger.warn({ err: fault }, 'failed');
    }),
  ).toBe('TIME WARN failed\n  The mirror is away.\n');
});
