import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Environment } from './environment.ts';

/** Adds the variables of a `.env` file, if there is one; the real environment wins. */
export function withEnvFile(env: Environment, path = '.env'): Environment {
  if (!existsSync(path)) return env;
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')); // Empty is unset.
  return { ...parseEnv(readFileSync(path, 'utf8')), ...set };
}
