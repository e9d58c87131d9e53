import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes a folder that is gone when the test ends. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bms-sync-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** The path of a mirror that is not there yet, in a folder of its own. */
export function freshMirror(): string {
  return join(tempFolder(), 'mirror.db');
}
