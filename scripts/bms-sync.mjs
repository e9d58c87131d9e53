#!/usr/bin/env node
/**
 * The package's command. npx in a checkout looks for it before anything is built, and never again, so it is no file of `dist/`: there it
 * builds what is missing or old.
 */
import { existsSync } from 'node:fs';

// npx and npm start a shell and pass signals to it alone. Once that shell has ended, `kill` was meant for this process.
if (['exec', 'start', 'run', 'run-script'].includes(process.env.npm_command)) {
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250).unref();
}

const runner = new URL('run.mjs', import.meta.url);
if (existsSync(runner)) {
  process.argv.splice(2, 0, 'dist/main.js');
  await import(runner.href);
} else await import('../dist/main.js');
