import { compactJson, isArray, isObject, parseJson, type Json } from '../src/lib/json/json.ts';
import { failure, jsonAnswer, type Answer } from './answer.ts';
import { withTextHabit, withoutFields, type FaultAction, type Fault } from './faults.ts';
import type { Serve, ServiceRequest } from './service.ts';

interface Armed {
  readonly fault: Fault;
  toSkip: number;
  timesLeft: number;
}

/**
 * Arms a list of faults, which count the requests that they have let through and struck. Of the ones that strike a request all
 * latencies add up, and the first other one is done.
 */
export function armFaults(faults: readonly Fault[]) {
  const armed = faults.map((fault): Armed => ({
    fault,
    toSkip: fault.skip ?? 0,
    timesLeft: fault.times ?? Infinity,
  }));
  return (request: ServiceRequest) => {
    let latencyMs = 0;
    let action: FaultAction | null = null;
    for (const one of armed) {
      const { do: candidate } = one.fault;
      if ('latencyMs' in candidate) latencyMs += shouldFire(one, request) ? candidate.latencyMs : 0;
      else if (action === null && shouldFire(one, request)) action = candidate;
    }
    return { latencyMs, action };
  };
}

function shouldFire(armed: Armed, request: ServiceRequest): boolean {
  const { on = {} } = armed.fault;
  const isNamed = [
    [on.kind, request.kind.name],
    [on.method?.toUpperCase(), request.method],
    [on.id, request.id],
  ].every(([named = null, actual]) => named === null || named === actual);
  const matches =
    isNamed && (on.page === undefined || (request.operation === 'list' && on.page === request.page));
  if (!matches || armed.timesLeft === 0) return false;
  if (armed.toSkip > 0) {
    armed.toSkip--;
    return false;
  }
  armed.timesLeft--;
  return true;
}

const LOGIN_PAGE =
  '<!DOCTYPE html><html lang="fr"><head><title>Connexion</title></head>' +
  '<body><form method="post" action="/login"><input name="email"><input name="password"></form></body></html>';

/** The service as a fault makes it: some faults answer instead of it, others change its requests or answers. */
export function applyFault(serve: Serve, action: FaultAction): Serve {
  if ('ignorePage' in action) return (request) => serve({ ...request, page: 1 });
  if ('clampPerPage' in action) return (request) => serve({ ...request, perPageAtMost: action.clampPerPage });
  if ('ignoreFields' in action) return (request) => serve(withoutFields(request, action.ignoreFields));
  if ('storesText' in action) return (request) => serve(withTextHabit(request, action.storesText));
  if ('commitAfterMs' in action || 'holdMs' in action) return serve;
  const bend = bendOf(action);
  return bend === null ? () => replacementAnswer(action) : (request) => bend(serve(request));
}

/** How a fault changes the answer of the service; null if it answers instead of it. */
function bendOf(action: FaultAction): ((answer: Answer) => Answer) | null {
  if ('statusAfter' in action) return () => statusAnswer({ ...action, status: action.statusAfter });
  if ('leavesOut' in action)
    return (answer) => ({ ...answer, body: withoutMembers(answer.body, action.leavesOut) });
  if ('cut' in action) return (answer) => ({ ...answer, body: answer.body.slice(0, action.cut) });
  if ('truncate' in action) return (answer) => ({ ...answer, arrives: { bytes: action.truncate } });
  return 'drop' in action && action.drop === 'after'
    ? (answer) => ({ ...answer, arrives: 'not at all' })
    : null;
}

/** The answer without members of its records, and of their nested rows: the blank ones, or the ones of these names. */
function withoutMembers(body: string, leftOut: 'blanks' | readonly string[]): string {
  const isKept = (name: string, value: Json): boolean =>
    leftOut === 'blanks'
      ? value !== null && value !== '' && !(isArray(value) && value.length === 0 && name !== 'data')
      : !leftOut.includes(name);
  const kept = (value: Json): Json => {
    if (isArray(value)) return value.map(kept);
    if (!isObject(value)) return value;
    const members = Object.entries(value).filter(([name, member]) => isKept(name, member));
    return Object.fromEntries(members.map(([name, member]) => [name, kept(member)]));
  };
  return compactJson(kept(parseJson(body)));
}

function replacementAnswer(action: FaultAction): Answer {
  if ('status' in action) return statusAnswer(action);
  if ('html' in action) return htmlAnswer(200, LOGIN_PAGE);
  if ('successFalse' in action) return failure(200, 'An error occurred.');
  if ('redirect' in action) return { ...htmlAnswer(302, ''), headers: { location: action.redirect } };
  if ('refuse' in action) return failure(403, 'This action is unauthorized.');
  return { ...jsonAnswer(200, null), arrives: 'not at all' };
}

function statusAnswer({
  status,
  retryAfter,
  body,
  location,
}: Extract<FaultAction, { status: number }>): Answer {
  const plain = failure(status, `Simulated status ${status}.`);
  const answer =
    body === undefined ? plain : body.startsWith('<') ? htmlAnswer(status, body) : { ...plain, body };
  const added = { ...(retryAfter && { 'retry-after': retryAfter }), ...(location && { location }) };
  return { ...answer, headers: { ...answer.headers, ...added } };
}

const htmlAnswer = (status: number, body: string): Answer => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body,
  arrives: 'whole',
});
