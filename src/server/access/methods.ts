import type { HTTPMethods, RouteOptions } from 'fastify';
import type { Server } from '../server.ts';

/** Answers methods that a path does not have with 405; the router alone would answer 404. */
export function answerOtherMethods(app: Server): void {
  const all = app.supportedMethods as HTTPMethods[];
  const paths = new Map<string, string[]>();
  for (const { url, method } of app.routes) paths.set(url, [...(paths.get(url) ?? []), ...[method].flat()]);
  for (const [url, known] of paths) {
    const allow = known.join(', ');
    const method = all.filter((name) => !known.includes(name));
    const config: NonNullable<RouteOptions['config']> = { allow };
    if (method.length > 0)
      app.route({ ...{ method, url, config, schema: { hide: true } }, handler: (_, reply) => reply.send() });
  }
}
