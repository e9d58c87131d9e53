import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshMirror } from '../support/temp-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

test.each(['exec', 'start'])(
  '`kill` ends a serve in the background, although npm %s passes the signal to a shell alone',
  async (by) => {
    const command = `'${process.execPath}' scripts/bms-sync.mjs serve --only outbound; :`;
    const settings = {
      DATABASE_URL: `file:${freshMirror()}`,
      BMS_BASE_URL: 'http://127.0.0.1:9',
      BMS_TOKEN: 'none',
    };
    const shell = spawn('sh', ['-c', command], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], npm_command: by, ...settings },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    for await (const chunk of shell.stderr) {
      log += String(chunk);
      if (log.includes('serve.started')) shell.kill('SIGTERM');
    }
    // The pipe is closed: whoever wrote to it has ended, and had finished its work.
    expect(log).toContain('serve.stopped');
  },
);
