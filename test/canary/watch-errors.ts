import { inspect } from 'node:util';
import { watch } from './watch.ts';

type ErrorClass = new (...args: never[]) => Error;

/** Where errors are kept back that are made at this moment; null = nobody keeps any back. */
let keptBack: Set<Error> | null = null;

/** The same class; every error is checked once it is complete: with its stack, its causes and all else on it. */
export function watchedErrors<C extends ErrorClass>(errors: C): C {
  return new Proxy(errors, {
    construct: (target, args, made) => {
      const error = Reflect.construct(target, args, made) as Error;
      handOn(error);
      return error;
    },
  });
}

/**
 * The same function, of whose errors only that one is looked at that comes out of it: it is there to keep those to
 * itself that quote an answer, and the answer may repeat the token.
 */
export function keepingErrors<Args extends unknown[], T>(work: (...args: Args) => T): (...args: Args) => T {
  return (...args) => {
    const outer = keptBack;
    const made = new Set<Error>();
    keptBack = made;
    let thrown: unknown;
    try {
      return work(...args);
    } catch (error) {
      thrown = error;
      throw error;
    } finally {
      keptBack = outer;
      if (thrown instanceof Error && made.has(thrown)) handOn(thrown);
    }
  };
}

function handOn(error: Error): void {
  if (keptBack !== null) keptBack.add(error);
  else
    queueMicrotask(() => {
      lookAtError(error);
    });
}

function lookAtError(error: Error): void {
  const code = 'code' in error ? String(error.code) : '';
  const what = (): string => `${error.name} ${code} (its message, stack, cause or what else is on it)`;
  const from = performance.now();
  const text = inspect(wholeOf(error), { depth: 6, maxStringLength: null, breakLength: Infinity });
  watch.tally.errors.ms += performance.now() - from;
  watch.look({ place: 'errors', what }, text.replaceAll('\\\\', '\\')); // Texts are quoted there.
}

/**
 * All that is on our error, but for its stack: to make a text of it takes a millisecond, and it consists of the
 * message, which is looked at, and of places in files. Those of foreign errors are looked at, as a cause.
 */
function wholeOf(error: Error): object {
  return { ...Object.fromEntries(Object.entries(error)), message: error.message, cause: error.cause };
}
