/** The bug that is planted in the modules of a test, and the doubles that carry it. */
interface Planting {
  /**
   * Plants these parts, each a function from the real part to its double; none takes them all out again.
   *
   * @throws {TypeError} Where no module with doubles has a function of that name: nothing would be planted.
   */
  readonly plant: (parts: object) => void;
  /** A factory for `vi.mock`: every function of the module asks at each call whether a double of it is planted. */
  readonly withDoubles: (load: () => Promise<Record<string, unknown>>) => Promise<Record<string, unknown>>;
}

/** Makes a planting; within `vi.hoisted`, as the modules are loaded by it. */
export function createPlanting(): Planting {
  let planted: Partial<Record<string, (real: unknown) => unknown>> = {};
  const known = new Set<string>();
  return {
    plant: (parts) => {
      const unknown = Object.keys(parts).filter((name) => !known.has(name));
      if (unknown.length > 0) throw new TypeError(`There is no ${unknown.join()} to plant a double of.`);
      planted = parts;
    },
    withDoubles: async (load) => {
      const real = await load();
      const parts = Object.entries(real).map(([name, part]) => {
        if (typeof part !== 'function' || /^[A-Z]/.test(name)) return [name, part];
        known.add(name);
        const call = (...args: unknown[]): unknown => {
          const double = planted[name];
          return ((double ? double(part) : part) as (...all: unknown[]) => unknown)(...args);
        };
        return [name, call];
      });
      return Object.fromEntries(parts) as Record<string, unknown>;
    },
  };
}
