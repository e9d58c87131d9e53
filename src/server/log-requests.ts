import type { Logger } from '../lib/logger.ts';
import type { Server } from './server.ts';

/** Logs what was answered; a change, and by what right, is told louder. Of the URL only the route: it may hold anything. */
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
