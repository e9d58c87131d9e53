import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { loadConfig, type ConfigInputs } from '../../src/config/load-config.ts';
import { UsageError } from '../../src/lib/sync-error.ts';

/** Writes a file into a folder of its own that goes when the test ends. */
export function tempFile(name: string, text: string | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), 'bms-config-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** What loadConfig says against settings; nothing where it takes them. */
export function complaint(inputs: Partial<ConfigInputs>): string {
  try {
    loadConfig({ env: {}, ...inputs });
    return '';
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

/** The error text of settings that must be refused. */
export function refusal(inputs: Partial<ConfigInputs>): string {
  const text = complaint(inputs);
  if (text === '') throw new Error('The settings were accepted.');
  return text;
}
