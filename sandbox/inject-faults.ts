import { failure, jsonAnswer, type Answer } from './answer.ts';
import { textsAs, withoutFields, type Deed, type Fault } from './faults.ts';
import type { Serve, ServiceRequest } from './service.ts';

interface Armed {
  readonly fault: Fault;
  toSkip: number;
  timesLeft: number;
}

/**
 * Arms a list of faults, which count the requests that they have let through and struck. Of those that strike a request all
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
    let deed: Deed | null = null;
    for (const one of armed) {
      const { do: candidate } = one.fault;
      if ('latencyMs' in candidate) latencyMs += fires(one, request) ? candidate.latencyMs : 0;
      else if (deed === null && fires(one, request)) deed = candidate;
    }
    return { latencyMs, deed };
  };
}

function fires(armed: Armed, request: ServiceRequest): boolean {
  const { on = {} } = armed.fault;
  const isNamed = [
    [on.kind, request.kind.name],
    [on.method?.toUpperCase(), request.method],
    [on.id, request.id],
  ].every(([named = null, own]) => named === null || named === own);
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
export function withDeed(serve: Serve, deed: Deed): Serve {
  if ('ignorePage' in deed) return (request) => serve({ ...request, page: 1 });
  if ('clampPerPage' in deed) return (request) => serve({ ...request, perPageAtMost: deed.clampPerPage });
  if ('ignoreFields' in deed) return (request) => serve(withoutFields(request, deed.ignoreFields));
  if ('storesText' in deed) return (request) => serve(textsAs(request, deed.storesText));
  if ('commitAfterMs' in deed || 'holdMs' in deed) return serve;
  const after =
    (bend: (answer: Answer) => Answer): Serve =>
    (request) =>
      bend(serve(request));
  if ('statusAfter' in deed) return after(() => statusAnswer({ ...deed, status: deed.statusAfter }));
  if ('cut' in deed) return after((answer) => ({ ...answer, body: answer.body.slice(0, deed.cut) }));
  if ('truncate' in deed) return after((answer) => ({ ...answer, arrives: { bytes: deed.truncate } }));
  if ('drop' in deed && deed.drop === 'after')
    return after((answer) => ({ ...answer, arrives: 'not at all' }));
  return () => answerInstead(deed);
}

function answerInstead(deed: Deed): Answer {
  if ('status' in deed) return statusAnswer(deed);
  if ('html' in deed) return htmlAnswer(200, LOGIN_PAGE);
  if ('successFalse' in deed) return failure(200, 'An error occurred.');
  if ('redirect' in deed) return { ...htmlAnswer(302, ''), headers: { location: deed.redirect } };
  if ('refuse' in deed) return failure(403, 'This action is unauthorized.');
  return { ...jsonAnswer(200, null), arrives: 'not at all' };
}

function statusAnswer({ status, retryAfter, body, location }: Extract<Deed, { status: number }>): Answer {
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
