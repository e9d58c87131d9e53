import type { EndpointTest } from '../../feed/webhooks/endpoint-activity.ts';
import type { EndpointDocument, RevealedSecret } from '../../feed/webhooks/endpoints.ts';
import { printLine, textTable } from './io.ts';
import type { Output } from './io.ts';

/** Prints the receivers of events, with what to do about those that are disabled. */
export function printEndpoints(stdout: Output, endpoints: readonly EndpointDocument[]): void {
  if (endpoints.length === 0) {
    printLine(stdout, 'No webhook endpoints. To add one: bms-sync webhooks add URL --name NAME');
    return;
  }
  const header = [
    'name',
    'health',
    'url',
    'kinds',
    'changes',
    'fields',
    'up to seq',
    'waiting',
    'last taken (UTC)',
  ];
  const rows = endpoints.map((endpoint) => {
    const { name, health, url, cursor, pending, deliveredAt } = endpoint;
    const filter = [endpoint.kinds, endpoint.changes, endpoint.fields].map(listed);
    return [name, health, url, ...filter, cursor, pending, deliveredAt];
  });
  printLine(stdout, textTable(header, rows));
  for (const { name, disabledReason: reason, failingSince } of endpoints)
    if (reason !== null)
      printLine(
        stdout,
        `\n${name} is disabled (${reason}${failingSince === null ? '' : `, since ${failingSince} UTC`}): bms-sync webhooks replay ${name} --after SEQ activates it.`,
      );
}

const listed = (names: readonly string[] | null): string => names?.join(',') ?? 'all';

/** Prints a secret, which nothing shows again. */
export function printSecret(stdout: Output, { name, secret }: RevealedSecret): void {
  printLine(stdout, `The receiver ${name} verifies by this secret, which is not shown again:`);
  printLine(stdout, secret);
}

/** Says how a receiver took a test event. */
export function testText({ name, status, error, delivered, durationMs }: EndpointTest): string {
  const answer = status === null ? `gave no answer (${error ?? ''})` : `answered ${status}`;
  return `${name} ${answer} after ${durationMs} ms: the event ${delivered ? 'was taken' : 'was not taken'}.`;
}
