import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogger, formatLogLine, type Logger } from '../../../src/lib/log/logger.ts';
import { SyncError } from '../../../src/lib/sync-error.ts';
import { isDistinctive, maskSecrets } from '../../../src/lib/text/mask-secrets.ts';
import { canary } from '../../support/canary.ts';

/** Runs `write` with a logger and returns the lines as written, each proved to be JSON. */
function linesOf(secrets: readonly string[], write: (log: Logger) => void): string {
  let lines = '';
  write(createLogger({ level: 'trace', secrets, destination: { write: (line) => (lines += line) } }));
  for (const line of lines.trimEnd().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
  return lines;
}

function errorWith(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { note: message });
}

const HIDING_PLACES: Record<string, (log: Logger, secret: string) => void> = {
  'the message': (log, secret) => {
    log.info(`token ${secret} refused`);
  },
  'a value put into the message': (log, secret) => {
    log.info('token %s %o %j', secret, { secret }, [secret]);
  },
  'a nested object': (log, secret) => {
    log.warn({ a: [{ b: { c: secret } }] }, 'nested');
  },
  'a name of a member': (log, secret) => {
    log.warn({ [secret]: { [secret]: 1 } }, 'named');
  },
  'the message and stack of an error': (log, secret) => {
    log.error(errorWith(`refused ${secret}`));
  },
  'the cause of an error': (log, secret) => {
    log.error({ err: errorWith('outer', errorWith(`inner ${secret}`)) }, 'failed');
  },
  'an AggregateError': (log, secret) => {
    log.error({ err: new AggregateError([errorWith(secret)], 'all failed') });
  },
  'an error under another name': (log, secret) => {
    log.error({ fault: errorWith(secret) });
  },
  'a URL': (log, secret) => {
    log.debug({ url: `https://user:${secret}@host/api?token=${secret}#${secret}` }, 'asked');
  },
  'a header': (log, secret) => {
    log.trace({ headers: { authorization: `Bearer ${secret}`, 'x-token': secret } });
  },
  'a child logger': (log, secret) => {
    log.child({ run: secret }).fatal('stopped');
  },
};
const places = Object.keys(HIDING_PLACES);

const secrets = fc
  .string({
    unit: fc.constantFrom(...Array.from('abcXYZ019-_.~+/=%$&é€😀')),
    minLength: 12,
    maxLength: 60,
  })
  .filter(isDistinctive);

describe.each(places)('a secret in %s', (place) => {
  test('appears in no line', () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const lines = linesOf([secret], (log) => HIDING_PLACES[place]?.(log, secret));
        expect(lines).not.toContain(secret);
        expect(lines).not.toContain(JSON.stringify(secret).slice(1, -1));
        expect(lines).toContain('[redacted]');
      }),
    );
  });
});

test.each(['\\sesame-1', 'sesame-1\\', '"sesame-1', 'sesame-1"', 'se"sa\\me\n1'])(
  'the secret %j leaves every line readable JSON',
  (secret) => {
    for (const hide of Object.values(HIDING_PLACES)) {
      const lines = linesOf([secret], (log) => {
        hide(log, secret);
      });
      expect(lines).not.toContain(JSON.stringify(secret).slice(1, -1));
    }
  },
);

test('a secret is found in the spelling of a URL too', () => {
  const secret = 'p@ss/w+rd=very:long?';
  const lines = linesOf([secret], (log) => {
    log.info(`asked https://user:${encodeURIComponent(secret)}@host/`);
  });
  expect(lines).not.toContain(encodeURIComponent(secret));
});

test('of two secrets, one the start of the other, nothing stays readable', () => {
  const mask = maskSecrets(['tok-1234', 'tok-1234-and-the-rest']);
  expect(mask('tok-1234-and-the-rest tok-1234')).toBe('[redacted] [redacted]');
});

test.each(['Authentication', 'Authorization', 'Authentification'])(
  'the header %s is blanked by its name',
  (name) => {
    const lines = linesOf([], (log) => {
      log.info({ [name]: 'Bearer one' });
      log.info({ request: { [name]: 'Bearer two' } });
      log.info({ headers: { [name]: 'Bearer three' } });
      log.info({ headers: { [name.toLowerCase()]: 'Bearer four' } });
    });
    expect(lines).not.toContain('Bearer');
  },
);

test('a line has its time, level and message', () => {
  const line = linesOf(['sesame-sesame'], (log) => {
    log.info({ kind: 'clients' }, 'swept');
    log.debug('more');
  }).split('\n')[0];
  expect(JSON.parse(line ?? '')).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
    kind: 'clients',
    msg: 'swept',
  });
});

test('lines below the level are not written', () => {
  const written: string[] = [];
  const log = createLogger({
    level: 'warn',
    secrets: [],
    destination: { write: (line) => written.push(line) },
  });
  log.info('quiet');
  log.warn('loud');
  expect(written).toHaveLength(1);
});

test('no line steers a terminal, and each says what was logged', () => {
  const steering = '\u001b[2J\u009b31m\u202e\u2066\u2028\u2029\u0085\u007f\r\n{"level":50}';
  const lines = linesOf([], (log) => {
    log.warn({ [steering]: steering, err: new Error(steering) }, `got ${steering}`);
  });
  expect(lines.trimEnd()).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
  expect(JSON.parse(lines)).toMatchObject({ [steering]: steering, msg: `got ${steering}` });
});

test('an error has its stack only if it is a bug', () => {
  const lines = linesOf([], (log) => {
    log.warn({ err: new SyncError('The mirror is away.', { code: 'mirror.unreachable' }) }, 'failed');
    log.warn({ err: new TypeError('a bug') }, 'failed');
  });
  const [fault, bug] = lines.split('\n').map((line) => (line === '' ? {} : (JSON.parse(line) as object)));
  expect(fault).toMatchObject({ err: { type: 'SyncError', code: 'mirror.unreachable' } });
  expect(fault).not.toHaveProperty('err.stack');
  expect(bug).toMatchObject({ err: { stack: expect.stringContaining('    at ') as string } });
});

test('J08 what hangs on an error is not logged, nor on its cause: it may be the command with the password', () => {
  const inner = Object.assign(new Error('WRONGPASS'), { command: { name: 'auth', args: [canary('')] } });
  const error = Object.assign(new Error('no', { cause: inner }), { command: { args: [canary('')] } });
  const lines = linesOf([], (log) => {
    log.warn({ err: error }, 'failed');
  });
  expect(lines).not.toContain(canary(''));
  expect(lines).toContain('WRONGPASS');
});

function textOf(write: (logger: Logger) => void): string {
  let text = '';
  write(
    createLogger({
      level: 'debug',
      secrets: [],
      destination: { write: (line) => (text += formatLogLine(line)) },
    }),
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
