import type { Logger } from '../lib/logger.ts';
import type { Server } from './server.ts';

/**
 * Logs answers. A change is logged at a higher level, with the way the caller was authenticated. Only the route of the URL is
 * logged, because the rest may hold anything.
 */
export function logRequests(app: Server, logger: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, caller, routeOptions } = request;
    const { statusCode: status, elapsedTime } = reply;
    const told = { method, route: routeOptions.url ?? null, status, caller, ms: Math.round(elapsedTime) };
    const isChange = !['GET', 'HEAD'].includes(method) && status < 400;
    if (isChange) logger.info({ ...told, target: request.params }, 'changed by HTTP');
    else logger.debug(told, 'answered');
    done();
  });
}
