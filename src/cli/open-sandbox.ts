import type { Sandbox, SandboxOptions } from '../sandbox/sandbox.ts';

/** Starts a sandbox; only the commands that need one load the HTTP server that it brings. */
export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  return startSandbox(options);
}
