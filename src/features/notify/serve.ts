import { staleReader, type StartWork } from '../../app/scheduled-pulls.ts';
import { allKinds } from '../../config/known-kinds.ts';
import { hasLiveRole } from '../../store/runs/worker-store.ts';
import { startAlerts } from './alerts.ts';
import { startDigest } from './digest.ts';

/** Starts what is sent beside events: alerts, the digest. */
export const startNotifications: StartWork = (config, mirror, needsOfFeatures) => {
  const { session } = mirror;
  const { digestAt: at } = config.mail;
  const { timezone } = config.schedules;
  const alerts = startAlerts(mirror, config.alerts);
  if (at === null) return [alerts];
  const readStale = staleReader(config, mirror);
  const readOutlook = async () => {
    const isSending = await hasLiveRole(session, 'outbound');
    const more = await needsOfFeatures(session, allKinds(config), config);
    return { stale: await readStale(), isSending, more };
  };
  return [alerts, startDigest(mirror, { at, timezone }, readOutlook)];
};
