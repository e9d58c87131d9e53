import { z } from 'zod';
import { sendJsonText } from '../answer/json.ts';
import { descriptionOf } from '../openapi/describe-api.ts';
import type { Server } from '../server.ts';

/** Serves the description of this API. */
export function openapiRoute(app: Server): void {
  app.get(
    '/openapi.json',
    { schema: { summary: 'Describe this API', tags: ['Health'], response: { 200: z.looseObject({}) } } },
    (_request, reply) => sendJsonText(reply, descriptionOf(app)),
  );
}
