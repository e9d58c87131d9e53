import type { FastifyReply } from 'fastify';
import * as z from 'zod';
import { disableEndpoint, enableEndpoint, replayEvents } from '../../feed/webhooks/endpoint-activity.ts';
import { decideHeld } from '../../mirror/records/deletion-store.ts';
import { requestPull } from '../../mirror/runs/run-requests.ts';
import { abandonEntry, adoptRecord, retryEntry } from '../../outbound/decisions/decide.ts';
import { resumeSends } from '../../outbound/freeze.ts';
import { kindName, pulledKinds, recordId, requireKind, rowId } from '../fields.ts';
import { endpointParams } from '../routes/webhooks.ts';
import type { RouteContext, Server } from '../server.ts';
import type { Notice } from './parts/decisions.ts';

const back = z
  .string()
  .max(200)
  .regex(/^\/(?:[\w-]+(?:\/[\w-]+)*)?$/, 'expected the path of a page')
  .default('/')
  .describe('the page to return to');

const form = z.strictObject({ back }).nullable();
const adoption = z.strictObject({ back, recordId });
const pull = z.strictObject({ back, kind: z.string().max(100).optional() });

const config = { signsIn: true } as const;

/** The schema of a form that carries out a decision and returns to a page. */
const schema = <Body extends z.ZodType>(summary: string, body: Body) => ({
  ...{ summary, tags: ['Pages'], body },
  consumes: ['application/json', 'application/x-www-form-urlencoded'],
  response: { 303: z.null().describe('The way back to the page') },
});

const goBack = (reply: FastifyReply, path: string | undefined, done: Notice): FastifyReply =>
  reply.redirect(`${path ?? '/'}?done=${done}`, 303);

/** The forms of the dashboard: the decisions of the API, for a browser without a script. */
export function addDecisionForms(app: Server, context: RouteContext): void {
  deletionForms(app, context);
  entryForms(app, context);
  adoptionForm(app, context);
  resumeForm(app, context);
  endpointForms(app, context);
  pullForm(app, context);
}

function deletionForms(app: Server, { session, kinds, wakeEngine }: RouteContext): void {
  const params = z.strictObject({ kind: kindName(kinds) });
  const decisions = { approve: 'approved', reject: 'rejected' } as const;
  for (const [name, decision] of Object.entries(decisions))
    app.post(
      `/deletions/:kind/${name}`,
      { config, schema: { ...schema(`${name} held deletions by a form`, form), params } },
      async (request, reply) => {
        await decideHeld(session, requireKind(kinds, request.params.kind).name, decision);
        wakeEngine();
        return goBack(reply, request.body?.back, decision);
      },
    );
}

function entryForms(app: Server, { session, clock, wakeEngine }: RouteContext): void {
  const decisions = {
    retry: { work: retryEntry, notice: 'retried' },
    abandon: { work: abandonEntry, notice: 'abandoned' },
  } as const;
  for (const [name, { work, notice }] of Object.entries(decisions))
    app.post(
      `/outbox/:id/${name}`,
      { config, schema: { ...schema(`${name} an entry by a form`, form), params: rowId } },
      async (request, reply) => {
        const { id } = request.params;
        await work(session, id, clock.now());
        request.entryId = id;
        wakeEngine();
        return goBack(reply, request.body?.back, notice);
      },
    );
}

function adoptionForm(app: Server, { session, kinds, clock, wakeEngine }: RouteContext): void {
  app.post(
    '/outbox/:id/adopt',
    { config, schema: { ...schema('Give a create its record by a form', adoption), params: rowId } },
    async (request, reply) => {
      const { id } = request.params;
      await adoptRecord(session, { kinds, id, recordId: request.body.recordId, now: clock.now() });
      request.entryId = id;
      wakeEngine();
      return goBack(reply, request.body.back, 'adopted');
    },
  );
}

function resumeForm(app: Server, { session, sendMark, wakeEngine }: RouteContext): void {
  const about = { config, schema: schema('Let sends go on by a form', form) };
  app.post('/outbox/resume', about, async (request, reply) => {
    await resumeSends(session, (await sendMark.read()) ?? 0);
    wakeEngine();
    return goBack(reply, request.body?.back, 'resumed');
  });
}

function endpointForms(app: Server, { session, clock, wakeEngine }: RouteContext): void {
  const decisions = {
    enable: { work: enableEndpoint, notice: 'enabled' },
    disable: { work: disableEndpoint, notice: 'disabled' },
    replay: { work: replayEvents, notice: 'replayed' },
  } as const;
  for (const [name, { work, notice }] of Object.entries(decisions))
    app.post(
      `/webhooks/:name/${name}`,
      {
        config,
        schema: { ...schema(`${name} a receiver of events by a form`, form), params: endpointParams },
      },
      async (request, reply) => {
        await work(session, { name: request.params.name, after: null, now: clock.now() });
        wakeEngine();
        return goBack(reply, request.body?.back, notice);
      },
    );
}

function pullForm(app: Server, { session, kinds, clock, wakeEngine }: RouteContext): void {
  app.post('/pulls', { config, schema: schema('Ask for a pull by a form', pull) }, async (request, reply) => {
    const { kind } = request.body;
    const wanted = pulledKinds(kinds, kind === undefined ? [] : [kind]);
    await session.atomically((tx) =>
      requestPull(tx, { kinds: wanted, request: 'the dashboard', now: clock.now() }),
    );
    wakeEngine();
    return goBack(reply, request.body.back, 'requested');
  });
}
