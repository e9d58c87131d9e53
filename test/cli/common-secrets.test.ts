import { expect, test } from 'vitest';
import { run } from '../support/command-line.ts';

test.each(['postgres', 'p'])(
  'a database password that is a common text destroys no message: %s',
  async (password) => {
    const messages = [];
    for (const value of [password, 'q7-Zk2xv-rare-9'])
      for (const json of [[], ['--json']]) {
        const env = { DATABASE_URL: `postgres://postgres:${value}@127.0.0.1:1/postgres` };
        const { code, stdout, stderr } = await run(['status', ...json], env);
        expect(code).toBe(1);
        expect(stderr).toContain('postgres://127.0.0.1');
        expect(stdout + stderr).not.toContain('[redacted]');
        expect(stdout + stderr).not.toContain(`:${value}@`);
        messages.push(stdout + stderr);
      }
    expect(messages.slice(0, 2)).toEqual(messages.slice(2));
  },
);
