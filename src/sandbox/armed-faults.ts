import type { Deed, Fault } from './faults.ts';
import type { ServiceRequest } from './service.ts';

/** The faults that apply to one request. */
interface Misfortune {
  readonly latencyMs: number;
  readonly deed: Deed | null;
}

/** Faults with counts of the requests that they have let through and struck. */
interface ArmedFaults {
  strike(request: ServiceRequest): Misfortune;
}

interface Armed {
  readonly fault: Fault;
  toSkip: number;
  timesLeft: number;
}

/** Arms a list of faults: all latencies that match add up, and the first other match is done. */
export function armFaults(faults: readonly Fault[]): ArmedFaults {
  const armed: readonly Armed[] = faults.map((fault) => ({
    fault,
    toSkip: fault.skip ?? 0,
    timesLeft: fault.times ?? Infinity,
  }));
  return {
    strike: (request) => {
      let latencyMs = 0;
      let deed: Deed | null = null;
      for (const one of armed) {
        const { do: candidate } = one.fault;
        if ('latencyMs' in candidate) latencyMs += fires(one, request) ? candidate.latencyMs : 0;
        else if (deed === null && fires(one, request)) deed = candidate;
      }
      return { latencyMs, deed };
    },
  };
}

function fires(armed: Armed, request: ServiceRequest): boolean {
  if (!matches(armed.fault, request) || armed.timesLeft === 0) return false;
  if (armed.toSkip > 0) {
    armed.toSkip--;
    return false;
  }
  armed.timesLeft--;
  return true;
}

function matches({ on = {} }: Fault, request: ServiceRequest): boolean {
  return (
    (on.kind ?? request.kind.name) === request.kind.name &&
    (on.method ?? request.method).toUpperCase() === request.method &&
    (on.page === undefined || (request.operation === 'list' && on.page === request.page))
  );
}
