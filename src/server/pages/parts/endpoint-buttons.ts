import { NOT_IN_SETTINGS } from '../../../mirror/webhooks/endpoint-store.ts';
import type { EndpointStanding } from '../../../mirror/webhooks/endpoint-store.ts';
import type { DecisionButton } from './decision-form.ts';

type Decided = Pick<EndpointStanding, 'name' | 'health' | 'disabledReason'>;

/** The decisions on an endpoint; none on one that the settings no longer name, because they decide. */
export function endpointButtons({ name, health, disabledReason }: Decided): readonly DecisionButton[] {
  if (disabledReason === NOT_IN_SETTINGS) return [];
  const about = `the endpoint ${name}`;
  const button = (label: string, decision: string): DecisionButton => ({
    ...{ label, about, address: `/webhooks/${name}/${decision}` },
  });
  if (health === 'healthy') return [button('Disable', 'disable')];
  const replay = button('Replay', 'replay');
  return health === 'disabled'
    ? [{ ...button('Enable', 'enable'), isMain: true }, replay]
    : [replay, button('Disable', 'disable')];
}

const REPLAY =
  'Replay: everything is sent again from the first event that it has not taken since its last success.';

/** The effects of decisions on an endpoint that takes no deliveries. */
export const endpointEffects = ({ health }: Decided): string =>
  health === 'disabled'
    ? `Enable: what waits is sent, and then the events since. ${REPLAY}`
    : `It is tried again by itself, and disabled if it takes nothing for days. ${REPLAY} Disable: nothing is sent to it.`;
