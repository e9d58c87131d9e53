/** The bug that is planted at this moment: parts of the code under test, each made of the real one. */
const now: { parts: Readonly<Record<string, (real: unknown) => unknown>> } = { parts: {} };

export function plant(parts: object): void {
  now.parts = parts as typeof now.parts;
}

/** A module whose functions ask for their doubles each time they are called. */
export async function withDoubles(
  load: () => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const parts = Object.entries(await load()).map(([name, part]) => {
    if (typeof part !== 'function') return [name, part];
    const call = (...given: unknown[]): unknown => {
      const double = now.parts[name];
      return ((double ? double(part) : part) as (...all: unknown[]) => unknown)(...given);
    };
    return [name, call];
  });
  return Object.fromEntries(parts) as Record<string, unknown>;
}
