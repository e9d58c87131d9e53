import { z } from 'zod';
import { sendJsonText } from '../answer/json.ts';
import { readSeenNames } from '../../mirror/kinds/seen-names.ts';
import { fieldComponents } from '../openapi/change-body.ts';
import { descriptionOf } from '../openapi/describe-api.ts';
import type { RouteContext, Server } from '../server.ts';

/** Serves the description of this API, with the fields that the mirror knows by now. */
export function openapiRoute(app: Server, { session, kinds }: RouteContext): void {
  app.get(
    '/openapi.json',
    { schema: { summary: 'Describe this API', tags: ['Health'], response: { 200: z.looseObject({}) } } },
    async (_request, reply) => {
      const seen = await readSeenNames(
        session,
        kinds.map(({ name }) => name),
      );
      return sendJsonText(reply, descriptionOf(app, fieldComponents(kinds, seen)));
    },
  );
}
